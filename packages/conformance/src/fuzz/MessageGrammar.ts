/**
 * The grammar of messages: sound ones of every method, and ones with faults, each with what it is to be answered.
 *
 * A message is put together in the order opposite to the one in which a server looks at it, and every fault says how
 * early it is found. So of several faults the earliest decides, which is the order of refusals that is tested.
 *
 * @since 0.2.0
 */
import type { Draw } from "./Draw.ts"
import type { Expected, Id } from "./Expected.ts"

/**
 * How early a fault is found: the lowest number first.
 *
 * @category models
 * @since 0.2.0
 */
export const Found = {
  path: 0,
  host: 1,
  origin: 2,
  verb: 3,
  type: 4,
  coding: 5,
  size: 6,
  utf8: 7,
  json: 8,
  envelope: 9,
  notification: 10,
  meta: 11,
  versionHeader: 12,
  version: 13,
  methodHeader: 14,
  nameHeader: 15,
  method: 16,
  capability: 17,
  params: 18,
  never: 19
} as const

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** What is to be answered, and how early that is decided. */
interface Decided {
  readonly expected: Expected
  readonly found: number
}

/**
 * A message ready to be sent, before what a transport adds.
 *
 * @category models
 * @since 0.2.0
 */
export interface Drafted extends Decided {
  readonly body: Uint8Array
  readonly id: Id
  /** What headers are to mirror. */
  readonly method: string
  readonly name: string | undefined
  readonly version: string
}

const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} }

/** A sound request but for its params, with what it is answered. */
interface Base {
  readonly method: string
  readonly params: { readonly [key: string]: Json }
  readonly nameParam?: "name" | "taskId"
  readonly needsTasks?: boolean
  /** The token is the request's id, so that it tells whose progress it is. */
  readonly wantsProgress?: boolean
  /** An error that its params earn; a result without one. */
  readonly code?: number
  readonly precededBy?: ReadonlyArray<string>
  readonly says?: string
  readonly or?: number
}

const tooMany = -32603

const acknowledged = "notifications/subscriptions/acknowledged"

const bases: readonly [(draw: Draw) => Base, ...ReadonlyArray<(draw: Draw) => Base>] = [
  () => ({ method: "server/discover", params: {}, says: "supportedVersions" }),
  () => ({ method: "tools/list", params: {}, says: "inputSchema" }),
  (draw) => ({ method: "tools/list", params: { cursor: draw.text(5) }, code: -32602 }),
  (draw) => {
    const text = draw.text(20)
    const params = { name: "echo", arguments: { text } }
    return { method: "tools/call", nameParam: "name", params, says: JSON.stringify(text) }
  },
  () => ({
    method: "tools/call",
    nameParam: "name",
    params: { name: "echo", arguments: { text: "reports" } },
    wantsProgress: true,
    precededBy: ["notifications/progress", "notifications/progress"],
    says: "reports"
  }),
  (draw) => ({
    method: "tools/call",
    nameParam: "name",
    params: { name: "echo", arguments: draw.pick<Json>([{}, { text: 1 }, { text: null }, { other: [] }]) },
    says: "isError"
  }),
  (draw) => ({
    method: "tools/call",
    nameParam: "name",
    params: { name: "echo", arguments: draw.pick<Json>([null, [], "text", 1, true]) },
    code: -32602
  }),
  (draw) => ({
    method: "tools/call",
    nameParam: "name",
    params: { name: draw.pick(["absent", "__proto__", "ECHO", draw.text(10)]), arguments: {} },
    code: -32602
  }),
  (draw) => ({
    method: "tools/call",
    params: draw.pick<{ readonly [key: string]: Json }>([{}, { name: 1 }, { name: null }, { name: ["echo"] }]),
    code: -32602
  }),
  () => ({ method: "tools/call", nameParam: "name", params: { name: "fail", arguments: {} }, code: 4050 }),
  (draw) => ({
    method: "tools/call",
    nameParam: "name",
    params: { name: "job", arguments: { ask: draw.oneIn(4) } },
    says: "taskId",
    or: tooMany
  }),
  ...["tasks/get", "tasks/update", "tasks/cancel"].map((method) => (draw: Draw): Base => ({
    method,
    nameParam: "taskId",
    params: { taskId: draw.pick(["unknown", "", "__proto__", draw.text(40)]), inputResponses: {} },
    needsTasks: true,
    code: -32602
  })),
  (draw) => ({
    method: draw.pick(["tasks/get", "tasks/update", "tasks/cancel"]),
    params: draw.pick<{ readonly [key: string]: Json }>([{}, { taskId: 1 }, { taskId: null }, { taskId: {} }]),
    needsTasks: true,
    code: -32602
  }),
  (draw) => ({
    method: "subscriptions/listen",
    params: {
      notifications: draw.pick<Json>([{}, { promptsListChanged: true }, { toolsListChanged: draw.oneIn(2) }])
    },
    precededBy: [acknowledged],
    says: "subscriptionId"
  }),
  (draw) => ({
    method: "subscriptions/listen",
    params: { notifications: { taskIds: draw.pick<Json>([[], ["unknown"], ["a", "a"], [draw.text(9)]]) } },
    needsTasks: true,
    precededBy: [acknowledged],
    says: "subscriptionId"
  }),
  (draw) => ({
    method: "subscriptions/listen",
    params: draw.pick<{ readonly [key: string]: Json }>([{}, { notifications: null }, { notifications: [] }]),
    code: -32602
  }),
  (draw) => ({
    method: "subscriptions/listen",
    params: { notifications: { taskIds: draw.pick<Json>([null, "id", {}, [1], [["id"]]]) } },
    needsTasks: true,
    code: -32602
  })
]

