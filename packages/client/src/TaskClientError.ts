/**
 * Everything that calling a tool may fail with, as typed errors.
 *
 * Every error that belongs to a task carries its `taskId`, so that whoever catches it can resume or cancel the task; a
 * JSON-RPC error is kept as the server gave it. `isTransient` says which are worth another try.
 *
 * @since 0.1.0
 */
import * as JsonRpcError from "@effect-mcp-tasks/core/WireError"
import * as Schema from "effect/Schema"

/**
 * A JSON-RPC error object as a server sent it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RpcError = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Json)
})

/**
 * A tool's result (MCP, `CallToolResult`), with whatever else the server put into it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResult = Schema.StructWithRest(
  Schema.Struct({
    content: Schema.Array(Schema.JsonObject),
    structuredContent: Schema.optionalKey(Schema.Json),
    isError: Schema.optionalKey(Schema.Boolean)
  }),
  [Schema.JsonObject]
)

/**
 * A tool's result (MCP, `CallToolResult`), with whatever else the server put into it.
 *
 * @category schemas
 * @since 0.1.0
 */
export type ToolResult = typeof ToolResult.Type

const ofTask = { taskId: Schema.optionalKey(Schema.String) }

/**
 * The message could not be exchanged, or what came back was no message.
 *
 * **Details**
 *
 * `reason` says where it broke. `Timeout`: no answer in time. `Unreachable`: no connection. `Lost`: the connection
 * broke before the answer was complete. `HttpStatus`: an HTTP error without a JSON-RPC error, see `status`. `NotJson`
 * and `Malformed`: an answer that is not JSON, or not a JSON-RPC message. `TooLarge`: an answer beyond the limit.
 * `Closed`: the transport is closed, or its server process has ended.
 *
 * **Gotchas**
 *
 * A `tools/call` that fails so may have been carried out all the same, and is therefore never sent again by itself.
 *
 * @category errors
 * @since 0.1.0
 */
export class TransportError extends Schema.TaggedError<TransportError>()("TransportError", {
  ...ofTask,
  method: Schema.String,
  reason: Schema.Literals([
    "Timeout",
    "Unreachable",
    "Lost",
    "HttpStatus",
    "NotJson",
    "Malformed",
    "TooLarge",
    "Closed"
  ]),
  detail: Schema.String,
  status: Schema.optionalKey(Schema.Int),
  /** How long the server asks to be left alone, in milliseconds. */
  retryAfterMs: Schema.optionalKey(Schema.Finite),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    const once = this.method === "tools/call" ? ". It is not sent again, since it may have been carried out" : ""
    return `${this.method} failed: ${this.detail}${once}`
  }
}

/**
 * The server refused a request with a JSON-RPC error.
 *
 * @category errors
 * @since 0.1.0
 */
export class ProtocolError extends Schema.TaggedError<ProtocolError>()("ProtocolError", {
  ...ofTask,
  method: Schema.String,
  error: RpcError
}) {
  override get message(): string {
    return `${this.method} was refused: ${this.error.message} (${this.error.code})`
  }
}

/**
 * The server answered with something that is no answer to the request.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidResponse extends Schema.TaggedError<InvalidResponse>()("InvalidResponse", {
  ...ofTask,
  method: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.method} was answered with ${this.detail}`
  }
}

/**
 * The server's description of a tool makes the tool one that must not be called (Streamable HTTP, "Custom Headers").
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidTool extends Schema.TaggedError<InvalidTool>()("InvalidTool", {
  tool: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `Tool ${this.tool} cannot be called: ${this.detail}`
  }
}

const textOf = ({ content }: ToolResult): string =>
  content.flatMap(({ text }) => typeof text === "string" ? [text] : []).join("\n")

/**
 * The tool ran and says itself that it failed (`isError`). Its result is kept whole.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolError extends Schema.TaggedError<ToolError>()("ToolError", {
  ...ofTask,
  tool: Schema.optionalKey(Schema.String),
  result: ToolResult
}) {
  override get message(): string {
    return textOf(this.result) || "The tool failed and gave no reason"
  }
}

/**
 * The result does not fit the tool's output schema, or the schema that the caller gave.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidOutput extends Schema.TaggedError<InvalidOutput>()("InvalidOutput", {
  ...ofTask,
  tool: Schema.optionalKey(Schema.String),
  detail: Schema.String,
  result: Schema.Json
}) {
  override get message(): string {
    return `The result${this.tool === undefined ? "" : ` of ${this.tool}`} does not fit its schema: ${this.detail}`
  }
}

/**
 * The task ended with a JSON-RPC error.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskFailed extends Schema.TaggedError<TaskFailed>()("TaskFailed", {
  taskId: Schema.String,
  error: RpcError,
  statusMessage: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `Task ${this.taskId} failed: ${this.error.message} (${this.error.code})`
  }
}

/**
 * The task was cancelled, by whomever.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskCancelled extends Schema.TaggedError<TaskCancelled>()("TaskCancelled", {
  taskId: Schema.String,
  statusMessage: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `Task ${this.taskId} was cancelled${this.statusMessage === undefined ? "" : `: ${this.statusMessage}`}`
  }
}

/**
 * The server does not know the task (any more), or the task has outlived its ttl.
 *
 * **Gotchas**
 *
 * Servers answer alike for a task that was removed, that belongs to someone else, and that never was. `error` is that
 * answer, where there is one.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskExpired extends Schema.TaggedError<TaskExpired>()("TaskExpired", {
  taskId: Schema.String,
  error: Schema.optionalKey(RpcError)
}) {
  override get message(): string {
    return this.error === undefined
      ? `Task ${this.taskId} has outlived its ttl`
      : `There is no task ${this.taskId} (any more): ${this.error.message} (${this.error.code})`
  }
}

/**
 * The task is alive but has not changed for too long. It is left as it is, and may be resumed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskStuck extends Schema.TaggedError<TaskStuck>()("TaskStuck", {
  taskId: Schema.String,
  idleMs: Schema.Finite
}) {
  override get message(): string {
    return `Task ${this.taskId} has not changed for ${Math.round(this.idleMs / 60_000)} minutes`
  }
}

/**
 * A question cannot be answered here.
 *
 * @category errors
 * @since 0.1.0
 */
