/**
 * What must hold of a call through the client library: what it sends and when, and what it gives to its caller.
 *
 * @since 0.2.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import type * as Schema from "effect/Schema"
import type { RuleName, Violation } from "./Audit.ts"
import type { CallFile } from "./CallFile.ts"
import type { TaskFile } from "./TaskFile.ts"

type Found = ReadonlyArray<Violation>

const none: Found = []

const breach = (rule: RuleName, detail: string): Found => [{ rule, detail }]

/**
 * A request of the library.
 *
 * @since 0.2.0
 */
export interface Request {
  readonly method: string
  readonly params: Schema.JsonObject
  /** Milliseconds of the world. */
  readonly nowMs: number
}

/** The part of an interval that a clock which goes wrong by a hundredth leaves of it. */
const slack = 0.98

/** The shortest time between two tries to listen, in milliseconds. */
const listenMs = 500

/**
 * Judges a request that goes out.
 *
 * @since 0.2.0
 */
export const sends = (request: Request, file: CallFile): Found => {
  const { method } = request
  const { name } = file
  if (method === "tools/call") return calls(request, file)
  if (!method.startsWith("tasks/") && method !== "subscriptions/listen") return none
  if (file.isOver) return breach("asked-after-end", `${name} is over, and sends ${method}`)
  switch (method) {
    case "tasks/get":
      return polls(request, file)
    case "tasks/update":
      return answers(request, file)
    case "tasks/cancel":
      return file.wish === "cancel" ? none : breach("cancel-unwanted", name)
    default:
      return request.nowMs - file.listenedMs < listenMs * slack ? breach("polled-early", `${name} listens again`) : none
  }
}

const calls = ({ nowMs }: Request, { calls, name, wishMs }: CallFile): Found => {
  if (calls > 0) return breach("call-repeated", name)
  return nowMs > wishMs ? breach("asked-after-end", `${name} calls its tool, and was interrupted before`) : none
}

const polls = ({ nowMs }: Request, file: CallFile): Found => {
  const { excuses, isEndKnown, name, pollMs, polledMs, seenMs } = file
  if (isEndKnown) return breach("asked-after-end", `${name} polls a task whose end it knows`)
  const sinceMs = nowMs - Math.max(polledMs, seenMs)
  return sinceMs >= pollMs * slack || excuses > 0 ? none : breach("polled-early", `${name} after ${sinceMs} ms`)
}

const answers = ({ params }: Request, file: CallFile): Found =>
  Object.entries(Object(params["inputResponses"])).flatMap(([key, response]) => {
    const given = file.answers.get(key)
    if (given === undefined) return none
    const text = JSON.stringify(response)
    if (given.text !== text) return breach("answered-twice", `${file.name}, ${key}: ${given.text}, then ${text}`)
    return given.isTaken ? breach("answered-twice", `${file.name} sends ${key} again after it was taken`) : none
  })

/**
 * Judges that a user is asked.
 *
 * @since 0.2.0
 */
export const asks = (key: string, file: CallFile): Found =>
  file.asked.get(key) === file.lives || file.answers.has(key)
    ? breach("answered-twice", `${file.name} asks its user for ${key} again`)
    : none

/** How long a user may be busy with a question that was just shown to be closed, in milliseconds. */
const noticeMs = 1_000

/**
 * Judges that a user, whom nobody has interrupted, has done with a question.
 *
 * @since 0.2.0
 */
export const replies = (key: string, { name, shown }: CallFile, nowMs: number): Found =>
  nowMs - (shown.get(key) ?? nowMs) > noticeMs ? breach("asked-in-vain", `${name} asks for ${key} on`) : none

/**
 * Judges that a cancel has failed for whoever asked for it.
 *
 * @since 0.2.0
 */
export const cancelFails = (error: TaskClientError.RequestError, file: CallFile, nowMs: number): Found =>
  TaskClientError.isTransient(error) && isImpatient("tasks/cancel", file, nowMs)
    ? breach("given-up-early", `${file.name}: ${error.message}`)
    : none

/**
 * Judges a view of the task that is shown after the last one.
 *
 * @since 0.2.0
 */
export const shows = (view: TaskView.TaskView, file: CallFile): Found => {
  const { lastView: last, name } = file
  if (last === undefined) return none
  const isOlder = (view.lastUpdatedAt ?? 0) < (last.lastUpdatedAt ?? 0) && !TaskView.isTerminal(view)
  return TaskView.isTerminal(last) || isOlder
    ? breach("view-reversed", `${name} shows ${view.status} after ${last.status}`)
    : none
}

/**
 * How a call ended for its caller.
 *
 * @since 0.2.0
 */
