/**
 * Runs the handlers of tasks, wherever and however often it takes.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { TaskOwner } from "./TaskOwner.ts"
import type { TaskAlreadyExists, TaskStoreError, TooManyTasks } from "./TaskStore.ts"
import type { RegisteredTool, ToolCall } from "./TaskTools.ts"

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
