/**
 * Listening for a task's notifications: one `subscriptions/listen` stream, opened again whenever it breaks.
 *
 * It only ever adds to the polling beneath it. A server that does not offer it, or does not agree to the task, is not
 * asked again.
 *
 * Source: basic/patterns/subscriptions; ext-tasks, "Task Status Notifications".
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Incoming } from "../Transport.ts"
import type { Rpc } from "./rpc.ts"

/**
 * Whom to listen for, and whom to tell.
 *
 * @since 0.1.0
 */
export interface Listener {
  readonly rpc: Rpc
  readonly taskId: string
  readonly capabilities: Schema.JsonObject
  /** Told whether notifications arrive. */
  readonly onListening: (isListening: boolean) => Effect.Effect<void>
  readonly onView: (view: TaskView.TaskView) => Effect.Effect<void>
}

const method = "subscriptions/listen"
const ackTimeoutMs = 10_000
const firstDelayMs = 500
const longestDelayMs = 30_000

/** How a stream ended, and whether it is worth another one. */
type End = "unsupported" | "refused" | "broken"

const belongs = (params: Schema.JsonObject, id: JsonRpc.Id): boolean => {
  const { _meta: meta } = params
  return JsonRpc.isJsonObject(meta) && meta[McpProtocol.MetaKey.subscriptionId] === id
}

const agrees = (params: Schema.JsonObject, taskId: string): boolean => {
  const { notifications } = params
  const taskIds = JsonRpc.isJsonObject(notifications) ? notifications["taskIds"] : undefined
  return Array.isArray(taskIds) && taskIds.includes(taskId)
}

const ended = ({ error }: Extract<Incoming, { readonly _tag: "Failure" }>): End => {
  if (error.code === WireError.Code.MethodNotFound) return "unsupported"
  return error.code === WireError.Code.InternalError ? "broken" : "refused"
}

/** One stream, until it ends. Nothing that it brings can fail the listening. */
const listenOnce = ({ capabilities, onListening, onView, rpc, taskId }: Listener): Effect.Effect<End> =>
  Effect.gen(function*() {
    const agreed = yield* Deferred.make<void>()
    const end = yield* Deferred.make<End>()

    const acknowledged = (params: Schema.JsonObject) =>
      agrees(params, taskId)
        ? Effect.andThen(Deferred.succeed(agreed, undefined), onListening(true))
        : Deferred.succeed(end, "refused")

    const hear = (id: JsonRpc.Id, message: Incoming): Effect.Effect<unknown> => {
      if (message._tag === "Failure") return Deferred.succeed(end, ended(message))
      if (message._tag === "Success") return Deferred.succeed(end, "broken")
      if (message._tag === "Ignored" || !belongs(message.params, id)) return Effect.void
      if (message.method === "notifications/subscriptions/acknowledged") return acknowledged(message.params)
      const view = message.method === "notifications/tasks" ? TaskView.read(message.params) : undefined
      return view !== undefined && Result.isSuccess(view) ? onView(view.success) : Effect.void
    }

    const reading = rpc.stream({ method, params: { notifications: { taskIds: [taskId] } }, capabilities, taskId }).pipe(
      Stream.runForEach(([id, message]) => hear(id, message)),
      Effect.catch((error) => Effect.logDebug(error.message)),
      // The last message may have said more than that the stream is over.
      Effect.andThen(Effect.suspend(() =>
        Deferred.isDoneUnsafe(end) ? Deferred.await(end) : Effect.succeed<End>("broken")
      ))
    )
    const silence = Deferred.await(agreed).pipe(
      Effect.timeoutOrElse({ duration: ackTimeoutMs, orElse: () => Deferred.succeed(end, "broken") }),
      Effect.andThen(Effect.never)
    )
    return yield* Effect.raceAllFirst([Deferred.await(end), reading, silence])
  })

/**
 * Listens for as long as it is not interrupted, and says in the end whether the server has this method at all.
 *
 * @since 0.1.0
 */
export const listen = (listener: Listener): Effect.Effect<"unsupported" | "refused"> =>
  Effect.gen(function*() {
    let delayMs = firstDelayMs
    const told = (isListening: boolean) => {
      // A stream that came up has earned a quick return.
      if (isListening) delayMs = firstDelayMs
      return listener.onListening(isListening)
    }
    while (true) {
      const end = yield* listenOnce({ ...listener, onListening: told })
      yield* listener.onListening(false)
      if (end !== "broken") return end
      yield* Effect.sleep(delayMs * (1 + 0.2 * (yield* Random.next)))
      delayMs = Math.min(delayMs * 2, longestDelayMs)
    }
  })
