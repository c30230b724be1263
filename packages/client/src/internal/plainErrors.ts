/**
 * The client's errors for people without Effect: plain subclasses of `Error`.
 *
 * @since 0.1.0
 */
import type { InputRefused, TaskClientError, ToolResult } from "../TaskClientError.ts"

/**
 * Whatever went wrong with a call. `kind` says what, and so does the class.
 *
 * **Details**
 *
 * `taskId` is the task's, wherever there is one: it can be resumed or cancelled by it. `code` and `data` are those of
 * the JSON-RPC error that the server gave, if it did.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskError extends Error {
  override readonly name: string = "TaskError"
  readonly kind: TaskClientError["_tag"]
  readonly taskId: string | undefined
  readonly code: number | undefined
  readonly data: unknown
  constructor(error: TaskClientError) {
    super(error.message, { cause: error })
    this.kind = error._tag
    this.taskId = "taskId" in error ? error.taskId : undefined
    const rpc = "error" in error ? error.error : undefined
    this.code = rpc?.code
    this.data = rpc?.data
  }
}

/**
 * The task ended with a JSON-RPC error.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskFailedError extends TaskError {
  override readonly name = "TaskFailedError"
}

/**
 * The task was cancelled.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskCancelledError extends TaskError {
  override readonly name = "TaskCancelledError"
}

/**
 * The server does not know the task (any more), or the task has outlived its ttl.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskExpiredError extends TaskError {
  override readonly name = "TaskExpiredError"
}

/**
 * The tool says itself that it failed. `result` is what it said.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolFailedError extends TaskError {
  override readonly name = "ToolFailedError"
  readonly result: ToolResult
  constructor(error: Extract<TaskClientError, { readonly _tag: "ToolError" }>) {
    super(error)
    this.result = error.result
  }
}

/**
 * The server could not be reached, or its answers could not be read. A task that has an id goes on without us.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectionError extends TaskError {
  override readonly name = "ConnectionError"
}

/**
 * Makes the plain error of one of the client's own.
 *
 * @since 0.1.0
 */
export const plainError = (error: TaskClientError | InputRefused): TaskError => {
  switch (error._tag) {
    case "TaskFailed":
      return new TaskFailedError(error)
    case "TaskCancelled":
      return new TaskCancelledError(error)
    case "TaskExpired":
      return new TaskExpiredError(error)
    case "ToolError":
      return new ToolFailedError(error)
    case "TransportError":
      return new ConnectionError(error)
    default:
      return new TaskError(error)
  }
}
