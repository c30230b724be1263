/**
 * A task store that says how long it takes.
 *
 * @since 0.2.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as TaskMetrics from "../TaskMetrics.ts"
import type { TaskStore } from "../TaskStore.ts"

/**
 * Measures every operation of a store.
 *
 * @since 0.2.0
 */
export const measured = (store: TaskStore["Service"]): TaskStore["Service"] => {
  const timed = (operation: string) => {
    const metric = Metric.withAttributes(TaskMetrics.storeTime, { operation })
    return <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.withFiber((fiber) => {
        const clock = fiber.getRef(Clock.Clock)
        const before = clock.monotonicTimeNanosUnsafe()
        return Effect.onExit(effect, () => {
          metric.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - before) / 1e6, fiber.context)
          return Effect.void
        })
      })
  }
  const create = timed("create")
  const read = timed("read")
  const view = timed("view")
  const replace = timed("replace")
  const due = timed("due")
  const remove = timed("remove")
  const countLive = timed("countLive")
  const list = timed("list")
  return {
    create: (task, options) => create(store.create(task, options)),
    read: (taskId) => read(store.read(taskId)),
    view: (taskId) => view(store.view(taskId)),
    replace: (stored, next) => replace(store.replace(stored, next)),
    due: (now, limit) => due(store.due(now, limit)),
    remove: (taskId, version) => remove(store.remove(taskId, version)),
    countLive: (owner) => countLive(store.countLive(owner)),
    list: (options) => list(store.list(options))
  }
}
