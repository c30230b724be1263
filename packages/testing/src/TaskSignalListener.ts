/**
 * Listening to signals in tests. Signals may be lost and doubled, so tests say them again until they arrive.
 *
 * @since 0.1.0
 */
import type * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as Cause from "effect/Cause"
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
  // All that has come at once: to take one by one would give time a turn after each.
  yield* Effect.forkScoped(Effect.forever(Effect.map(PubSub.takeAll(subscription), (taskIds) => {
    for (const taskId of taskIds) heard.add(taskId)
  })))
  return heard
})

/** How often a test looks, every 20 milliseconds. It counts, since the clock of a test may take longer steps. */
const patience = 1_000

/**
 * Looks every 20 milliseconds until it is so, a thousand times at the most, and gives back how often it looked in vain.
 *
 * @category running
 * @since 0.2.0
 */
export const comes = Effect.fnUntraced(function*(what: string, isSo: () => boolean, before: Effect.Effect<void>) {
  for (let looks = 0; looks < patience; looks++) {
    if (isSo()) return looks
    yield* before
    // A test's clock may go on by many looks at once: whoever listens has its turn between two of them all the same.
    yield* Effect.yieldNow
    yield* Effect.sleep("20 millis")
  }
  return yield* new Cause.TimeoutError(`It was not heard: ${what}`)
})

/**
 * Says it at one end until it is heard at the other, every 20 milliseconds, a thousand times at the most. Gives back
 * how often it was said.
 *
 * @category running
 * @since 0.1.0
 */
export const reaches = (from: Signal, heard: ReadonlySet<string>, taskId: string) =>
  comes(taskId, () => heard.has(taskId), from.publish(taskId))