export type CallEnd =
  | { readonly _tag: "Value"; readonly value: TaskClientError.ToolResult }
  | { readonly _tag: "Error"; readonly error: TaskClientError.TaskClientError }
  /** Whoever was to answer failed. */
  | { readonly _tag: "UserFailed" }
  | { readonly _tag: "Interrupted" }

/**
 * When and where a call ended.
 *
 * @since 0.2.0
 */
export interface Ended {
  readonly file: CallFile
  /** Its task, where it has one. */
  readonly task: TaskFile | undefined
  readonly nowMs: number
  /** What the client's clock shows. */
  readonly time: number
}

/**
 * Judges how a call ended.
 *
 * @since 0.2.0
 */
export const ends = (end: CallEnd, ended: Ended): Found => {
  const { file } = ended
  switch (end._tag) {
    case "Value":
      return gives(end.value, ended)
    case "Error":
      return fails(end.error, ended)
    case "UserFailed":
      return stopped(file)
    case "Interrupted":
      return file.wish === undefined ? breach("outcome-wrong", `${file.name} was interrupted by nobody`) : stopped(file)
  }
}

/** A call that nobody wants any more has its task cancelled, if it knows of it, unless it is to be left. */
const stopped = ({ cancels, name, taskId, wish }: CallFile): Found =>
  wish === "cancel" && taskId !== undefined && cancels === 0 ? breach("cancel-forgotten", name) : none

const gives = (value: TaskClientError.ToolResult, { file, task }: Ended): Found => {
  const wrong = (is: string) => breach("outcome-wrong", `${file.name} gives ${JSON.stringify(value)}, and is ${is}`)
  if (task === undefined) {
    const { direct } = file
    return direct !== undefined && "result" in direct && isSame(value, direct.result) ? none : wrong(said(direct))
  }
  const { last } = task
  if (last?.status !== "completed" || last.isError) return wrong(last?.status ?? "nothing")
  return isSame(value, JSON.parse(last.result)) ? none : wrong(last.result)
}

const said = (value: unknown): string => JSON.stringify(value) ?? "nothing"

const isSame = (value: TaskClientError.ToolResult, result: Schema.JsonObject): boolean =>
  said(value.structuredContent) === said(result["structuredContent"]) && said(value.content) === said(result["content"])

/** How long failures must have lasted at least for a call to be given up, as a part of the patience. */
const leastPart = 1 / 3

const fails = (error: TaskClientError.TaskClientError, ended: Ended): Found => {
  const { file, nowMs, task, time } = ended
  const last = task?.last
  const wrong = () => breach("outcome-wrong", `${file.name} fails with ${error._tag}, and is ${said(last?.status)}`)
  switch (error._tag) {
    case "TaskFailed": {
      const isSo = last?.status === "failed" && last.error.code === error.error.code &&
        last.error.message === error.error.message
      return isSo ? none : wrong()
    }
    case "TaskCancelled":
      return last?.status === "cancelled" ? none : wrong()
    case "ToolError":
      return toolFails(error.result, ended) ? none : wrong()
    case "TaskExpired": {
      const isOver = file.ttlMs !== null && time > file.firstSeenAt + file.ttlMs
      return file.isGone || isOver ? none : wrong()
    }
    case "TransportError":
    case "ProtocolError":
      if (task === undefined) return file.direct !== undefined && "result" in file.direct ? wrong() : none
      if (isUnfit(error, file)) return none
      return isImpatient(error.method, file, nowMs) ? breach("given-up-early", `${file.name}: ${error.message}`) : none
    default:
      return breach("outcome-wrong", `${file.name} fails with ${error._tag}: ${error.message}`)
  }
}

const toolFails = (result: TaskClientError.ToolResult, { file: { direct }, task }: Ended): boolean => {
  if (task === undefined) return direct !== undefined && "result" in direct && isSame(result, direct.result)
  const { last } = task
  return last?.status === "completed" && last.isError && isSame(result, JSON.parse(last.result))
}

/** The user of this call gives an answer that the server does not take. */
const isUnfit = (error: TaskClientError.TaskClientError, { call }: CallFile): boolean =>
  call.manner === "wrong" && error._tag === "ProtocolError" && error.method === "tasks/update" &&
  error.error.message.includes("does not fit")

const isImpatient = (method: string, { failingSinceMs, patienceMs }: CallFile, nowMs: number): boolean =>
  !Array.from(failingSinceMs).some(([kind, sinceMs]) =>
    kind.startsWith(method) && nowMs - sinceMs >= patienceMs * leastPart
  )

/**
 * What a request is one of, for telling how long such requests have failed.
 *
 * @since 0.2.0
 */
export const kindOf = (method: string, params: Schema.JsonObject): string => {
  const { inputResponses } = params
  return JsonRpc.isJsonObject(inputResponses) ? `${method} ${Object.keys(inputResponses).join(" ")}` : method
}
