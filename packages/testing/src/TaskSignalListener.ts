/**
 * Listening to signals in tests. Signals may be lost and doubled, so tests say them again until they arrive.
 *
 * @since 0.1.0
 */
import type * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"

type Signal = TaskSignal.TaskSignal["Service"]

/**
 * Collects what a signal brings, until the scope closes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const listener = Effect.fnUntraced(function*(signal: Signal) {
  const subscription = yield* signal.subscribe
  const heard = new Set<string>()
  yield* Effect.forkScoped(Effect.forever(Effect.map(PubSub.take(subscription), (taskId) => heard.add(taskId))))
  return heard
})

/**
 * Says it at one end until it is heard at the other, for at most 20 seconds.
 *
 * @category running
 * @since 0.1.0
 */
export const reaches = Effect.fnUntraced(function*(from: Signal, heard: ReadonlySet<string>, taskId: string) {
  while (!heard.has(taskId)) {
    yield* from.publish(taskId)
    yield* Effect.sleep("20 millis")
  }
}, Effect.timeout("20 seconds"))
