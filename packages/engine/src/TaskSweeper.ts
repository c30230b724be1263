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
import * as storedCall from "./internal/storedCall.ts"
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

const dueKey = ({ taskId, version }: DueTask): string => `${version} ${taskId}`

/** An ended task is removed by its version. Where there is none, it is one that somebody else removed, or damaged. */
const remove = ({ taskId, version }: DueTask) =>
  Effect.flatMap(TaskStore, (store) =>
    Effect.flatMap(store.remove(taskId, version), (isRemoved) => isRemoved ? Effect.void : store.read(taskId)))

const settle = (task: DueTask, at: number): Effect.Effect<unknown, TaskStoreError, TaskStore | TaskEngine> =>
  task.live ? expire(task.taskId, at) : remove(task)

/**
 * An effect that sweeps once: it takes one batch of what is due now, and says how many tasks it had not seen before.
 *
 * **Details**
 *
 * It is a span when something was due, and none otherwise.
 *
 * A task that nothing can be done for, since its record is damaged, is left as it is, named in the log once, and does
 * not stand in the way of the others. One at which the store fails ends the sweep. Such a task, and one that stays due
 * whatever is done, comes last from then on, and no longer counts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sweep = (batchSize: number): Effect.Effect<number, TaskStoreError, TaskStore | TaskEngine> => {
  /** Overdue tasks for which nothing can be done. */
  let hopeless = new Set<string>()
  /** Overdue tasks that have been taken already. Mostly they are gone, or have another version. */
  let taken = new Set<string>()

  const settled = (task: DueTask, at: number) =>
    Effect.suspend(() => {
      taken.add(dueKey(task))
      return Effect.catchCauseIf(settle(task, at), storedCall.isOfTheTask, (cause) => {
        hopeless.add(dueKey(task))
        const message = "An overdue task cannot be expired or removed; it is left as it is"
        return Effect.annotateLogs(Effect.logError(message, cause), { taskId: task.taskId, version: task.version })
      })
    })

  /** What is due and has not been taken yet; then what has been, and is due all the same. */
  const choose = (due: ReadonlyArray<DueTask>) => {
    const keys = new Set(due.map(dueKey))
    hopeless = hopeless.intersection(keys)
    taken = taken.intersection(keys)
    const possible = due.filter((task) => !hopeless.has(dueKey(task)))
    const fresh = possible.filter((task) => !taken.has(dueKey(task))).slice(0, batchSize)
    const again = possible.filter((task) => taken.has(dueKey(task))).slice(0, batchSize - fresh.length)
    return { fresh, chosen: [...fresh, ...again] }
  }

  return Effect.gen(function*() {
    const store = yield* TaskStore
    const at = yield* (yield* TaskEngine).now
    // Nobody reads a trace in which nothing was due, and there would be one every second.
    const due = yield* Effect.withTracerEnabled(store.due(at, batchSize + taken.size), false)
    const { chosen, fresh } = choose(due)
    if (chosen.length > 0) {
      const all = Effect.forEach(chosen, (task) => settled(task, at), { discard: true })
      yield* Effect.withSpan(all, "TaskSweeper.sweep")
    }
    return fresh.length
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
    const isMore = (count: number) => count >= batchSize
    return loop.run({ name: "sweep", rest: interval }, ({ begin }) => {
      const next = (count: number): Effect.Effect<void> =>
        isMore(count) ? Effect.andThen(begin, Effect.yieldNow) : Effect.void
      return Effect.repeat(Effect.tap(once, next), { while: (count) => isMore(count) })
    })
  }))

/**
 * Sweeps in the background every second.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, TaskStore | TaskEngine> = layerWith({})
