/**
 * The ways in which a store refuses or fails.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** What each reason means, in words for an operator's log. */
const meanings = {
  Unavailable: "it failed, or gave no answer in time",
  ConnectionLost: "the connection to it is lost",
  ReadOnly: "it is read-only: a replica, or a primary that was demoted",
  Full: "it has no room left, in memory or on disk",
  Misused: "one of its keys is used by something else",
  NotReady: "it is starting, loading or failing over",
  TooLarge: "the record is larger than the database or its client can take",
  Corrupt: "a record is not one that this library wrote"
}

/**
 * The store could not do its work.
 *
 * **Details**
 *
 * `Corrupt` means that a record is not what this library wrote, and `TooLarge` that a write would make it one that
 * cannot be kept or read; both stay. All other reasons may go away, and all but `Misused` by themselves. `ReadOnly`,
 * `Full`, `Misused`, `NotReady` and `TooLarge` are refusals: a write that ended so was not written.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskStoreError extends Schema.TaggedError<TaskStoreError>()("TaskStoreError", {
  operation: Schema.Literals(["create", "read", "view", "replace", "due", "remove", "countLive", "list"]),
  reason: Schema.Literals([
    "Unavailable",
    "ConnectionLost",
    "ReadOnly",
    "Full",
    "Misused",
    "NotReady",
    "TooLarge",
    "Corrupt"
  ]),
  /** The task that it is about, where it is about one and no other. */
  taskId: Schema.optionalKey(Schema.String),
  cause: Schema.Defect()
}) {
  override get message(): string {
    const what = this.taskId === undefined ? this.operation : `${this.operation} task ${this.taskId}`
    return `The task store could not ${what}: ${meanings[this.reason]}`
  }

  /**
   * Whether a write that ended so may have been applied all the same: its answer was lost, or comes too late.
   *
   * **Details**
   *
   * Whoever tries again reads first. To write again under the version that was read is safe too, but a
   * `VersionConflict` then says only that somebody wrote, who may have been the same writer.
   */
  get mayHaveHappened(): boolean {
    return this.reason === "Unavailable" || this.reason === "ConnectionLost"
  }

  /** Whether trying again can never help. */
  get isPermanent(): boolean {
    return this.reason === "Corrupt" || this.reason === "TooLarge"
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
