/**
 * What must hold of every answer that a client gets.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import type * as Schema from "effect/Schema"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import type { RuleName, Violation } from "./Audit.ts"
import type { Process } from "./Process.ts"
import type { Lack } from "./Scenario.ts"
import type { TaskFile, Version } from "./TaskFile.ts"
import { needsTasks } from "./Tools.ts"

type Found = ReadonlyArray<Violation>

const none: Found = []

const breach = (rule: RuleName, detail: string): Found => [{ rule, detail }]

/**
 * The answer to a request.
 *
 * @since 0.1.0
 */
export type Answer =
  | { readonly result: Schema.JsonObject }
  | { readonly error: { readonly code: number; readonly message: string } }

/**
 * A request of a client that was answered.
 *
 * @since 0.1.0
 */
export interface Exchange {
  /** The key of the owner that it acts for. */
  readonly owner: string
  readonly method: string
  readonly params: Schema.JsonObject
  /** Who served it, and when it was sent, in milliseconds of the world. */
  readonly server: Process
  readonly sentMs: number
  /** What its task was while it was on its way. */
  readonly window: ReadonlyArray<Version>
  readonly answer: Answer
}

/**
 * Judges an answer about a task.
 *
 * @since 0.1.0
 */
export const judge = (exchange: Exchange, file: TaskFile): Found => {
  const { answer, method } = exchange
  if ("error" in answer && answer.error.message === "Internal error") return breach("defect", `${method} broke`)
  if (method === "tools/call") return created(exchange, file)
  const owners = exchange.window.flatMap(({ stored }) => stored === undefined ? [] : [stored.task.owner])
  if (owners.length > 0 && !owners.includes(exchange.owner)) return foreign(exchange, file)
  if ("error" in answer) return refused(exchange, file)
  switch (method) {
    case "tasks/get":
      return seen(exchange, file)
    case "tasks/update":
      return updated(exchange, file)
    default:
      return cancelled(file)
  }
}

/** What a request has of itself before it is answered. */
interface Undeclared extends Pick<Exchange, "method" | "params"> {
  readonly lacks: Lack | undefined
}

/** Judges an answer by what its client does not declare: it is not asked, and has nothing to do with tasks. */
export const undeclared = ({ lacks, method, params }: Undeclared, answer: Answer): Found => {
  const { inputRequests = {}, resultType } = "result" in answer ? answer.result : {}
  const isAsked = Object.keys(Object(inputRequests)).length > 0
  if (lacks === "elicitation") return isAsked ? breach("asked-undeclared", `${method} shows a question`) : none
  if (lacks === undefined) return none
  const code = "error" in answer ? answer.error.code : undefined
  const isNeeded = method !== "tools/call" || needsTasks.some((name) => name === params["name"])
  const isRight = code === -32603 || (isNeeded ? code === -32021 : code !== -32021 && resultType !== "task")
  return isRight ? none : breach("task-undeclared", `${method} is answered with ${code ?? String(resultType)}`)
}

const created = ({ answer, owner }: Exchange, file: TaskFile): Found => {
  if (!("result" in answer) || answer.result["resultType"] !== "task") return none
  const stored = file.versions.find((version) => version.stored !== undefined)?.stored
  if (stored === undefined) return breach("create-lost", `${file.name} was never stored`)
  return stored.task.owner === owner ? none : breach("owner-leak", `${file.name} was created for another owner`)
}

const foreign = ({ answer, method }: Exchange, file: TaskFile): Found =>
  "error" in answer && (answer.error.code === -32602 || answer.error.code === -32603)
    ? none
    : breach("owner-leak", `${method} of ${file.name} was answered to another owner`)

/** Whether, by the clock of a server, a task may have been forgotten at some time of a window. */
const isForgettable = (window: ReadonlyArray<Version>, server: Process): boolean =>
  window.length === 0 ||
  window.some(({ stored }) =>
    stored === undefined ||
    (TaskInvariants.hasEnded(stored.task) && TaskInvariants.isOver(stored.task, server.latest))
  )

const refused = ({ answer, params, server, window }: Exchange, file: TaskFile): Found => {
  if ("result" in answer || !answer.error.message.includes("Task not found")) {
    return "error" in answer && isUnfit(answer.error, params) ? none : unexpected(answer, file)
  }
  return isForgettable(window, server) ? none : breach("create-lost", `${file.name} was not found by its owner`)
}

/** Whether an answer was refused that its user knows to be wrong. */
const isUnfit = (error: { readonly message: string }, params: Schema.JsonObject): boolean =>
  error.message.includes("does not fit") && JSON.stringify(params["inputResponses"]).includes("unfit")

const unexpected = (answer: Answer, file: TaskFile): Found =>
  "error" in answer && (answer.error.code !== -32603)
    ? breach("defect", `${file.name} was refused with ${JSON.stringify(answer.error)}`)
    : none

/** A poll shows what the task was at one moment between the question and the answer. */
const seen = ({ answer, sentMs, server, window }: Exchange, file: TaskFile): Found => {
  if (!("result" in answer)) return none
  const { _meta, ...task } = answer.result
  const shown = JSON.stringify(task)
  const stored = window.find(({ stored }) => stored !== undefined && shown === view(stored.task))?.stored
  if (stored === undefined) return breach("stale-read", `${file.name} was shown as ${shown}`)
  return !TaskInvariants.hasEnded(stored.task) && TaskInvariants.isOver(stored.task, server.earliest(sentMs))
    ? breach("expired-late", `${file.name} was shown as ${stored.task.status}`)
    : none
}

const view = (task: Task.Task): string =>
  JSON.stringify(JSON.parse(
    TaskWire.getTaskResult(TaskWire.encodeHead(task), task.status === "completed" ? task.result : undefined)
  ))

/** An acknowledged answer leaves no question open that was open all the while. */
const updated = ({ params, window }: Exchange, file: TaskFile): Found =>
  Object.keys(Object(params["inputResponses"])).flatMap((key) => {
    const isOpen = ({ stored }: Version) =>
      stored?.task.questions.some((question) => question.key === key && question.state === "outstanding") === true
    return window.length > 0 && window.every(isOpen)
      ? breach("answer-lost", `${key} of ${file.name} is still open`)
      : none
  })

const cancelled = (file: TaskFile): Found => {
  const task = file.now
  return task === undefined || TaskInvariants.hasEnded(task) || (task.status === "working" && task.cancelRequested)
    ? none
    : breach("cancel-lost", `${file.name} is ${task.status}`)
}

/**
 * What one client has seen of a task, for comparing it with what it sees next.
 *
 * @since 0.1.0
 */
export interface Sight {
  readonly status: string
  readonly lastUpdatedAt: string
  readonly text: string
}

/**
 * Judges what a client sees of a task after what it saw before.
 *
 * @since 0.1.0
 */
export const compare = (before: Sight, after: Sight, file: TaskFile): Found => {
  const hasEnded = before.status !== "working" && before.status !== "input_required"
  const change = `${file.name}: ${before.text}, ${after.text}`
  if (hasEnded && before.text !== after.text) return breach("terminal-left", change)
  return Date.parse(after.lastUpdatedAt) < Date.parse(before.lastUpdatedAt)
    ? breach("time-reversed", change)
    : none
}
