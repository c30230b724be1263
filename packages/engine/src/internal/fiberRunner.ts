/**
 * The embedded runner: one process, one fiber for each live task, all of them in the scope of the layer.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { TaskEngine } from "../TaskEngine.ts"
import * as TaskOwner from "../TaskOwner.ts"
import type { TaskRequest } from "../TaskRunner.ts"
import { TaskStore } from "../TaskStore.ts"
import { TaskTools } from "../TaskTools.ts"
import { Attempt } from "./attempt.ts"
import * as runningTasks from "./runningTasks.ts"

/** How many tasks are read at a time while taking up what an earlier process left. */
const pageSize = 100

/**
 * Makes the runner, after taking up again every task that an earlier process left live.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  const engine = yield* TaskEngine
  const store = yield* TaskStore
  const tools = yield* TaskTools
  const { run } = yield* runningTasks.make

  const takeUp = Effect.fnUntraced(function*(left: Task.Stored) {
    const started = yield* engine.apply(left, { _tag: "Start", at: yield* Clock.currentTimeMillis })
    if (Task.isTerminal(started.task)) return
    const tool = tools.get(started.task.tool)
    const call = Option.isSome(tool)
      ? yield* tool.value.call(started.task.arguments)
      : Result.fail(`The tool ${started.task.tool} no longer exists`)
    if (Result.isSuccess(call)) return yield* run(started, call.success)
    yield* new Attempt(engine, started).give({ _tag: "Fail", error: { code: -32603, message: call.failure } })
  }, Effect.catchTag(["TaskRejected", "TaskNotFound"], () => Effect.void))

  let page: ReadonlyArray<Task.Stored> = []
  do {
    page = yield* store.list({ live: true, limit: pageSize, after: page.at(-1)?.task.taskId })
    yield* Effect.forEach(page, takeUp, { discard: true })
  } while (page.length === pageSize)

  return {
    // Neither half happens without the other, however soon the caller goes away.
    submit: (request: TaskRequest) =>
      Effect.uninterruptible(
        Effect.tap(engine.create(newTask(request), { started: true }), (stored) => run(stored, request.call))
      )
  }
})

const newTask = (request: TaskRequest) => {
  const settings = Option.getOrThrow(request.tool.settings)
  return {
    owner: TaskOwner.key(request.owner),
    tool: request.tool.name,
    arguments: request.arguments,
    capabilities: request.capabilities,
    policy: settings.policy,
    ttlMs: settings.ttlMs,
    pollIntervalMs: settings.pollIntervalMs,
    journal: request.journal,
    ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent })
  }
}
