/**
 * How a command fails: with one sentence, the next step where there is one, and an exit code that scripts can tell
 * apart.
 *
 * @since 0.2.0
 */
import type * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/**
 * The exit codes. `0` is a result; `1` is wrong usage, or a failure without a code of its own; `130` an interruption.
 *
 * @category constants
 * @since 0.2.0
 */
export const ExitCode = {
  /** The tool ran and says itself that it failed (`isError`). */
  toolError: 2,
  /** The task ended `failed`, or its result does not fit. */
  taskFailed: 3,
  /** The task ended `cancelled`. */
  taskCancelled: 4,
  /** The task has outlived its life, or the server does not know it. */
  taskExpired: 5,
  /** A question needs an answer that nobody is here to give. */
  inputNeeded: 6,
  /** The server could not be reached, or what came back was no answer. */
  unreachable: 7,
  /** The server refused the request. */
  refused: 8
} as const

/**
 * A command that failed.
 *
 * @category errors
 * @since 0.2.0
 */
export class CliFailure extends Schema.TaggedError<CliFailure>()("CliFailure", {
  message: Schema.String,
  /** What to do next. */
  hint: Schema.optionalKey(Schema.String),
  exitCode: Schema.Int,
  taskId: Schema.optionalKey(Schema.String),
  /** The JSON-RPC error of the server, as it came. */
  error: Schema.optionalKey(Schema.Json)
}) {
  override readonly [Runtime.errorExitCode] = this.exitCode
  // The program has said it itself, in its own words.
  override readonly [Runtime.errorReported] = false
}

const codeOf = (error: TaskClientError.TaskClientError): number => {
  switch (error._tag) {
    case "ToolError":
      return ExitCode.toolError
    case "TaskFailed":
    case "InvalidOutput":
      return ExitCode.taskFailed
    case "TaskCancelled":
      return ExitCode.taskCancelled
    case "TaskExpired":
    case "TaskStuck":
      return ExitCode.taskExpired
    case "InputRefused":
      return ExitCode.inputNeeded
    case "TransportError":
    case "InvalidResponse":
      return ExitCode.unreachable
    case "ProtocolError":
      return ExitCode.refused
    case "InvalidTool":
    case "TaskHandleStoreError":
      return 1
  }
}

const hintOf = (error: TaskClientError.TaskClientError): string | undefined => {
  switch (error._tag) {
    case "TransportError":
      if (error.taskId !== undefined) return "The task may go on: look again with `mcp-tasks watch`"
      if (error.status === 401) return "Set MCP_TASKS_TOKEN to a bearer token of the server"
      return error.reason === "Unreachable" ? "Is the server running, and is the address right?" : undefined
    case "ProtocolError":
      return error.error.code === -32602 && error.method === "tools/call"
        ? "`mcp-tasks tools` shows the tools and what they take"
        : undefined
    case "InputRefused":
      return error.taskId === undefined
        ? `Give the answer with --answer FIELD=VALUE`
        : `Give the answer with --answer FIELD=VALUE, or later with \`mcp-tasks answer\` for task ${error.taskId}`
    default:
      return undefined
  }
}

/**
 * The failure of a command whose request or task failed.
 *
 * @category constructors
 * @since 0.2.0
 */
export const fromClient = (error: TaskClientError.TaskClientError): CliFailure => {
  const hint = hintOf(error)
  const taskId = "taskId" in error ? error.taskId : undefined
  return new CliFailure({
    message: error.message,
    exitCode: codeOf(error),
    ...(hint === undefined ? {} : { hint }),
    ...(taskId === undefined ? {} : { taskId }),
    ...("error" in error && error.error !== undefined ? { error: { ...error.error } } : {})
  })
}

/**
 * The failure of a command that was used in a wrong way.
 *
 * @category constructors
 * @since 0.2.0
 */
export const usage = (message: string, hint?: string): CliFailure =>
  new CliFailure({ message, exitCode: 1, ...(hint === undefined ? {} : { hint }) })
