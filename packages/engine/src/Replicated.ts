/**
 * The engine for several processes that share one store: everything but what they share, and the tools.
 *
 * @since 0.2.0
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Health from "./Health.ts"
import * as boundedScope from "./internal/boundedScope.ts"
import * as TaskEngine from "./TaskEngine.ts"
import type { TaskQueue } from "./TaskQueue.ts"
import * as TaskRunner from "./TaskRunner.ts"
import type { TaskSignal } from "./TaskSignal.ts"
import type { TaskStore } from "./TaskStore.ts"
import * as TaskSweeper from "./TaskSweeper.ts"
import type { TaskTools } from "./TaskTools.ts"
import type { TaskWorkers, WorkersUnavailable } from "./TaskWorkers.ts"

/**
 * How long a replica takes to end beyond its grace period, however slow its storage is to answer: two seconds for the
 * queue, three for handlers that must not be interrupted and for what is handed back, one to take leave.
 */
const longestEnd = Duration.seconds(6)

/**
 * Runs, answers, expires and removes tasks in this process and in every other one that shares the store, the queue,
 * the list of workers and the signals that are provided.
 *
 * **When to use**
 *
 * For a server of several processes: `TaskRunner.layerQueueWith`, `TaskSweeper.layer`, `TaskEngine.layer` and
 * `Health.layer` in one. Provide `TaskClock.layerSql` or `layerRedis` too, so that all of them go by one clock.
 *
 * **Details**
 *
 * When the layer's scope closes, that takes `grace` and at most 6 seconds more: a storage that does not answer is not
 * waited for, and what the replica could not hand back is taken up by the others once its lease is over.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerWith = (
  options: TaskRunner.QueueOptions
): Layer.Layer<
  TaskRunner.TaskRunner | TaskEngine.TaskEngine | Health.Health,
  WorkersUnavailable,
  TaskStore | TaskTools | TaskQueue | TaskWorkers | TaskSignal
> =>
  boundedScope.layer(
    {
      what: "A replica",
      closes: Duration.sum(Duration.fromInputUnsafe(options.grace ?? TaskRunner.defaultGrace), longestEnd)
    },
    Layer.merge(TaskRunner.layerQueueWith(options), TaskSweeper.layer).pipe(
      Layer.provideMerge(TaskEngine.layer),
      Layer.provideMerge(Health.layer),
      Layer.provide(SecureRandom.layerWebCrypto)
    )
  )

/**
 * Does so with every setting at its default.
 *
 * @category layers
 * @since 0.2.0
 */
export const layer: ReturnType<typeof layerWith> = layerWith({})
