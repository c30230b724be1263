/**
 * `tools/call`: a task, or the tool run within the request, by the tool's policy and what this request declares.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import type * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskJournal } from "@effect-mcp-tasks/core/TaskJournal"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import type { RegisteredTool, TaskSettings, ToolCall, ToolOutcome } from "@effect-mcp-tasks/engine/TaskTools"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as callRounds from "./callRounds.ts"
import type { Services } from "./methods.ts"
import { type Failure, refuse, unknownTool } from "./refusals.ts"

/**
 * Serves `tools/call`.
 *
 * **Details**
 *
 * An unknown tool and malformed params are JSON-RPC errors. Arguments that do not fit are a result with `isError`, so
 * that the model can mend them (MCP, "Tools": error handling); no task exists then. Nor does one before everything that
 * is to be asked first has been answered (ext-tasks, "Task Creation").
 *
 * @since 0.1.0
 */
export const call = Effect.fnUntraced(function*(
  services: Services,
  request: McpRequest.AdmittedRequest
): Effect.fn.Return<string, Failure, TaskOwner.CurrentOwner> {
  yield* services.rates.call
  const { arguments: given = {}, name } = request.params
  const tool = typeof name === "string" ? services.tools.get(name) : Option.none()
  if (Option.isNone(tool)) return yield* refuse(unknownTool(name))
  if (!JsonRpc.isJsonObject(given)) return yield* refuse(WireError.invalidParams("params.arguments must be an object"))
  const { settings } = tool.value
  if (Option.isSome(settings) && settings.value.undeclared === "reject" && !request.declaresTasks) {
    return yield* refuse(WireError.tasksRequired)
  }
  const decoded = yield* tool.value.call(given)
  if (Result.isFailure(decoded)) return mistaken(decoded.failure)
  const round = yield* callRounds.begin(services.states, request, tool.value, given)
  if (Option.isSome(decoded.success.ask)) {
    const asked = yield* round.run(decoded.success.ask.value, "asking")
    if (asked._tag === "Answer") return asked.result
    if (Option.isSome(asked.value)) return yield* callRounds.finished(asked.value.value)
  }
  if (Option.isSome(settings) && request.declaresTasks && decoded.success.mode === "task") {
    const journal = yield* round.journal
    return yield* asTask(services, settings.value, { request, tool: tool.value, call: decoded.success, given, journal })
  }
  const ran = yield* round.run(decoded.success.run, "handler")
  return ran._tag === "Answer" ? ran.result : yield* callRounds.finished(ran.value)
})

interface Accepted {
  readonly request: McpRequest.AdmittedRequest
  readonly tool: RegisteredTool
  readonly call: ToolCall
  readonly given: Schema.JsonObject
  readonly journal: TaskJournal
}

/**
 * Makes a task of a call. The caller learns of every task that lives on: what becomes durable is answered with its id,
 * whatever fails from then on, and a task whose caller went away before the answer is cancelled.
 */
const asTask = Effect.fnUntraced(function*(
  services: Services,
  { inlineWithin }: TaskSettings,
  { call, given, journal, request, tool }: Accepted
): Effect.fn.Return<string, Failure, TaskOwner.CurrentOwner> {
  yield* services.rates.create
  const owner = yield* TaskOwner.CurrentOwner
  const submitted = services.runner.submit({
    owner,
    tool,
    call,
    arguments: given,
    journal,
    capabilities: request.meta.clientCapabilities,
    traceparent: request.meta.traceparent
  })
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(submitted, (stored) =>
      Effect.onInterrupt(
        restore(
          Option.isNone(inlineWithin)
            ? Effect.succeed(TaskWire.createTaskResult(stored))
            : inTime(services, stored, inlineWithin.value)
        ),
        () => abandon(services, owner, stored)
      ))
  )
})

/** The outcome of a task that ends in time, which is then forgotten; the task if it does not, or nobody can tell. */
const inTime = (
  { engine }: Services,
  stored: Task.Stored,
  within: Duration.Duration
): Effect.Effect<string, Failure> =>
  Effect.gen(function*() {
    const ended = yield* engine.awaitEnd(stored.task.taskId, within)
    if (Option.isNone(ended)) return Effect.succeed(TaskWire.createTaskResult(stored))
    const outcome = outcomeOf(ended.value.task)
    if (Option.isNone(outcome)) return Effect.succeed(TaskWire.createTaskResult(ended.value))
    yield* engine.forget(ended.value)
    return callRounds.finished(outcome.value)
  }).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : logged("A task could not be answered inline", stored, cause).pipe(
          Effect.as(Effect.succeed(TaskWire.createTaskResult(stored)))
        )
    ),
    Effect.flatten
  )

/** Nobody knows of the task: it is stopped like the plain call that it was to its caller. */
const abandon = ({ engine }: Services, owner: TaskOwner.TaskOwner, stored: Task.Stored): Effect.Effect<void> =>
  engine.cancel(owner, stored.task.taskId).pipe(
    Effect.catchTag("TaskNotFound", () => Effect.void),
    Effect.catchCause((cause) => logged("A task whose caller went away could not be cancelled", stored, cause))
  )

const logged = (what: string, { task: { taskId } }: Task.Stored, cause: Cause.Cause<unknown>) =>
  Effect.annotateLogs(Effect.logError(what, cause), { taskId })

/** A call cannot be answered as cancelled: whoever cancelled it asks for the task. */
const outcomeOf = (task: Task.TerminalTask): Option.Option<ToolOutcome> => {
  switch (task.status) {
    case "completed":
      return Option.some({ _tag: "Result", result: task.result, isError: task.isError })
    case "failed":
      return Option.some({ _tag: "Error", error: task.error })
    case "cancelled":
      return Option.none()
  }
}

const mistaken = (message: string): string =>
  JSON.stringify({ resultType: "complete", ...TaskTool.error(message) })
