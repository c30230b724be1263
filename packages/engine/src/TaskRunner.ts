/**
 * Runs the handlers of tasks, wherever and however often it takes.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import type { TaskJournal } from "@effect-mcp-tasks/core/TaskJournal"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as fiberRunner from "./internal/fiberRunner.ts"
import type { TaskEngine } from "./TaskEngine.ts"
import type { TaskOwner } from "./TaskOwner.ts"
import type { TaskSignal } from "./TaskSignal.ts"
import type { TaskAlreadyExists, TaskStore, TaskStoreError, TooManyTasks } from "./TaskStore.ts"
import type { RegisteredTool, TaskTools, ToolCall } from "./TaskTools.ts"

/**
 * A call that is to become a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskRequest {
  readonly owner: TaskOwner
  readonly tool: RegisteredTool
  /** The decoded call, which the embedded runner runs without decoding again. */
  readonly call: ToolCall
  readonly arguments: Schema.JsonObject
  /** The capabilities that the call declared. */
  readonly capabilities: Schema.JsonObject
  /** What the call has gathered before there was a task, if anything. */
  readonly journal?: TaskJournal | undefined
  /** The caller's W3C trace context. */
  readonly traceparent: string | undefined
}

/**
 * Runs the handlers of tasks.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskRunner extends Context.Service<TaskRunner, {
  /**
   * Makes a durable task of a call, and sees to it that its handler runs.
   *
   * **Details**
   *
   * Succeeds once the task can be read by everyone; the handler outlives the caller. Nothing runs when it fails.
   */
  readonly submit: (request: TaskRequest) => Effect.Effect<Stored, TaskStoreError | TaskAlreadyExists | TooManyTasks>
}>()("@effect-mcp-tasks/engine/TaskRunner") {}

/**
 * Runs each handler as a fiber of this process.
 *
 * **Details**
 *
 * For one process that has its store to itself. Creating a task and claiming it are one write. Before the layer is
 * built, every task that an earlier process left live is taken up again, or failed by its tool's `recovery`. When the
 * layer's scope closes, running handlers are interrupted and their tasks handed back: none is cancelled.
 *
 * **Gotchas**
 *
 * Two processes with this runner on one store would take each other's tasks away. Keep a SQLite file for one of them by
 * `exclusive: true`. For replicas there is a queue.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFiber: Layer.Layer<
  TaskRunner,
  TaskStoreError,
  TaskEngine | TaskStore | TaskTools | TaskSignal
> = Layer.effect(TaskRunner, fiberRunner.make)
