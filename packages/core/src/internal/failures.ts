/**
 * The errors that a task ends with where neither its handler nor its client has ended it.
 *
 * @since 0.2.0
 */
import type { TaskError } from "../Task.ts"

const internal = (message: string): TaskError => ({ code: -32603, message })

/**
 * Its deadline was reached.
 *
 * @since 0.2.0
 */
export const timedOut = internal("The task has expired before it ended")

/**
 * Its handler was interrupted, and nobody had asked for that.
 *
 * @since 0.2.0
 */
export const interrupted = internal("The tool was interrupted before it ended")

/**
 * Its attempt was lost or handed back, and must not be repeated.
 *
 * @since 0.2.0
 */
export const notRepeatable = internal(
  "The server stopped while the tool was running, and the tool must not be run twice"
)

/**
 * Too many of its attempts were lost in a row.
 *
 * @since 0.2.0
 */
export const lostTooOften = internal("The server stopped too often while the tool was running")
