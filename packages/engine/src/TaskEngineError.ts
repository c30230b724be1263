/**
 * What an engine refuses its callers.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * There is no such task for this caller.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskNotFound extends Schema.TaggedError<TaskNotFound>()("TaskNotFound", {}) {}

/**
 * An answer does not fit its question; no answer of the same request was applied.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidAnswer extends Schema.TaggedError<InvalidAnswer>()("InvalidAnswer", {
  key: Schema.String,
  message: Schema.String
}) {}
