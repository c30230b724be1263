/**
 * `notifications/progress` for a plain call whose request carries a `progressToken`.
 *
 * Source: basic/patterns/progress.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as CallProgress from "@effect-mcp-tasks/engine/CallProgress"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type { Send } from "../Dispatcher.ts"

/** Reports that wait for a client which reads slowly; beyond, the oldest are dropped. */
const backlog = 16

/**
 * Who wants to hear of a call's progress, and how long a message may be, in UTF-16 code units.
 *
 * @since 0.1.0
 */
export interface Reader {
  readonly token: JsonRpc.Id
  readonly send: Send
  readonly maxMessageLength: number
}

/**
 * Runs a call, and sends what its handler reports: in order, each ahead of the one before, none after the result.
 *
 * @since 0.1.0
 */
export const reporting = Effect.fnUntraced(function*<A, E, R>(
  call: Effect.Effect<A, E, R>,
  { maxMessageLength, send, token }: Reader
): Effect.fn.Return<A, E, R> {
  const queue = yield* Queue.sliding<string, Cause.Done>(backlog)
  let last = -Infinity
  const report = (message: string, amount?: CallProgress.Amount) =>
    Effect.suspend(() => {
      const progress = amount?.done ?? Math.max(0, Math.floor(last)) + 1
      if (!Number.isFinite(progress) || progress <= last) return Effect.void
      last = progress
      const total = Number.isFinite(amount?.total) ? { total: amount?.total } : {}
      const params = { progressToken: token, progress, ...total, message: message.slice(0, maxMessageLength) }
      return Queue.offer(queue, JsonRpc.notification("notifications/progress", JSON.stringify(params)))
    })
  const sending = yield* Effect.forkChild(Effect.forever(Effect.flatMap(Queue.take(queue), send)))
  const reported = Effect.provideService(call, CallProgress.CallProgress, (message, amount) =>
    Effect.asVoid(report(message, amount)))
  const exit = yield* Effect.exit(reported)
  yield* Queue.end(queue)
  yield* Fiber.await(sending)
  return yield* exit
})
