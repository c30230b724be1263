/**
 * A server that can do to a client whatever servers, proxies and networks do: it answers each request as the test has
 * scripted it, at the level of HTTP, and writes down what it was sent and when.
 *
 * It runs on the test's clock and needs no socket. `layer` stands in for the HTTP client.
 */
import { McpProtocol } from "@effect-mcp-tasks/core"
import { Clock, Effect, Layer, Schema, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"

/** A request as it arrived. `at` is in milliseconds of the test's clock; header names are in lower case. */
export interface Seen {
  readonly id: string | number
  readonly method: string
  readonly params: Schema.JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly at: number
}

/** What is done with a request. */
export type Reply =
  | { readonly _tag: "Message"; readonly message: Schema.JsonObject; readonly status: number }
  | { readonly _tag: "Http"; readonly status: number; readonly body: string; readonly headers: Record<string, string> }
  | { readonly _tag: "Events"; readonly chunks: Stream.Stream<string, Error> }
  | { readonly _tag: "Reset" }
  | { readonly _tag: "Silence" }
  | { readonly _tag: "After"; readonly ms: number; readonly reply: Reply }
  | { readonly _tag: "By"; readonly choose: (request: Seen) => Reply | Effect.Effect<Reply> }

/** A result. */
export const result = (fields: Schema.JsonObject): Reply => ({
  _tag: "Message",
  message: { result: fields },
  status: 200
})

/** A complete result: what an acknowledgement is too. */
export const complete = (fields: Schema.JsonObject = {}): Reply => result({ resultType: "complete", ...fields })

/** A JSON-RPC error. */
export const error = (code: number, message: string, more: { data?: Schema.Json; status?: number } = {}): Reply => ({
  _tag: "Message",
  message: { error: { code, message, ...(more.data === undefined ? {} : { data: more.data }) } },
  status: more.status ?? 200
})

/** An HTTP response of any kind. */
export const http = (
  status: number,
  body = "",
  headers: Record<string, string> = { "content-type": "text/html" }
): Reply => ({ _tag: "Http", status, body, headers })

/** The page of a proxy, or of a captive portal, in the place of an answer. */
export const html: Reply = http(200, "<html><body>Sign in to Wi-Fi</body></html>")

/** JSON that was cut off, as complete as HTTP is concerned. */
export const truncated: Reply = http(200, `{"jsonrpc":"2.0","id":1,"res`, { "content-type": "application/json" })

/** The connection is reset before there is an answer. */
export const reset: Reply = { _tag: "Reset" }

/** There is never an answer. */
export const silence: Reply = { _tag: "Silence" }

/** An answer that takes its time. */
export const after = (ms: number, reply: Reply): Reply => ({ _tag: "After", ms, reply })

/** An answer that depends on the request. */
export const by = (choose: (request: Seen) => Reply | Effect.Effect<Reply>): Reply => ({ _tag: "By", choose })

/** A stream of server-sent events, given as the text of its chunks; an error breaks the connection. */
export const events = (chunks: Stream.Stream<string, Error>): Reply => ({ _tag: "Events", chunks })

/** One event with a message. */
export const event = (message: Schema.JsonObject): string =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`

/** A connection that breaks in the middle of an event stream. */
export const dropped: Reply = events(
  Stream.concat(Stream.succeed(": hello\n\ndata: {\"json"), Stream.fail(new Error("gone")))
)

/** The fields of a task, with what is given in place of the usual. */
export const task = (fields: Schema.JsonObject = {}): Schema.JsonObject => ({
  taskId: "t1",
  status: "working",
  createdAt: "2026-07-28T10:00:00.000Z",
  lastUpdatedAt: "2026-07-28T10:00:00.000Z",
  ttlMs: 3_600_000,
  pollIntervalMs: 1000,
  ...fields
})

/** The answer to `tools/call` that makes a task. */
export const created = (fields: Schema.JsonObject = {}): Reply => result({ resultType: "task", ...task(fields) })

/** The answer to `tasks/get`. */
export const got = (fields: Schema.JsonObject = {}): Reply => complete(task(fields))

/** A task that is done, with a text. */
export const done = (text: string, fields: Schema.JsonObject = {}): Reply =>
  got({
    status: "completed",
    lastUpdatedAt: "2026-07-28T10:30:00.000Z",
    result: { resultType: "complete", content: [{ type: "text", text }] },
    ...fields
  })

/** A question with a form of one yes or no. */
export const form = (message: string): Schema.JsonObject => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }
  }
})

/** A task that asks. */
export const asking = (keys: ReadonlyArray<string>, fields: Schema.JsonObject = {}): Reply =>
  got({
    status: "input_required",
    lastUpdatedAt: "2026-07-28T10:10:00.000Z",
    inputRequests: Object.fromEntries(keys.map((key) => [key, form(key)])),
    ...fields
  })

/** The tool that the server lists unless the script says otherwise. */
export const tool: Schema.JsonObject = { name: "work", inputSchema: { type: "object" } }

const usual: Readonly<Record<string, Reply>> = {
  "server/discover": complete({
    supportedVersions: [McpProtocol.ProtocolVersion],
    capabilities: { tools: {}, extensions: { [McpProtocol.TasksExtension]: {} } },
    ttlMs: 60_000,
    _meta: { [McpProtocol.MetaKey.serverInfo]: { name: "hostile", version: "1" } }
  }),
  "tools/list": complete({ tools: [tool], ttlMs: 3_600_000 }),
  "tasks/update": complete(),
  "tasks/cancel": complete(),
  "subscriptions/listen": error(-32601, "Method not found", { status: 404 })
}

/** What the server does for each method, one reply after the other; the last one stands for all that follow. */
export type Script = Readonly<Record<string, ReadonlyArray<Reply>>>

/** The server. */
export interface HostileServer {
  /** Every request, in the order in which they arrived. */
  readonly seen: ReadonlyArray<Seen>
  readonly of: (method: string) => ReadonlyArray<Seen>
  /** The ids of the requests that were withdrawn before they were answered to the end. */
  readonly withdrawn: ReadonlyArray<string | number>
  readonly layer: Layer.Layer<HttpClient.HttpClient>
}

const Body = Schema.fromJsonString(Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.Union([Schema.String, Schema.Int]),
  method: Schema.String,
  params: Schema.JsonObject
}))

const notFound = error(-32601, "Method not found", { status: 404 })

/** Makes a server that follows a script. */
export const make = (script: Script): HostileServer => {
  const seen: Array<Seen> = []
  const withdrawn: Array<string | number> = []
  const counts = new Map<string, number>()

  const next = (method: string): Reply => {
    const replies = script[method] ?? [usual[method] ?? notFound]
    const count = counts.get(method) ?? 0
    counts.set(method, count + 1)
    return replies[Math.min(count, replies.length - 1)] ?? notFound
  }

  const respond = (reply: Reply, request: Seen): Effect.Effect<Response | undefined> => {
    switch (reply._tag) {
      case "Message": {
        const { message, status } = reply
        const body = JSON.stringify({ jsonrpc: "2.0", id: request.id, ...message })
        return Effect.succeed(new Response(body, { status, headers: { "content-type": "application/json" } }))
      }
      case "Http":
        return Effect.succeed(new Response(reply.body, { status: reply.status, headers: reply.headers }))
      case "Events": {
        // On the test's clock, which a stream of the platform would not know of.
        return Effect.map(Stream.toReadableStreamEffect(Stream.encodeText(reply.chunks)), (body) =>
          new Response(body, { headers: { "content-type": "text/event-stream" } }))
      }
      case "Reset":
        return Effect.undefined
      case "Silence":
        return Effect.never
      case "After":
        return Effect.delay(respond(reply.reply, request), reply.ms)
      case "By": {
        const chosen = reply.choose(request)
        return Effect.isEffect(chosen)
          ? Effect.flatMap(chosen, (actual) => respond(actual, request))
          : respond(chosen, request)
      }
    }
  }

  const client = HttpClient.make((request) =>
    Effect.gen(function*() {
      const { body } = request
      const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
      const { id, method, params } = yield* Effect.orDie(Schema.decodeEffect(Body)(text))
      const at = yield* Clock.currentTimeMillis
      const arrived: Seen = { id, method, params, headers: { ...request.headers }, at }
      seen.push(arrived)
      const response = yield* Effect.onInterrupt(respond(next(method), arrived), () =>
        Effect.sync(() => withdrawn.push(id)))
      if (response !== undefined) return HttpClientResponse.fromWeb(request, response)
      const reason = new HttpClientError.TransportError({ request, description: "ECONNRESET" })
      return yield* new HttpClientError.HttpClientError({ reason })
    })
  )
  return {
    seen,
    of: (method) => seen.filter((request) => request.method === method),
    withdrawn,
    layer: Layer.succeed(HttpClient.HttpClient, client)
  }
}
