/**
 * A task as its client sees it, read from whatever a server sends.
 *
 * Guarantee: reading is total and lenient. Unknown members are ignored, an unknown status reads as `working`, a wrong
 * `resultType` is let through (the specification's own examples have one), and a malformed optional member reads as
 * absent. Only what a client cannot go on without is refused: a task without an id, or a completed one without its
 * result.
 *
 * Source: ext-tasks, "Task Polling" and "Task Status Notifications".
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as isoInstant from "./internal/isoInstant.ts"
import { jsonEqual } from "./internal/jsonEqual.ts"
import { isJsonObject } from "./JsonRpc.ts"
import * as WireError from "./WireError.ts"

/**
 * A question that a server puts to its client. The method is any text: what is not known cannot be answered, and is
 * shown all the same.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequest {
  readonly method: string
  readonly params: Schema.JsonObject | undefined
}

/**
 * What a view has whatever its status. Instants are epoch milliseconds of the server's clock, durations milliseconds;
 * `undefined` where the server did not say, or not readably.
 *
 * @category models
 * @since 0.1.0
 */
export interface Base {
  readonly taskId: string
  readonly statusMessage: string | undefined
  readonly createdAt: number | undefined
  readonly lastUpdatedAt: number | undefined
  /** `null` is no limit. */
  readonly ttlMs: number | null | undefined
  /** As sent, and so perhaps absurd: `TaskObserver` bounds it. */
  readonly pollIntervalMs: number | undefined
}

/**
 * A task that is at work, or whose status is not known here.
 *
 * @category models
 * @since 0.1.0
 */
export interface Working extends Base {
  readonly status: "working"
}

/**
 * A task that waits for its client. `inputRequests` holds every outstanding question by its key.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequired extends Base {
  readonly status: "input_required"
  readonly inputRequests: ReadonlyMap<string, InputRequest>
}

/**
 * A task that ended with a result, which may be a tool's error (`isError`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Completed extends Base {
  readonly status: "completed"
  readonly result: Schema.JsonObject
}

/**
 * A task that ended with a JSON-RPC error, as the server gave it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failed extends Base {
  readonly status: "failed"
  readonly error: WireError.WireError
}

/**
 * A task that was cancelled.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cancelled extends Base {
  readonly status: "cancelled"
}

/**
 * A task that has ended. It never changes again.
 *
 * @category models
 * @since 0.1.0
 */
export type Terminal = Completed | Failed | Cancelled

/**
 * A task as its client sees it.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskView = Working | InputRequired | Terminal

/**
 * Tells whether a task has ended.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTerminal = (view: TaskView): view is Terminal =>
  view.status !== "working" && view.status !== "input_required"

const text = (value: Schema.Json | undefined): string | undefined => typeof value === "string" ? value : undefined

const instant = (value: Schema.Json | undefined): number | undefined =>
  typeof value === "string" ? isoInstant.parse(value) : undefined

/** Some servers write numbers as text. */
const number = (value: Schema.Json | undefined): number | undefined => {
  const read = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return typeof read === "number" && !Number.isNaN(read) ? read : undefined
}

const ttl = (value: Schema.Json | undefined): number | null | undefined => {
  if (value === null) return null
  const read = number(value)
  return read !== undefined && read >= 0 ? read : undefined
}

const base = (json: Schema.JsonObject, taskId: string): Base => ({
  taskId,
  statusMessage: text(json["statusMessage"]),
  createdAt: instant(json["createdAt"]),
  lastUpdatedAt: instant(json["lastUpdatedAt"]),
  ttlMs: ttl(json["ttlMs"]),
  pollIntervalMs: number(json["pollIntervalMs"])
})

/**
 * Reads the questions of an `inputRequests` object; what is no request at all is left out.
 *
 * @category decoding
 * @since 0.1.0
 */
export const readInputRequests = (json: Schema.Json | undefined): ReadonlyMap<string, InputRequest> => {
  const requests = new Map<string, InputRequest>()
  for (const [key, request] of isJsonObject(json) ? Object.entries(json) : []) {
    if (!isJsonObject(request) || typeof request["method"] !== "string") continue
    const { params } = request
    requests.set(key, { method: request["method"], params: isJsonObject(params) ? params : undefined })
  }
  return requests
}

/**
 * Reads a JSON-RPC error object. One without a code is an internal error, one without a message has a general one.
 *
 * @category decoding
 * @since 0.1.0
 */
export const readError = (json: Schema.Json | undefined): WireError.WireError => {
  const { code, data, message } = isJsonObject(json) ? json : {}
  const error = {
    code: typeof code === "number" && Number.isSafeInteger(code) ? code : WireError.Code.InternalError,
    message: text(message) ?? "The server gave no reason"
  }
  return data === undefined ? error : { ...error, data }
}

/**
 * Reads the answer to `tasks/get` or the params of `notifications/tasks`; a failure says in words what is missing.
 *
 * @category decoding
 * @since 0.1.0
 */
export const read = (json: Schema.Json | undefined): Result.Result<TaskView, string> => {
  if (!isJsonObject(json) || typeof json["taskId"] !== "string") return Result.fail("a task without taskId")
  const common = base(json, json["taskId"])
  switch (json["status"]) {
    case "input_required":
      return Result.succeed({
        ...common,
        status: "input_required",
        inputRequests: readInputRequests(json["inputRequests"])
      })
    case "completed":
      return isJsonObject(json["result"])
        ? Result.succeed({ ...common, status: "completed", result: json["result"] })
        : Result.fail("a completed task without result")
    case "failed":
      return Result.succeed({ ...common, status: "failed", error: readError(json["error"]) })
    case "cancelled":
      return Result.succeed({ ...common, status: "cancelled" })
    default:
      return Result.succeed({ ...common, status: "working" })
  }
}

/**
 * Reads a `CreateTaskResult`.
 *
 * **Details**
 *
 * It has the status but never what goes with it, so every task reads as `working` here; the first poll tells the rest.
 *
 * @category decoding
 * @since 0.1.0
 */
export const readCreated = (json: Schema.Json | undefined): Result.Result<Working, string> =>
  isJsonObject(json) && typeof json["taskId"] === "string"
    ? Result.succeed({ ...base(json, json["taskId"]), status: "working" })
    : Result.fail("a task without taskId")

/** The questions as one JSON value, for comparison. */
const asJson = (requests: ReadonlyMap<string, InputRequest>): Schema.Json =>
  Array.from(requests, ([key, { method, params = null }]) => [key, method, params])

/** What goes with the status. */
const payload = (view: TaskView): Schema.Json => {
  switch (view.status) {
    case "input_required":
      return asJson(view.inputRequests)
    case "completed":
      return view.result
    case "failed": {
      const { code, data = null, message } = view.error
      return [code, message, data]
    }
    default:
      return null
  }
}

/**
 * Tells whether two views show the same to a user: status, message, and what goes with the status. Times and hints do
 * not count.
 *
 * @category equality
 * @since 0.1.0
 */
export const isSame = (self: TaskView, that: TaskView): boolean =>
  self === that ||
  (self.taskId === that.taskId && self.status === that.status && self.statusMessage === that.statusMessage &&
    jsonEqual(payload(self), payload(that)))
