/**
 * Tasks that were offered to a worker though theirs seems to be alive from there. Whoever offered them has watched that
 * worker for longer, and knows that it is dead; or else it has shown since that it is not. Its next count tells.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { WorkerWatch } from "./workerWatch.ts"

interface Doubt {
  readonly worker: string
  readonly beat: number | undefined
}

/**
 * Makes the memory of one worker for what it doubts.
 *
 * @since 0.2.0
 */
export const make = ({ beatOf, isAlive }: Pick<WorkerWatch, "isAlive" | "beatOf">) => {
  const doubts = new Map<string, Doubt>()
  return {
    /** Keeps a task in mind whose worker seems to be alive; there is nothing to start. */
    keep: ({ taskId, worker = "" }: Task.LiveTask): Option.Option<never> => {
      doubts.set(taskId, { worker, beat: beatOf(worker) })
      return Option.none()
    },
    /** Claims those whose worker is dead by now, and forgets those whose worker has counted. */
    settle: (claim: (taskId: string) => Effect.Effect<void>) =>
      Effect.suspend(() =>
        Effect.forEach([...doubts], ([taskId, doubt]) => {
          const isDead = !isAlive(doubt.worker)
          if (!isDead && beatOf(doubt.worker) === doubt.beat) return Effect.void
          doubts.delete(taskId)
          // Without a slot for it, it is looked at again in the next round.
          return isDead
            ? Effect.catchCause(claim(taskId), () => Effect.sync(() => doubts.set(taskId, doubt)))
            : Effect.void
        }, { discard: true })
      )
  }
}
