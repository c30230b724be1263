/**
 * Fibers of this process that wait for one task to change: one subscription to the signal serves them all.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import type { TaskSignal } from "../TaskSignal.ts"

/**
 * Gives each waiter a latch that opens with every signal of its task, for as long as the waiter's scope lives.
 *
 * **Details**
 *
 * A waiter closes its latch, looks at the task, and waits: a signal between looking and waiting finds the latch and
 * opens it, so none is lost within the process.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(signal: TaskSignal["Service"]) {
  const latches = new Map<string, Set<Latch.Latch>>()
  const subscription = yield* signal.subscribe
  yield* Effect.forkScoped(
    Effect.forever(Effect.map(PubSub.take(subscription), (taskId) => {
      for (const latch of latches.get(taskId) ?? []) latch.openUnsafe()
    }))
  )
  return (taskId: string): Effect.Effect<Latch.Latch, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const latch = Latch.makeUnsafe()
        const waiting = latches.get(taskId) ?? new Set()
        latches.set(taskId, waiting.add(latch))
        return latch
      }),
      (latch) =>
        Effect.sync(() => {
          const waiting = latches.get(taskId)
          waiting?.delete(latch)
          if (waiting?.size === 0) latches.delete(taskId)
        })
    )
})
