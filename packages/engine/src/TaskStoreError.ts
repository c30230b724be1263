/**
 * The ways in which a store refuses or fails.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The store could not do its work.
 *
 * **Details**
 *
 * `Unavailable` may go away by itself (a connection, a lock, a full disk). `Corrupt` means that a record is not what
 * this library wrote, and stays.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskStoreError extends Schema.TaggedError<TaskStoreError>()("TaskStoreError", {
  operation: Schema.Literals(["create", "read", "view", "replace", "due", "remove", "countLive", "list"]),
  reason: Schema.Literals(["Unavailable", "Corrupt"]),
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The task store could not ${this.operation}: ${this.reason}`
  }
}

/**
 * A task of this id exists already.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskAlreadyExists extends Schema.TaggedError<TaskAlreadyExists>()("TaskAlreadyExists", {
  taskId: Schema.String
}) {}

/**
 * The owner has as many live tasks as the limit allows.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyTasks extends Schema.TaggedError<TooManyTasks>()("TooManyTasks", { limit: Schema.Int }) {}

/**
 * Somebody else replaced or removed the task first; nothing was written.
 *
 * @category errors
 * @since 0.1.0
 */
export class VersionConflict extends Schema.TaggedError<VersionConflict>()("VersionConflict", {
  taskId: Schema.String,
  version: Schema.Int
}) {}