const version = "2026-07-28"

type Draft = { [key: string]: Json }

const error = (code: number, httpStatus: number, id: Id): Expected => ({ _tag: "Error", code, httpStatus, id })

/** Faults of `_meta`, each of which a sound one does not have. */
const metaFaults: readonly [(meta: Draft) => Json | undefined, ...ReadonlyArray<(meta: Draft) => Json | undefined>] = [
  () => undefined,
  () => null,
  () => [],
  () => "meta",
  ({ "io.modelcontextprotocol/protocolVersion": _, ...meta }) => meta,
  (meta) => ({ ...meta, "io.modelcontextprotocol/protocolVersion": 20260728 }),
  ({ "io.modelcontextprotocol/clientCapabilities": _, ...meta }) => meta,
  (meta) => ({ ...meta, "io.modelcontextprotocol/clientCapabilities": null }),
  (meta) => ({ ...meta, "io.modelcontextprotocol/clientCapabilities": [] }),
  (meta) => ({ ...meta, "io.modelcontextprotocol/clientInfo": "me" }),
  (meta) => ({ ...meta, progressToken: null }),
  (meta) => ({ ...meta, progressToken: 1.5 }),
  (meta) => ({ ...meta, "io.modelcontextprotocol/logLevel": "loud" })
]

/** Faults of the envelope: what is sent instead, and whether its id can still be read. */
const envelopeFaults: readonly [
  (message: Draft) => readonly [message: Json, isReadable: boolean],
  ...ReadonlyArray<(message: Draft) => readonly [message: Json, isReadable: boolean]>
] = [
  ({ jsonrpc: _, ...message }) => [message, true],
  (message) => [{ ...message, jsonrpc: "1.0" }, true],
  (message) => [{ ...message, jsonrpc: 2 }, true],
  (message) => [{ ...message, id: null }, false],
  (message) => [{ ...message, id: {} }, false],
  (message) => [{ ...message, id: true }, false],
  (message) => [{ ...message, id: 1.5 }, false],
  (message) => [{ ...message, id: 2 ** 53 }, false],
  (message) => [{ ...message, method: 7 }, true],
  ({ method: _, ...message }) => [message, true],
  (message) => [{ ...message, params: [] }, true],
  (message) => [{ ...message, params: "params" }, true],
  (message) => [{ ...message, params: null }, true],
  (message) => [[message], false],
  () => [[], false],
  () => [null, false],
  () => [42, false],
  () => ["text", false],
  ({ id = 1 }) => [{ jsonrpc: "2.0", id, result: {} }, false],
  ({ id = 1 }) => [{ jsonrpc: "2.0", id, error: { code: 1, message: "no" } }, false]
]

/** Text that is no JSON any more. */
const textFaults: readonly [(text: string) => string, ...ReadonlyArray<(text: string) => string>] = [
  (text) => text.slice(0, -1),
  (text) => text.slice(0, Math.floor(text.length / 2)),
  (text) => `${text}}`,
  (text) => `${text}{}`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll("\"", "'"),
  () => "undefined",
  () => "NaN",
  () => "{,}",
  () => "\u0000"
]

/** Other text for the same JSON: blanks, escapes, members twice. */
const disguised = (draw: Draw, json: Json, blanks: readonly [string, ...ReadonlyArray<string>]): string => {
  const blank = () => draw.oneIn(4) ? draw.pick(blanks) : ""
  const written = (value: Json): string => {
    if (typeof value === "string") {
      const text = JSON.stringify(value)
      return draw.oneIn(8) && !text.includes("\\") ? text.replace(/[a-z]/, escaped) : text
    }
    if (typeof value !== "object" || value === null) return JSON.stringify(value)
    if (isList(value)) return `[${value.map((item) => `${blank()}${written(item)}${blank()}`).join(",")}]`
    const members = draw.shuffle(Object.entries(value)).flatMap(([key, member]) => {
      const text = `${blank()}${JSON.stringify(key)}${blank()}:${blank()}${written(member)}${blank()}`
      return draw.oneIn(40) ? [`${JSON.stringify(key)}:null`, text] : [text]
    })
    return `{${members.join(",")}}`
  }
  return `${blank()}${written(json)}${blank()}`
}

