/**
 * The embedded runner: one process, one fiber for each live task, all of them in the scope of the layer.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import { isTerminal } from "@effect-mcp-tasks/core/Task"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { CurrentTask } from "../CurrentTask.ts"
import { TaskEngine } from "../TaskEngine.ts"
import { TaskLimits } from "../TaskLimits.ts"
import * as TaskOwner from "../TaskOwner.ts"
import type { TaskRequest } from "../TaskRunner.ts"
import { TaskSignal } from "../TaskSignal.ts"
import { TaskStore } from "../TaskStore.ts"
import { type ToolCall, type ToolOutcome, TaskTools } from "../TaskTools.ts"
import { Attempt, type AttemptCommand, patiently } from "./attempt.ts"
import * as taskHandle from "./taskHandle.ts"

/** How long a running handler may go without hearing that its task was cancelled, when every signal is lost. */
const heartbeat = Duration.seconds(30)

/** How many tasks are read at a time while taking up what an earlier process left. */
const pageSize = 100

interface Running {
  readonly attempt: Attempt
  readonly fiber: Fiber.Fiber<ToolOutcome>
}

/**
 * Makes the runner, after taking up again every task that an earlier process left live.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  const engine = yield* TaskEngine
  const store = yield* TaskStore
  const tools = yield* TaskTools
  const limits = yield* TaskLimits
  const signal = yield* TaskSignal
  const handlers = yield* Scope.make()
  const running = new Map<string, Running>()

  const finish = (attempt: Attempt, exit: Exit.Exit<ToolOutcome>) => {
    const command = ending(attempt, exit)
    return Effect.ensuring(
      Option.isNone(command) ? Effect.void : attempt.give(command.value),
      Effect.sync(() => running.delete(attempt.task.taskId))
    )
  }

  const run = Effect.fnUntraced(function*(stored: Stored, call: ToolCall) {
    const attempt = new Attempt(engine, stored)
    const fiber = yield* call.run.pipe(
      Effect.provideService(CurrentTask, taskHandle.make(attempt, limits)),
      Effect.onExit((exit) => finish(attempt, exit)),
      Effect.forkIn(handlers)
    )
    running.set(stored.task.taskId, { attempt, fiber })
  })

  const submit = (request: TaskRequest) =>
    Effect.uninterruptible(
      Effect.tap(engine.create(newTask(request), { started: true }), (stored) => run(stored, request.call))
    )

  /** Looks at a task that runs here, and stops its handler when it is no longer wanted. */
  const look = Effect.fnUntraced(function*({ attempt, fiber }: Running) {
    const stored = yield* patiently(store.read(attempt.task.taskId), () => attempt.standing === "current")
    if (Option.isSome(stored)) attempt.see(stored.value)
    else attempt.standing = "superseded"
    if (attempt.standing !== "current") fiber.interruptUnsafe()
  }, Effect.catchTag("TaskStoreError", () => Effect.void))

  const takeUp = Effect.fnUntraced(function*(left: Stored) {
    const started = yield* engine.apply(left, { _tag: "Start", at: yield* Clock.currentTimeMillis })
    if (isTerminal(started.task)) return
    const tool = tools.get(started.task.tool)
    const call = Option.isSome(tool)
      ? yield* tool.value.call(started.task.arguments)
      : Result.fail(`The tool ${started.task.tool} no longer exists`)
    if (Result.isSuccess(call)) return yield* run(started, call.success)
    yield* new Attempt(engine, started).give({ _tag: "Fail", error: { code: -32603, message: call.failure } })
  }, Effect.catchTag(["TaskRejected", "TaskNotFound"], () => Effect.void))

  const takeUpAll = Effect.gen(function*() {
    let page: ReadonlyArray<Stored> = []
    do {
      page = yield* store.list({ live: true, limit: pageSize, after: page.at(-1)?.task.taskId })
      yield* Effect.forEach(page, takeUp, { discard: true })
    } while (page.length === pageSize)
  })

  // Handlers have a scope of their own, since each must know that its process goes away before it is interrupted.
  yield* Effect.addFinalizer((exit) => Effect.suspend(() => {
    for (const { attempt } of running.values()) if (attempt.standing === "current") attempt.standing = "released"
    return Scope.close(handlers, exit)
  }))
  const subscription = yield* signal.subscribe
  yield* takeUpAll
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(PubSub.take(subscription), (taskId) => {
    const here = running.get(taskId)
    return here === undefined ? Effect.void : look(here)
  })))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(
    Effect.suspend(() => Effect.forEach([...running.values()], look, { discard: true })),
    heartbeat
  )))
  return { submit }
})

/** What an attempt that has ended says of it; nothing when it has lost the right to. */
const ending = (attempt: Attempt, exit: Exit.Exit<ToolOutcome>): Option.Option<AttemptCommand> => {
  if (Exit.isSuccess(exit)) {
    const outcome = exit.value
    return Option.some(
      outcome._tag === "Result"
        ? { _tag: "Complete", result: outcome.result, isError: outcome.isError }
        : { _tag: "Fail", error: outcome.error }
    )
  }
  switch (attempt.standing) {
    case "superseded":
      return Option.none()
    case "released":
      return Option.some({ _tag: "Release" })
    default:
      return Option.some({ _tag: "Stop" })
  }
}

const newTask = (request: TaskRequest) => {
  const settings = Option.getOrThrow(request.tool.settings)
  return {
    owner: TaskOwner.key(request.owner),
    tool: request.tool.name,
    arguments: request.arguments,
    capabilities: request.capabilities as Schema.JsonObject,
    policy: settings.policy,
    ttlMs: settings.ttlMs,
    pollIntervalMs: settings.pollIntervalMs,
    ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent })
  }
}
