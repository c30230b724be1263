/**
 * One server behind each transport, asked in the same way: a duty that holds everywhere is tried on all of them.
 *
 * Every answer is read by the official schemas of the extension as well, so no test sees a task that they refuse.
 */
import { Embedded, TaskLimits, TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { Authentication, Dispatcher, HttpTransport, RateLimits, TokenVerifier } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  UpdateTaskResultV2Schema
} from "@modelcontextprotocol/ext-tasks/core/v2"
import { Context, Effect, Layer, Logger, Redacted, Schema, type Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Agent, createServer, request } from "node:http"
import * as DutyTools from "./DutyTools.ts"

export const revision = "2026-07-28"

const extension = "io.modelcontextprotocol/tasks"

/** The capabilities of a client that knows tasks and can be asked. */
export const everything = { extensions: { [extension]: {} }, elicitation: {} }

const issuer = "https://issuer.example"

/** The owner that a transport knows by a name. */
export const owner = (subject: string): TaskOwner.TaskOwner => TaskOwner.principal({ issuer, subject })

/** An answer as it came. */
export interface Raw {
  /** None where the transport has no status. */
  readonly status: number | undefined
  /** What differs from answer to answer, such as `date`, is left out. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** How a text is sent. */
export interface Sending {
  /** Whose request it is; Ada's unless said otherwise. */
  readonly as?: string
  /** Headers instead of those that fit the body, where the transport has any; `undefined` leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Sends it over a connection of its own, where there are connections. */
  readonly apart?: boolean
}

/** How a request is sent. */
export interface Asking extends Sending {
  readonly id?: Schema.Json
  readonly capabilities?: Schema.Json
  /** What `_meta` holds besides or instead. */
  readonly meta?: Schema.JsonObject
}

const Answer = Schema.fromJsonString(Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.Union([Schema.String, Schema.Int, Schema.Null]),
  result: Schema.optionalKey(Schema.JsonObject),
  error: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    message: Schema.NonEmptyString,
    data: Schema.optionalKey(Schema.Json)
  }))
}))

/** A JSON-RPC response, with how it came. */
export type Answered = typeof Answer.Type & Raw

/** Reads an answer as one JSON-RPC response: a result or an error, and not both. */
export const read = (raw: Raw): Answered => {
  const answer = Schema.decodeSync(Answer)(raw.text)
  assert.strictEqual((answer.result === undefined) !== (answer.error === undefined), true, raw.text)
  return { ...answer, ...raw }
}

/** The text of a request. */
export const message = (method: string, params: Schema.JsonObject = {}, asking: Asking = {}): string => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": asking.capabilities ?? everything,
    ...asking.meta
  }
  return JSON.stringify({ jsonrpc: "2.0", id: asking.id ?? 1, method, params: { ...params, _meta } })
}

type Send = (body: string, sending?: Sending) => Effect.Effect<Raw>

const services = (options: Options) =>
  Dispatcher.layer({ name: "duties", version: "1.2.3", instructions: "Do your duty" }).pipe(
    Layer.provideMerge(Embedded.layer),
    Layer.provide(DutyTools.layer),
    Layer.provideMerge(TaskStore.layerMemory),
    Layer.provide([TaskLimits.layer(options.limits ?? {}), RateLimits.layer(options.rates ?? {}), Logger.layer([])])
  )

/** How the server of a test differs from the usual one. */
export interface Options {
  readonly limits?: Partial<TaskLimits.Limits>
  readonly rates?: RateLimits.Rates
}

const memory = Effect.fnUntraced(function*(options: Options) {
  const context = yield* Layer.build(Layer.fresh(services(options)))
  const { handle } = Context.get(context, Dispatcher.Dispatcher)
  const send: Send = (body, { as = "ada" } = {}) =>
    handle({ headers: undefined, body }).pipe(
      Effect.flatMap(Dispatcher.finalReply),
      Effect.map((reply): Raw => ({ status: undefined, headers: {}, text: reply.body ?? "" })),
      Effect.provideService(TaskOwner.CurrentOwner, owner(as)),
      Effect.provideContext(context)
    )
  return { send, store: Context.get(context, TaskStore.TaskStore) }
})

/** Takes the subject itself for a token. */
const verifier = TokenVerifier.layer((token) =>
  Effect.succeed({ owner: owner(Redacted.value(token)), scopes: [] }))

const resource = "https://mcp.example/mcp"

const endpoint = HttpTransport.layer().pipe(
  Layer.provide(Authentication.layer({ resource, authorizationServers: [issuer] })),
  Layer.provide(verifier)
)

const http = Effect.fnUntraced(function*(options: Options) {
  const context = yield* Layer.build(Layer.fresh(
    HttpRouter.serve(endpoint, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(services(options)),
      Layer.provideMerge(NodeHttpServer.layer(createServer, {
        host: "127.0.0.1",
        port: 0,
        disablePreemptiveShutdown: true
      }))
    )
  ))
  const { address } = Context.get(context, HttpServer.HttpServer)
  const url = `${HttpServer.formatAddress(address)}/mcp`
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const send: Send = (body, sending = {}) => post({ url, agent: sending.apart !== true && agent }, body, sending)
  return { send, store: Context.get(context, TaskStore.TaskStore) }
})