const escaped = (letter: string): string => `\\u00${letter.charCodeAt(0).toString(16)}`

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const utf8 = new TextEncoder()

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat(parts))

/**
 * How the transport writes messages down, and the id of the next one.
 *
 * @category models
 * @since 0.2.0
 */
export interface Writing {
  readonly id: string | number
  /** What may stand between tokens. */
  readonly blanks: readonly [string, ...ReadonlyArray<string>]
  readonly maxBytes: number
}

/**
 * Draws a message.
 *
 * @category constructors
 * @since 0.2.0
 */
export const draw = (draw: Draw, { blanks, id, maxBytes }: Writing): Drafted => {
  const base = draw.pick(bases)(draw)
  const request = drawRequest(draw, base, id)
  let { decided } = request
  const decide = (found: number, expected: Expected) => {
    if (found < decided.found) decided = { found, expected }
  }
  let message: Json = request.message
  const isNotification = draw.oneIn(20)
  if (isNotification) {
    const { id: _, ...notification } = request.message
    message = notification
    decide(Found.notification, { _tag: "Silence" })
  }
  if (draw.oneIn(12)) {
    const [faulty, isReadable] = draw.pick(envelopeFaults)(isList(message) ? {} : { ...Object(message) })
    message = faulty
    decide(Found.envelope, error(-32600, 400, isReadable && !isNotification ? id : null))
  }
  let text = disguised(draw, message, blanks)
  if (draw.oneIn(15)) {
    const faulty = draw.pick(textFaults)(text)
    if (!isJson(faulty)) {
      text = faulty
      decide(Found.json, error(-32700, 400, null))
    }
  } else if (draw.oneIn(40)) {
    const depth = 129 + draw.below(1_000)
    text = draw.pick([`${"[".repeat(depth)}${"]".repeat(depth)}`, `{"a":`.repeat(depth), `${"[".repeat(depth)}`])
    decide(Found.json, error(-32600, 400, null))
  }
  let body: Uint8Array = utf8.encode(text)
  if (draw.oneIn(30)) {
    const at = draw.below(body.length + 1)
    body = joined(body.subarray(0, at), Uint8Array.of(draw.pick([0xff, 0xc0, 0xfe])), body.subarray(at))
    decide(Found.utf8, error(-32700, 400, null))
  }
  if (draw.oneIn(60)) {
    const missing = Math.max(0, maxBytes - body.length)
    body = joined(body, utf8.encode(" ".repeat(missing + 1 + draw.below(1_000))))
    decide(Found.size, error(-32600, 413, null))
  }
  return { ...decided, body, id, method: request.method, name: request.name, version: request.version }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A request with or without faults that are found once its envelope has been read. */
const drawRequest = (draw: Draw, base: Base, id: string | number) => {
  let decided: Decided = base.code === undefined
    ? { found: Found.never, expected: result(base, id) }
    : { found: Found.params, expected: error(base.code, 200, id) }
  const decide = (found: number, expected: Expected) => {
    if (found < decided.found) decided = { found, expected }
  }
  const declaresTasks = !draw.oneIn(10)
  if (base.needsTasks === true && !declaresTasks) decide(Found.capability, error(-32021, 400, id))
  const isUnknown = draw.oneIn(15)
  const method = isUnknown
    ? draw.pick(["tasks/list", "tasks/result", "initialize", "ping", "__proto__", "", `no/${draw.below(99)}`])
    : base.method
  if (isUnknown) decide(Found.method, error(-32601, 404, id))
  const spoken = draw.oneIn(20) ? draw.pick(["2025-11-25", "1", "2026-07-29"]) : version
  if (spoken !== version) decide(Found.version, error(-32022, 400, id))
  const meta: Draft = {
    "io.modelcontextprotocol/protocolVersion": spoken,
    "io.modelcontextprotocol/clientCapabilities": declaresTasks ? tasks : {},
    ...(base.wantsProgress === true ? { progressToken: id } : {})
  }
  let _meta: Json | undefined = meta
  if (draw.oneIn(15)) {
    _meta = draw.pick(metaFaults)(meta)
    decide(Found.meta, error(-32602, 400, id))
  }
  const extra = draw.oneIn(10) ? { task: { ttl: 1 }, __more: [draw.text(5)] } : {}
  const params: Draft = { ...base.params, ...extra, ...(_meta === undefined ? {} : { _meta }) }
  const message: Draft = { jsonrpc: "2.0", id, method, params }
  const named = !isUnknown && base.nameParam !== undefined ? base.params[base.nameParam] : undefined
  return { message, method, name: typeof named === "string" ? named : undefined, version: spoken, decided }
}

const result = ({ or, precededBy, says }: Base, id: string | number): Expected => ({
  _tag: "Result",
  id,
  ...(precededBy === undefined ? {} : { precededBy }),
  ...(says === undefined ? {} : { says }),
  ...(or === undefined ? {} : { or })
})
