/**
 * Calls to whichever replica is up. A call that gets no answer has said nothing: it may have been heard.
 *
 * @since 0.2.0
 */
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A task as its client sees it.
 *
 * @category schemas
 * @since 0.2.0
 */
export const View = Schema.Struct({
  taskId: Schema.String,
  status: Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"]),
  inputRequests: Schema.optionalKey(Schema.JsonObject),
  result: Schema.optionalKey(Schema.Struct({ content: Schema.Array(Schema.Struct({ text: Schema.String })) })),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})

/**
 * A task as its client sees it.
 *
 * @category models
 * @since 0.2.0
 */
export type View = typeof View.Type

/**
 * There was no answer, or one that says that the server could not do it now.
 *
 * @category errors
 * @since 0.2.0
 */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { cause: Schema.Defect() }) {}

/**
 * The server says that there is no such task.
 *
 * @category errors
 * @since 0.2.0
 */
export class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}

const Body = Schema.Struct({
  result: Schema.optionalKey(Schema.JsonObject),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})

const capabilities = { elicitation: {}, extensions: { [McpProtocol.TasksExtension]: {} } }

/**
 * How long an answer is waited for: two seconds, unless said otherwise.
 *
 * @category services
 * @since 0.2.0
 */
export const Patience = Context.Reference<Duration.Input>("@effect-mcp-tasks/conformance/campaign/Client/Patience", {
  defaultValue: () => "2 seconds"
})

const patiently = <A>(asking: Effect.Effect<A, NoAnswer>) =>
  Effect.flatMap(Patience, (duration) =>
    Effect.timeoutOrElse(asking, { duration, orElse: () => Effect.fail(new NoAnswer({ cause: "timeout" })) }))

const post = (url: string, method: string, params: Readonly<Record<string, unknown>>) =>
  Effect.tryPromise({
    try: async (signal) => {
      const _meta = {
        [McpProtocol.MetaKey.protocolVersion]: McpProtocol.ProtocolVersion,
        [McpProtocol.MetaKey.clientCapabilities]: capabilities
      }
      const response = await fetch(url, {
        method: "POST",
        signal,
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-protocol-version": McpProtocol.ProtocolVersion,
          "mcp-method": method,
          "mcp-name": String(params["name"] ?? params["taskId"])
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } })
      })
      return await response.json()
    },
    catch: (cause) => new NoAnswer({ cause })
  }).pipe(
    patiently,
    Effect.flatMap((body) =>
      Effect.mapError(Schema.decodeUnknownEffect(Body)(body), (cause) => new NoAnswer({ cause }))
    ),
    Effect.flatMap(({ error, result }) => {
      if (result !== undefined) return Effect.succeed(result)
      return Effect.fail(error?.code === -32602 ? new Gone() : new NoAnswer({ cause: error }))
    })
  )

const view = (result: Schema.JsonObject) =>
  Effect.mapError(Schema.decodeUnknownEffect(View)(result), (cause) => new NoAnswer({ cause }))

/**
 * Makes a task of a call.
 *
 * @category calls
 * @since 0.2.0
 */
export const create = (url: string, name: string) =>
  Effect.flatMap(post(url, "tools/call", { name, arguments: {} }), view)

/**
 * Reads a task.
 *
 * @category calls
 * @since 0.2.0
 */
export const get = (url: string, taskId: string) => Effect.flatMap(post(url, "tasks/get", { taskId }), view)

/**
 * Answers the questions of a task, all in the same way.
 *
 * @category calls
 * @since 0.2.0
 */
export const answer = (url: string, { inputRequests = {}, taskId }: View, text: string) =>
  post(url, "tasks/update", {
    taskId,
    inputResponses: Object.fromEntries(
      Object.keys(inputRequests).map((key) => [key, { action: "accept", content: { answer: text } }])
    )
  })

/**
 * Asks a task to stop.
 *
 * @category calls
 * @since 0.2.0
 */
export const cancel = (url: string, taskId: string) => post(url, "tasks/cancel", { taskId })
