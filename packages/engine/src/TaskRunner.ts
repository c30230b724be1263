/**
 * Runs the handlers of tasks, wherever and however often it takes.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import type { TaskJournal } from "@effect-mcp-tasks/core/TaskJournal"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as fiberRunner from "./internal/fiberRunner.ts"
import * as queueRunner from "./internal/queueRunner.ts"
import type { TaskEngine } from "./TaskEngine.ts"
import type { TaskOwner } from "./TaskOwner.ts"
import type { TaskQueue } from "./TaskQueue.ts"
import type { TaskSignal } from "./TaskSignal.ts"
import type { TaskAlreadyExists, TaskStore, TaskStoreError, TooManyTasks } from "./TaskStore.ts"
import type { RegisteredTool, TaskTools, ToolCall } from "./TaskTools.ts"
import type { TaskWorkers, WorkersUnavailable } from "./TaskWorkers.ts"

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
   * Succeeds once the task can be read by everyone; the handler outlives the caller, and sees nothing of its context.
   * Nothing runs when it fails.
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

/**
 * How a replica runs tasks. Every field has a default.
 *
 * @category models
 * @since 0.2.0
 */
export interface QueueOptions {
  /**
   * How many handlers may run here at the same moment; 16. A handler that waits for input does not count. With 0 this
   * process takes calls and leaves the work to others.
   */
  readonly concurrency?: number | undefined
  /** For how long a worker may show no sign of life before its tasks are taken up by others; 15 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How long a handler may go without hearing of a cancel, an answer or the end of its task without signals; 30 s. */
  readonly heartbeat?: Duration.Input | undefined
  /** How long running handlers may go on to their end when this process goes away; 10 seconds. */
  readonly grace?: Duration.Input | undefined
  /** How often all live tasks are looked through for those that nobody sees to; 1 minute. */
  readonly scan?: Duration.Input | undefined
}

/**
 * For how long running handlers may go on to their end when their process goes away, unless it is told otherwise.
 *
 * @category constants
 * @since 0.2.0
 */
export const defaultGrace: Duration.Duration = Duration.seconds(10)

/**
 * Runs handlers in this process for all replicas that share a store, a queue and a list of workers.
 *
 * **Details**
 *
 * Any replica may create, show, answer and cancel any task. A task is claimed by one write, which names this worker;
 * whatever a worker writes that has lost its task is refused, and its handler interrupted.
 *
 * A handler that waits for input keeps its fiber, and neither a slot nor an entry in the queue. When the answer comes,
 * that fiber goes on, once there is a slot. When its worker is dead instead, the task has been taken up by another one,
 * by its tool's `recovery`, as everything that the worker had.
 *
 * When the layer's scope closes, nothing more is claimed; running handlers may end within `grace`; the rest is handed
 * back and offered to others. That takes at most `grace` and a few seconds, more only where the store does not answer.
 *
 * **Gotchas**
 *
 * A handler that asks in one branch while it works in another counts as waiting.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerQueueWith = (
  options: QueueOptions
): Layer.Layer<
  TaskRunner,
  WorkersUnavailable,
  TaskEngine | TaskStore | TaskTools | TaskSignal | TaskQueue | TaskWorkers | SecureRandom.SecureRandom
> =>
  Layer.effect(
    TaskRunner,
    queueRunner.make({
      concurrency: options.concurrency ?? 16,
      lease: Duration.fromInputUnsafe(options.lease ?? "15 seconds"),
      heartbeat: Duration.fromInputUnsafe(options.heartbeat ?? "30 seconds"),
      grace: Duration.fromInputUnsafe(options.grace ?? defaultGrace),
      scan: Duration.fromInputUnsafe(options.scan ?? "1 minute")
    })
  )

/**
 * Runs handlers in this process for all replicas, with every setting at its default.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerQueue: ReturnType<typeof layerQueueWith> = layerQueueWith({})
