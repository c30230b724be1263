/**
 * How a command fails: with one sentence, the next step where there is one, and an exit code that scripts can tell
 * apart.
 *
 * @since 0.2.0
 */
import type * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import * as Predicate from "effect/Predicate"
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
  error: Schema.optionalKey(Schema.Json),
  /** The result of a tool that says that it failed, or that does not fit. */
  result: Schema.optionalKey(Schema.Json)
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

/**
 * A word of a command that somebody may copy into a shell, quoted where the shell would make something else of it.
 * What cannot be written there, or would be taken for a flag, is replaced by `TASK`: a server makes up its ids.
 *
 * @category text
 * @since 0.2.0
 */
export const shellWord = (text: string): string => {
  if (/^[\w.:/@%+,][\w.:/@%+=,-]*$/.test(text)) return text
  return text === "" || /^-|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text) ? "TASK" : `'${text.replaceAll("'", `'\\''`)}'`
}

/** What a failure on the way to the server suggests, whatever it was about. */
const connectionHint = ({ reason, status = 0 }: TaskClientError.TransportError): string | undefined => {
  if (status === 401) return "Set MCP_TASKS_TOKEN to a bearer token of the server"
  if (status === 403) return "The server does not let this caller in: is MCP_TASKS_TOKEN the right token?"
  if (reason === "Unreachable" || reason === "Timeout") return "Is the server running, and is the address right?"
  if (reason === "NotJson" || (status >= 300 && status < 500 && status !== 429)) {
    return "Is this the address of an MCP server? Its path is often /mcp"
  }
  return undefined
}

const transportHint = (error: TaskClientError.TransportError, server: string): string | undefined => {
  const hints = [
    connectionHint(error),
    // A server that turns its caller away, or is none, says nothing about the task.
    error.taskId === undefined || (error.status !== undefined && error.status < 500)
      ? undefined
      : `The task may go on: look again with \`mcp-tasks watch ${server} ${shellWord(error.taskId)}\``
  ].filter((hint) => hint !== undefined)
  return hints.length === 0 ? undefined : hints.join("\n")
}

const refusalHint = ({ fields, taskId }: TaskClientError.InputRefused, server: string): string | undefined => {
  const answer = fields === undefined ? undefined : "Give the answer with --answer FIELD=VALUE"
  if (taskId === undefined) return answer
  const of = `${server} ${shellWord(taskId)}`
  return answer === undefined
    ? `No flag can answer it: \`mcp-tasks answer ${of} --decline\`, or \`mcp-tasks cancel ${of}\``
    : `${answer}, or later with \`mcp-tasks answer ${of} FIELD=VALUE\``
}

const hintOf = (error: TaskClientError.TaskClientError, server: string): string | undefined => {
  switch (error._tag) {
    case "TransportError":
      return transportHint(error, server)
    case "ProtocolError":
      return error.error.code === -32602 && error.method === "tools/call"
        ? "`mcp-tasks tools` shows the tools and what they take"
        : undefined
    case "InputRefused":
      return refusalHint(error, server)
    default:
      return undefined
  }
}

/**
 * The failure of a command whose request or task failed. `server` is how the command line names the server.
 *
 * @category constructors
 * @since 0.2.0
 */
export const fromClient = (error: TaskClientError.TaskClientError, server: string): CliFailure => {
  const hint = hintOf(error, server)
  const taskId = "taskId" in error ? error.taskId : undefined
  return new CliFailure({
    message: error.message,
    exitCode: codeOf(error),
    ...(hint === undefined ? {} : { hint }),
    ...(taskId === undefined ? {} : { taskId }),
    ...("error" in error && error.error !== undefined ? { error: { ...error.error } } : {}),
    ...("result" in error ? { result: error.result } : {})
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

const messagesOf = (error: unknown): ReadonlyArray<string> => {
  if (!Predicate.isObject(error)) return error === undefined ? [] : [String(error)]
  const { cause, code, errors, message, reason } = error as Readonly<Record<string, unknown>>
  const [first] = Array.isArray(errors) ? errors : []
  const own = typeof message === "string" && message !== "" ? [message] : []
  const below = [first, cause, Predicate.isObject(reason) ? reason : undefined].flatMap((inner) =>
    inner === undefined ? [] : messagesOf(inner)
  )
  return own.length + below.length === 0 && typeof code === "string" ? [code] : [...own, ...below]
}

/**
 * Why something failed, in the words of the error and of what caused it; what is said twice is said once.
 *
 * @category text
 * @since 0.2.0
 */
export const reasonOf = (error: unknown): string =>
  messagesOf(error).reduce((said, next) => said.includes(next) ? said : said === "" ? next : `${said}: ${next}`, "")