export class InputRefused extends Schema.TaggedError<InputRefused>()("InputRefused", {
  ...ofTask,
  key: Schema.String,
  method: Schema.String,
  detail: Schema.String,
  /** The fields of the form that an answer is missing or unfit for, where it is such a form. */
  fields: Schema.optionalKey(Schema.Array(Schema.String))
}) {
  override get message(): string {
    return `Question ${this.key} (${this.method}) cannot be answered: ${this.detail}`
  }
}

/**
 * An answer was given to a question that is not outstanding.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotOutstanding extends Schema.TaggedError<NotOutstanding>()("NotOutstanding", {
  ...ofTask,
  key: Schema.String
}) {
  override get message(): string {
    return this.taskId === undefined
      ? `The call was answered at once, so that there is no question ${this.key}`
      : `Task ${this.taskId} has no outstanding question ${this.key}`
  }
}

/**
 * What is remembered about a task could not be written or read.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskHandleStoreError extends Schema.TaggedError<TaskHandleStoreError>()("TaskHandleStoreError", {
  ...ofTask,
  operation: Schema.Literals(["save", "read", "remove", "list"]),
  cause: Schema.Defect()
}) {
  override get message(): string {
    const what = this.taskId === undefined ? "open tasks" : `task ${this.taskId}`
    return `The handle store cannot ${this.operation} ${what}`
  }
}

/**
 * A request went wrong: on its way, at the server, or in its answer.
 *
 * @category errors
 * @since 0.1.0
 */
export type RequestError = TransportError | ProtocolError | InvalidResponse

/**
 * A task was observed to an end that is not a result.
 *
 * @category errors
 * @since 0.1.0
 */
export type OutcomeError = TaskFailed | TaskCancelled | TaskExpired | TaskStuck | ToolError | InvalidOutput

/**
 * Everything that calling a tool may fail with, besides what an input handler of one's own fails with.
 *
 * @category errors
 * @since 0.1.0
 */
export type TaskClientError = RequestError | OutcomeError | InvalidTool | InputRefused | TaskHandleStoreError

const own = [
  TransportError,
  ProtocolError,
  InvalidResponse,
  InvalidTool,
  ToolError,
  InvalidOutput,
  TaskFailed,
  TaskCancelled,
  TaskExpired,
  TaskStuck,
  InputRefused,
  TaskHandleStoreError
]

/**
 * Tells the client's own errors from those of an input handler.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTaskClientError = (error: unknown): error is TaskClientError =>
  own.some((constructor) => error instanceof constructor)

/**
 * Tells whether an HTTP status is one of overload or of a fault that may pass.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || status >= 500

/**
 * Tells whether the same request may succeed a moment later: lost connections, overload, a server that restarts or
 * whose store is away. What the server decided, and a closed transport, are final.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTransient = (error: RequestError): boolean => {
  switch (error._tag) {
    case "TransportError":
      return error.reason === "HttpStatus"
        ? isTransientStatus(error.status ?? 0)
        : error.reason !== "TooLarge" && error.reason !== "Closed"
    case "ProtocolError":
      return error.error.code === JsonRpcError.Code.InternalError
    case "InvalidResponse":
      return false
  }
}
