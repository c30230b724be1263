/**
 * The engine for one process: everything but the store and the tools.
 *
 * @since 0.1.0
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Health from "./Health.ts"
import * as boundedScope from "./internal/boundedScope.ts"
import * as TaskEngine from "./TaskEngine.ts"
import * as TaskRunner from "./TaskRunner.ts"
import * as TaskSignal from "./TaskSignal.ts"
import type { TaskStore, TaskStoreError } from "./TaskStore.ts"
import * as TaskSweeper from "./TaskSweeper.ts"
import type { TaskTools } from "./TaskTools.ts"

/** How long a store that does not answer is waited for when the process goes away. */
const longestEnd = Duration.seconds(8)

/**
 * Runs, answers, expires and removes tasks in this process, over the store and the tools that are provided.
 *
 * **When to use**
 *
 * For a server of one process: `TaskRunner.layerFiber`, `TaskSweeper.layer`, `TaskEngine.layer` and
 * `TaskSignal.layerMemory` in one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  TaskRunner.TaskRunner | TaskEngine.TaskEngine | Health.Health,
  TaskStoreError,
  TaskStore | TaskTools
> = boundedScope.layer(
  { what: "The engine", closes: longestEnd },
  Layer.merge(TaskRunner.layerFiber, TaskSweeper.layer).pipe(
    Layer.provideMerge(TaskEngine.layer),
    Layer.provideMerge(Health.layer),
    Layer.provide([TaskSignal.layerMemory, SecureRandom.layerWebCrypto])
  )
)
