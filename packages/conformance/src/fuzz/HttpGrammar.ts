/**
 * The grammar of HTTP requests: messages with the headers that go with them, faults of the transport, and the ways in
 * which bytes come over a wire.
 *
 * @since 0.2.0
 */
import type { Draw } from "./Draw.ts"
import type { Expected } from "./Expected.ts"
import * as MessageGrammar from "./MessageGrammar.ts"

const { Found } = MessageGrammar

/**
 * One request as bytes, and what is to come back.
 *
 * **Details**
 *
 * `complete`: one response with `httpStatus`, whose body is as `expected`. `leaves`: the client goes away in the
 * middle. `rubbish`: bytes that HTTP may refuse in its own way; if there are responses, they are well-formed.
 *
 * @category models
 * @since 0.2.0
 */
export interface HttpInput {
  readonly _tag: "complete" | "leaves" | "rubbish"
  readonly bytes: Uint8Array
  /** Where the bytes are cut into packets; a pause follows some of them. */
  readonly cuts: ReadonlyArray<number>
  readonly isSlow: boolean
  readonly httpStatus: number
  readonly expected: Expected
}

/** The largest body that the target reads, in bytes. */
export const maxBodyBytes = 32 * 1024

const blanks = ["", " ", "\n", "\r\n", "\t"] as const

type Headers = Array<readonly [name: string, value: string]>

/** A request before it is written down. */
interface Draft {
  path: string
  verb: string
  headers: Headers
  httpStatus: number
  expected: Expected
  found: number
}

const statusOf = (expected: Expected): number => {
  switch (expected._tag) {
    case "Silence":
      return 202
    case "Error":
      return expected.httpStatus
    case "Result":
      return 200
  }
}

const silence: Expected = { _tag: "Silence" }

const refusal = (httpStatus: number): Expected => ({ _tag: "Error", code: -32600, httpStatus, id: null })

const mismatch = (id: MessageGrammar.Drafted["id"]): Expected => ({ _tag: "Error", code: -32020, httpStatus: 400, id })

