/**
 * Fibers of this process that wait for tasks to change: one subscription to the signal serves them all.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import type { TaskWatch } from "../TaskEngine.ts"
import type { TaskSignal } from "../TaskSignal.ts"

type Wake = (taskId: string) => void

/** How long whoever watches trusts that a missing signal means that nothing happened. */
const heartbeat = Duration.seconds(15)

/**
 * Calls a waiter for every signal of its tasks, for as long as the waiter's scope lives.
 *
 * **Details**
 *
 * A waiter registers, looks at its tasks, and waits: a signal between looking and waiting finds it registered, so none
 * is lost within the process.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(signal: TaskSignal["Service"]) {
  const wakes = new Map<string, Set<Wake>>()
  const subscription = yield* signal.subscribe
  yield* Effect.forkScoped(
    Effect.forever(Effect.map(PubSub.take(subscription), (taskId) => {
      for (const wake of wakes.get(taskId) ?? []) wake(taskId)
    }))
  )

  const register = (taskIds: Iterable<string>, wake: Wake): Effect.Effect<void, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        for (const taskId of taskIds) wakes.set(taskId, (wakes.get(taskId) ?? new Set()).add(wake))
      }),
      () =>
        Effect.sync(() => {
          for (const taskId of taskIds) {
            const waiting = wakes.get(taskId)
            waiting?.delete(wake)
            if (waiting?.size === 0) wakes.delete(taskId)
          }
        })
    )

  return {
    /** A latch that opens with every signal of a task. */
    latch: (taskId: string): Effect.Effect<Latch.Latch, never, Scope.Scope> =>
      Effect.suspend(() => {
        const latch = Latch.makeUnsafe()
        return Effect.as(register([taskId], () => latch.openUnsafe()), latch)
      }),

    watch: (taskIds: Iterable<string>): Effect.Effect<TaskWatch, never, Scope.Scope> =>
      Effect.suspend(() => {
        const watched = new Set(taskIds)
        const changed = new Set<string>()
        const latch = Latch.makeUnsafe()
        const wait = Effect.suspend(() => {
          if (changed.size > 0) return Effect.void
          latch.closeUnsafe()
          return Effect.asVoid(Effect.timeoutOption(latch.await, heartbeat))
        })
        const next = Effect.map(wait, () => {
          const ids = changed.size === 0 ? [...watched] : [...changed]
          changed.clear()
          return ids
        })
        const wake: Wake = (taskId) => {
          changed.add(taskId)
          latch.openUnsafe()
        }
        return Effect.as(register(watched, wake), { next })
      })
  }
})
