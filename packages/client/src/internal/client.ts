/**
 * The client, put together.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as InputHandler from "../InputHandler.ts"
import type { CallOptions, Options, TaskClient, TaskOptions } from "../TaskClient.ts"
import type { InputRefused, RequestError, ToolResult } from "../TaskClientError.ts"
import * as asking from "./asking.ts"
import * as calls from "./calls.ts"
import * as parts from "./parts.ts"
import * as tasks from "./tasks.ts"

/** The requests besides `tools/call` whose server may ask first (basic/patterns/mrtr, "Supported Requests"). */
const askable: ReadonlySet<string> = new Set(["prompts/get", "resources/read"])

/**
 * Makes the client.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const own = yield* parts.make(options)
  const { rpc, server, store } = own
  const scope = yield* Effect.scope
  const caller = calls.make(own, scope)

  const request = <E = never, R = never>(
    method: string,
    params: Schema.JsonObject = {},
    { onInput }: { readonly onInput?: InputHandler.InputHandler<E, R> | undefined } = {}
  ): Effect.Effect<Schema.JsonObject, RequestError | InputRefused | E, R> => {
    const handler: InputHandler.InputHandler<E | InputRefused, R> = onInput ?? InputHandler.none
    const { capabilities } = handler
    if (!askable.has(method)) return rpc.once({ method, params, capabilities })
    return asking.converse({ method, server, tool: undefined, handler, restore: (effect) => effect }, (added) =>
      rpc.once({ method, params: { ...params, ...added }, capabilities, accepts: ["input_required"] }))
  }

  const service: TaskClient["Service"] = {
    discover: own.discovered,
    tools: Effect.map(own.tools.tools, (tools) => tools.map(({ definition }) => definition)),
    call: <A = ToolResult, R = never, E = never, R2 = never>(
      tool: string,
      args: Schema.JsonObject = {},
      options: CallOptions<A, R, E, R2> = {}
    ) => Effect.withSpan(caller.call({ tool, args, options }), "TaskClient.call", { attributes: { tool } }),
    start: <A = ToolResult, R = never, E = never, R2 = never>(
      tool: string,
      args: Schema.JsonObject = {},
      options: CallOptions<A, R, E, R2> = {}
    ) => Effect.withSpan(caller.start({ tool, args, options }), "TaskClient.start", { attributes: { tool } }),
    resume: <A = ToolResult, R = never, E = never, R2 = never>(
      taskId: string,
      options: TaskOptions<A, R, E, R2> = {}
    ) => Effect.withSpan(tasks.resume(own, taskId, options), "TaskClient.resume", { attributes: { taskId } }),
    open: store === undefined
      ? Effect.succeed([])
      : Effect.map(store.list(server), (open) => open.map(({ taskId }) => taskId)),
    get: (taskId) => Effect.withSpan(tasks.get(own, taskId), "TaskClient.get", { attributes: { taskId } }),
    update: (taskId, responses) =>
      rpc.repeated({ method: "tasks/update", params: { taskId, inputResponses: responses }, taskId }).pipe(
        Effect.asVoid,
        Effect.withSpan("TaskClient.update", { attributes: { taskId } })
      ),
    cancel: (taskId) =>
      rpc.repeated({ method: "tasks/cancel", params: { taskId }, taskId }).pipe(
        Effect.asVoid,
        Effect.withSpan("TaskClient.cancel", { attributes: { taskId } })
      ),
    request: (method, params, options) =>
      Effect.withSpan(request(method, params, options), "TaskClient.request", { attributes: { method } })
  }
  return service
})