/** A value for Mcp-Name as headers can carry it, or in the base64 form where it cannot, and sometimes where it can. */
const encoded = (draw: Draw, value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith("=?base64?") && !draw.oneIn(5)
    ? value
    : sentinel(value)

const sentinel = (value: string): string => `=?base64?${Buffer.from(value).toString("base64")}?=`

const drop = (headers: Headers, name: string): Headers => headers.filter(([it]) => it !== name)

const replace = (headers: Headers, name: string, value: string): Headers => [...drop(headers, name), [name, value]]

/** One thing that may be wrong with a request, and how early it is found. */
interface Fault {
  readonly found: number
  readonly httpStatus?: number
  readonly apply: (draft: Draft, message: MessageGrammar.Drafted) => void
}

const header = (found: number, change: (headers: Headers, message: MessageGrammar.Drafted) => Headers): Fault => ({
  found,
  apply: (draft, message) => {
    draft.headers = change(draft.headers, message)
  }
})

const request = (found: number, httpStatus: number, change: Partial<Draft>): Fault => ({
  found,
  httpStatus,
  apply: (draft) => {
    Object.assign(draft, change)
  }
})

const version = "MCP-Protocol-Version"
const method = "Mcp-Method"
const name = "Mcp-Name"

const faults: readonly [Fault, ...ReadonlyArray<Fault>] = [
  header(Found.versionHeader, (headers) => drop(headers, version)),
  header(Found.versionHeader, (headers) => replace(headers, version, "2024-11-05")),
  header(Found.methodHeader, (headers) => drop(headers, method)),
  header(Found.methodHeader, (headers) => replace(headers, method, "Tools/Call")),
  header(Found.methodHeader, (headers) => [...headers, [method, "tools/list"]]),
  header(Found.nameHeader, (headers) => drop(headers, name)),
  header(Found.nameHeader, (headers, message) => replace(headers, name, sentinel(`${message.name}x`))),
  header(Found.nameHeader, (headers) => replace(headers, name, "=?base64?!!!?=")),
  { ...header(Found.type, (headers) => replace(headers, "Content-Type", "text/plain")), httpStatus: 415 },
  { ...header(Found.type, (headers) => drop(headers, "Content-Type")), httpStatus: 415 },
  { ...header(Found.coding, (headers) => [...headers, ["Content-Encoding", "gzip"]]), httpStatus: 415 },
  { ...header(Found.origin, (headers) => [...headers, ["Origin", "http://evil.example"]]), httpStatus: 403 },
  { ...header(Found.origin, (headers) => [...headers, ["Origin", "null"]]), httpStatus: 403 },
  { ...header(Found.host, (headers) => replace(headers, "Host", "evil.example")), httpStatus: 403 },
  request(Found.verb, 405, { verb: "DELETE" }),
  request(Found.verb, 405, { verb: "PUT" }),
  request(Found.path, 404, { path: "/mcp/more" })
]

/** Faults of Mcp headers are none where the message has a fault that is found earlier, or has no such header. */
const isMirror = ({ found }: Fault): boolean => found >= Found.versionHeader

const applyFault = (draft: Draft, message: MessageGrammar.Drafted, fault: Fault): void => {
  if (fault.found === Found.nameHeader && message.name === undefined) return
  fault.apply(draft, message)
  if (fault.found >= draft.found) return
  draft.found = fault.found
  // Another path is not ours to answer in words.
  draft.expected = fault.found === Found.path ? silence
    : isMirror(fault) ? mismatch(message.id)
    : refusal(fault.httpStatus ?? 400)
  draft.httpStatus = fault.httpStatus ?? 400
}

const otherCase = (draw: Draw, text: string): string =>
  draw.pick([text, text, text.toLowerCase(), text.toUpperCase()])

const written = (draw: Draw, { headers, path, verb }: Draft, body: Uint8Array): Uint8Array => {
  const isChunked = draw.oneIn(3)
  const length: Headers = isChunked ? [["Transfer-Encoding", "chunked"]] : [["Content-Length", String(body.length)]]
  const lines = draw.shuffle([...headers, ...length]).map(([name, value]) => {
    const around = draw.oneIn(8) ? [" \t", " "] : [" ", ""]
    return `${otherCase(draw, name)}:${around[0]}${value}${around[1]}\r\n`
  })
  const head = Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1")
  return new Uint8Array(Buffer.concat([head, isChunked ? chunked(draw, body) : body]))
}

const chunked = (draw: Draw, body: Uint8Array): Buffer => {
  const offsets = [0, ...draw.cuts(body.length), body.length]
  const chunks = offsets.slice(1).flatMap((end, index) => {
    const chunk = body.subarray(offsets[index], end)
    if (chunk.length === 0) return []
    const extension = draw.oneIn(10) ? ";a=b" : ""
    return [Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk, Buffer.from("\r\n")]
  })
  return Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")])
}

/**
 * Draws a request for a server on a port.
 *
 * @category constructors
 * @since 0.2.0
 */
export const draw = (draw: Draw, id: string | number, port: number): HttpInput => {
  const message = MessageGrammar.draw(draw, { id, blanks, maxBytes: maxBodyBytes })
  const mirrored: Headers = message.name === undefined ? [] : [[name, encoded(draw, message.name)]]
  const extra: Headers = draw.oneIn(5) ? [["Mcp-Session-Id", "one"], ["Last-Event-ID", "2"]] : []
  const draft: Draft = {
    path: "/mcp",
    verb: "POST",
    headers: [
      ["Host", draw.pick([`127.0.0.1:${port}`, "localhost", "[::1]:80"])],
      ["Content-Type", draw.pick(["application/json", "application/json; charset=utf-8", "Application/JSON"])],
      ["Accept", draw.pick(["application/json, text/event-stream", "text/event-stream,application/json;q=0.9"])],
      [version, message.version],
      [method, message.method],
      ...mirrored,
      ...extra
    ],
    found: message.found,
    expected: message.expected,
    httpStatus: statusOf(message.expected)
  }
  if (draw.oneIn(8)) applyFault(draft, message, draw.pick(faults))
  if (draw.oneIn(16)) applyFault(draft, message, draw.pick(faults))
  const bytes = written(draw, draft, message.body)
  const kind = draw.below(60)
  if (kind === 0) return leaving(draw, bytes)
  if (kind === 1) return rubbish(draw, bytes)
  if (kind === 2 && draw.oneIn(50)) return stalling(draw, port)
  const { expected, httpStatus } = draft
  return { _tag: "complete", bytes, cuts: draw.cuts(bytes.length), isSlow: draw.oneIn(50), httpStatus, expected }
}

const leaving = (draw: Draw, bytes: Uint8Array): HttpInput => ({
  _tag: "leaves",
  bytes: bytes.subarray(0, draw.below(bytes.length + 1)),
  cuts: draw.cuts(bytes.length),
  isSlow: false,
  httpStatus: 0,
  expected: silence
})

/** A request whose body does not arrive: it is refused once the time for it has run out. */
const stalling = (draw: Draw, port: number): HttpInput => {
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`
  const body = draw.pick([
    "Content-Length: 9\r\n\r\n{",
    "Content-Length: 9\r\n\r\n",
    "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
  ])
  const bytes = new TextEncoder().encode(head + body)
  return { _tag: "complete", bytes, cuts: [], isSlow: false, httpStatus: 408, expected: refusal(408) }
}

/** The request with some of its bytes changed, or bytes that never were one. */
const rubbish = (draw: Draw, bytes: Uint8Array): HttpInput => {
  const changed = draw.oneIn(3)
    ? Uint8Array.from({ length: draw.below(300) }, () => draw.below(256))
    : Uint8Array.from(bytes)
  for (let count = draw.below(8); count > 0 && changed.length > 0; count--) {
    changed[draw.below(changed.length)] = draw.below(256)
  }
  const cuts = draw.cuts(changed.length)
  return { _tag: "rubbish", bytes: changed, cuts, isSlow: false, httpStatus: 0, expected: silence }
}
