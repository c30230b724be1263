/**
 * Lets time pass for tasks: fails the live ones whose deadline is reached, and removes the ended ones that nobody may
 * ask for any more.
 *
 * There is no timer for each task. One loop asks the store for a bounded batch of what is due, so that a million
 * overdue tasks are worked off a batch at a time between requests.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as loop from "./internal/loop.ts"
import { TaskEngine } from "./TaskEngine.ts"
import { type DueTask, TaskStore, type TaskStoreError } from "./TaskStore.ts"

/**
 * How the sweeper works.
 *
 * @category models
 * @since 0.1.0
 */
export interface SweeperOptions {
  /** How long it rests when nothing is due; 1 second. */
  readonly interval?: Duration.Input | undefined
  /** How many tasks it takes at a time; 100. */
  readonly batchSize?: number | undefined
}

const expire = (taskId: string, at: number) =>
  Effect.flatMap(TaskEngine, (engine) => engine.apply(taskId, { _tag: "Expire", at })).pipe(
    Effect.asVoid,
    // Somebody else was faster, or the task was given a longer life.
    Effect.catchTag(["TaskRejected", "TaskNotFound"], () => Effect.void)
  )

const isCorrupt = (error: TaskStoreError): boolean => error.reason === "Corrupt"

/**
 * An effect that sweeps once: it takes one batch of what is due now, and says how many tasks that were.
 *
 * **Details**
 *
 * It is a span when something was due, and none otherwise.
 *
 * A live task whose record cannot be decoded is left as it is, named in the log once, and does not stand in the way of
 * the others.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sweep = (batchSize: number): Effect.Effect<number, TaskStoreError, TaskStore | TaskEngine> => {
  /** The versions of overdue tasks whose record cannot be decoded, and for which nothing can be done. */
  const unreadable = new Map<string, number>()

  const settle = (
    { live, taskId, version }: DueTask,
    at: number
  ): Effect.Effect<void, TaskStoreError, TaskStore | TaskEngine> =>
    live
      ? Effect.catchIf(expire(taskId, at), isCorrupt, (error) => {
        unreadable.set(taskId, version)
        const message = "An overdue task cannot be decoded; it is left as it is"
        return Effect.annotateLogs(Effect.logError(message, error), { taskId, version })
      })
      : Effect.flatMap(TaskStore, (store) => Effect.asVoid(store.remove(taskId, version)))

  return Effect.gen(function*() {
    const store = yield* TaskStore
    const at = yield* (yield* TaskEngine).now
    // Nobody reads a trace in which nothing was due, and there would be one every second.
    const due = yield* Effect.withTracerEnabled(store.due(at, batchSize + unreadable.size), false)
    const possible = due.filter(({ taskId, version }) => unreadable.get(taskId) !== version)
    if (possible.length > 0) {
      const settled = Effect.forEach(possible, (task) => settle(task, at), { discard: true })
      yield* Effect.withSpan(settled, "TaskSweeper.sweep")
    }
    return possible.length
  })
}

/**
 * Sweeps in the background for as long as the layer's scope lives. A store that fails is tried again with every
 * round, and the log hears of it once, not each time.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: SweeperOptions): Layer.Layer<never, never, TaskStore | TaskEngine> =>
  Layer.effectDiscard(Effect.suspend(() => {
    const batchSize = options.batchSize ?? 100
    const interval = Duration.fromInputUnsafe(options.interval ?? Duration.seconds(1))
    const once = sweep(batchSize)
    return loop.run({ name: "sweep" }, ({ idle }) =>
      Effect.flatMap(once, (count) => idle(count < batchSize ? Effect.sleep(interval) : Effect.yieldNow)))
  }))

/**
 * Sweeps in the background every second.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, TaskStore | TaskEngine> = layerWith({})
