/**
 * What goes wrong behind the protocol, as the one JSON-RPC error that says it to a caller.
 *
 * @since 0.1.0
 */
import * as WireError from "@effect-mcp-tasks/core/WireError"
import type * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import type * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as outage from "./outage.ts"
import type { TooOften } from "./ownerRates.ts"

/**
 * Everything that serving a request may fail with.
 *
 * @since 0.1.0
 */
export type Failure =
  | Refused
  | TaskEngine.TaskNotFound
  | TaskEngine.InvalidAnswer
  | TaskStore.TaskStoreError
  | TaskStore.TaskAlreadyExists
  | TaskStore.TooManyTasks
  | TooOften

/**
 * A refusal that is already in the protocol's words.
 *
 * @since 0.1.0
 */
export interface Refused {
  readonly _tag: "Refused"
  readonly error: WireError.WireError
}

/**
 * Refuses a request in the protocol's words.
 *
 * @since 0.1.0
 */
export const refuse = (error: WireError.WireError): Effect.Effect<never, Refused> =>
  Effect.fail({ _tag: "Refused", error })

/**
 * Makes what tells the log of a store that fails requests.
 *
 * @since 0.2.0
 */
export const storeOutage = (): outage.Outage =>
  outage.make({
    broken: "Requests cannot be served, since the task store fails; they are refused until it works",
    again: "A request could not be served",
    mended: "Requests that need the task store are served again"
  })

/**
 * The JSON-RPC error for a failure. What is the server's own fault is logged with its cause and told without it; where
 * it concerns all requests of a kind and not only this one, it goes to `away`.
 *
 * @since 0.1.0
 */
export const toWireError = (
  failure: Failure,
  away: (error: TaskStore.TaskStoreError) => Effect.Effect<void>
): Effect.Effect<WireError.WireError> => {
  switch (failure._tag) {
    case "Refused":
      return Effect.succeed(failure.error)
    case "TaskNotFound":
      return Effect.succeed(taskNotFound("retrieve"))
    case "InvalidAnswer":
      return Effect.succeed(WireError.invalidParams(`The answer to ${failure.key} does not fit: ${failure.message}`))
    case "TooManyTasks":
      return Effect.succeed(
        WireError.internalError(`Too many unfinished tasks: ${failure.limit} are allowed. Finish or cancel some first`)
      )
    case "TooOften":
      return Effect.succeed(tooOften(failure))
    case "TaskStoreError":
      return Effect.as(
        failure.isPermanent ? unserved(failure) : away(failure),
        failure.reason === "Corrupt" ? unreadable : storeFailed
      )
    case "TaskAlreadyExists":
      return Effect.as(unserved(failure), storeFailed)
  }
}

const unserved = (failure: Failure): Effect.Effect<void> => Effect.logError("A request could not be served", failure)

/**
 * The JSON-RPC error for a defect.
 *
 * @since 0.1.0
 */
export const defect = (cause: Cause.Cause<never>): Effect.Effect<WireError.WireError> =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.interrupt
    : Effect.as(Effect.logError("A request broke", cause), WireError.internalError("Internal error"))

const tooOften = ({ rate, retryAfter, what }: TooOften): WireError.WireError => {
  const window = Duration.format(Duration.fromInputUnsafe(rate.window))
  const retryAfterMs = Math.ceil(Duration.toMillis(retryAfter))
  const wait = Duration.format(Duration.millis(retryAfterMs))
  return {
    ...WireError.internalError(`Too many ${what}: ${rate.limit} in ${window} are allowed. Try again in ${wait}`),
    data: { retryAfterMs }
  }
}

/**
 * The same words for what does not exist, what is forgotten and what belongs to somebody else, after what was to be
 * done with it (ext-tasks, "Error Handling").
 *
 * @since 0.2.0
 */
export const taskNotFound = (verb: "retrieve" | "update" | "cancel"): WireError.WireError =>
  WireError.invalidParams(`Failed to ${verb} task: Task not found`)

/**
 * Refuses a call of a tool that is not there, by its name where that may be shown (MCP, "Tools": error handling).
 *
 * @since 0.2.0
 */
export const unknownTool = (name: Schema.Json | undefined): WireError.WireError => {
  if (typeof name !== "string" || name === "") return WireError.invalidParams("params.name is not the name of a tool")
  const shown = name.slice(0, maxName).replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, "\ufffd")
  return WireError.invalidParams(`Unknown tool: ${shown}${name.length > maxName ? "..." : ""}`)
}

/** No tool has a longer name. */
const maxName = 128

const storeFailed = WireError.internalError("The server cannot reach its tasks at the moment")

/** That is so for one task, and trying again does not help. */
const unreadable = WireError.internalError("The server cannot read this task: its record is damaged")