const NamedRequest = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  params: Schema.optionalKey(Schema.Struct({
    name: Schema.optionalKey(Schema.Unknown),
    taskId: Schema.optionalKey(Schema.Unknown)
  }))
}))

/** The headers that fit a body, as far as it is a request. */
const fitting = (body: string): Record<string, string> => {
  const read = Schema.decodeOption(NamedRequest)(body)
  if (read._tag === "None") return {}
  const { method, params } = read.value
  const name = method === "tools/call" ? params?.name : method.startsWith("tasks/") ? params?.taskId : undefined
  return {
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": encoded(name) } : {})
  }
}

const encoded = (name: string): string =>
  /^[\x21-\x7e]*$/.test(name) ? name : `=?base64?${Buffer.from(name).toString("base64")}?=`

/** What a proxy or Node itself adds to an answer, and what no client could tell anything by. */
const incidental = new Set(["date", "connection", "keep-alive"])

const post = (
  { agent, url }: { readonly url: string; readonly agent: Agent | false },
  body: string,
  { as = "ada", headers = {} }: Sending
): Effect.Effect<Raw> =>
  Effect.callback<Raw>((resume) => {
    const all: Readonly<Record<string, string | undefined>> = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      authorization: `Bearer ${as}`,
      ...fitting(body),
      ...headers
    }
    const given = Object.fromEntries(
      Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined)
    )
    const outgoing = request(url, { method: "POST", agent, headers: given }, (incoming) => {
      const received: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => received.push(chunk))
      incoming.on("end", () => {
        const lasting = Object.entries(incoming.headers).filter(([name]) => !incidental.has(name))
        const text = Buffer.concat(received).toString("utf8")
        resume(Effect.succeed({ status: incoming.statusCode, headers: Object.fromEntries(lasting), text }))
      })
    })
    outgoing.on("error", (cause) => resume(Effect.die(cause)))
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })

const transports = { http, memory }

/** The ways to reach a server. */
export type Transport = keyof typeof transports

const Created = Schema.Struct({ resultType: Schema.Literal("task"), taskId: Schema.String })

/** Whatever speaks of a task is read by the official schema of its method. */
const check = (method: string, result: Schema.JsonObject) => {
  if (result["resultType"] === "task") CreateTaskResultV2Schema.parse(result)
  if (method === "tasks/get") GetTaskResultV2Schema.parse(result)
  if (method === "tasks/update") UpdateTaskResultV2Schema.parse(result)
  if (method === "tasks/cancel") CancelTaskResultV2Schema.parse(result)
}

/** Starts a server behind a transport for as long as the test. */
const start = Effect.fnUntraced(function*(transport: Transport, options: Options) {
  const { send, store } = yield* transports[transport](options)
  const ask = (method: string, params?: Schema.JsonObject, asking: Asking = {}) =>
    Effect.map(send(message(method, params, asking), asking), (raw) => {
      const answer = read(raw)
      if (answer.result !== undefined) check(method, answer.result)
      return answer
    })
  const call = (tool: string, args: Schema.JsonObject, asking?: Asking) =>
    ask("tools/call", { name: tool, arguments: args }, asking)
  /** Calls `job`, which becomes a task, and gives back its id. */
  const create = Effect.fnUntraced(function*(text: string, asking?: Asking) {
    const { result } = yield* call("job", { text }, asking)
    yield* settle
    return (yield* Effect.orDie(Schema.decodeUnknownEffect(Created)(result))).taskId
  })
  /** A task as its owner sees it. */
  const get = (taskId: string, asking?: Asking) =>
    Effect.map(ask("tasks/get", { taskId }, asking), ({ result, text }) => {
      assert.isDefined(result, text)
      return result ?? {}
    })
  return { transport, send, ask, call, create, get, store }
})

/** A server, and the ways to ask it. */
export type Server = Effect.Success<ReturnType<typeof start>>

/** Lets every fiber that can go on do so. */
export const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

/** Registers a test: its title cites the duties that it proves. */
type Test = (
  title: string,
  run: (server: Server) => Effect.Effect<void, unknown, Scope.Scope>,
  options?: Options
) => void

/** Registers tests on each transport; on one only, where a duty is bound to it. */
export const everywhere = (register: (test: Test) => void, on: ReadonlyArray<Transport> = ["http", "memory"]) => {
  for (const transport of on) {
    describe(transport, () => {
      register((title, run, options = {}) => it.effect(title, () => Effect.flatMap(start(transport, options), run)))
    })
  }
}

/** Whether a status is as wanted, where the transport has one. */
export const hasStatus = ({ status, text }: Raw, wanted: number) => {
  if (status !== undefined) assert.strictEqual(status, wanted, text)
}

/** Expects an error with a code, and with a status where the transport has one. */
export const isError = (answer: Answered, code: number, status: number) => {
  assert.strictEqual(answer.error?.code, code, answer.text)
  hasStatus(answer, status)
}
