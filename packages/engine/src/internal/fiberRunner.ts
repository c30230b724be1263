/**
 * The embedded runner: one process, one fiber for each live task, all of them in the scope of the layer.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { TaskEngine } from "../TaskEngine.ts"
import type { TaskRequest } from "../TaskRunner.ts"
import { TaskStore } from "../TaskStore.ts"
import { TaskTools, type ToolCall } from "../TaskTools.ts"
import * as newTask from "./newTask.ts"
import * as runningTasks from "./runningTasks.ts"
import { Slots } from "./slots.ts"
import * as storedCall from "./storedCall.ts"

/** How many tasks are read at a time while taking up what an earlier process left. */
const pageSize = 100

const heartbeat = Duration.seconds(30)

/**
 * Makes the runner, after taking up again every task that an earlier process left live.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  const engine = yield* TaskEngine
  const store = yield* TaskStore
  const tools = yield* TaskTools
  // Every task that was accepted runs: what limits them is how many may be accepted.
  const slots = new Slots(Number.POSITIVE_INFINITY)
  const running = yield* runningTasks.make({ slots, heartbeat, onReleased: () => Effect.void })
  yield* Effect.addFinalizer(() => running.drain(Duration.zero))

  // Nothing of a request outlives it: not its sockets, which a parked handler would hold for days, and nothing that a
  // handler could rely on but would miss after a restart.
  const surroundings = yield* Effect.context<never>()
  const run = (stored: Task.Stored, call: ToolCall) => {
    const seat = slots.tryTake()
    if (seat === undefined) return Effect.die("There is always a slot")
    return Effect.updateContext(running.run(stored, call, seat), (_: Context.Context<never>) => surroundings)
  }

  // So named, a `Start` that is given again since its answer was lost is the same one, and no lost attempt.
  const worker = String(yield* Random.next)
  const take = Effect.fnUntraced(function*(left: Task.Stored) {
    return yield* engine.apply(left, { _tag: "Start", at: yield* engine.now, after: left.task.attempt, worker })
  })
  const takeUp = Effect.fnUntraced(function*(left: Task.Stored) {
    const started = yield* running.patiently(take(left), () => !running.isDraining)
    if (Task.isTerminal(started.task)) return
    const call = yield* storedCall.decode(tools, started.task)
    yield* Result.isSuccess(call) ? run(started, call.success) : running.fail(started, call.failure)
  }, Effect.catchTag(["TaskRejected", "TaskNotFound"], () => Effect.void))

  /** One task that breaks whatever takes it up must not keep the process from starting, and serving all the others. */
  const takeUpEach = (left: Task.Stored) =>
    Effect.catchCauseIf(takeUp(left), storedCall.isOfTheTask, (cause) => storedCall.leave(left.task.taskId, cause))

  let page: ReadonlyArray<Task.Stored> = []
  do {
    page = yield* store.list({ live: true, limit: pageSize, after: page.at(-1)?.task.taskId })
    // At once: a store that commits what comes together does so, and nobody is served before the last of them.
    yield* Effect.forEach(page, takeUpEach, { concurrency: "unbounded", discard: true })
  } while (page.length === pageSize)

  return {
    // Neither half happens without the other, however soon the caller goes away.
    submit: (request: TaskRequest) =>
      Effect.uninterruptible(
        Effect.tap(
          engine.create(newTask.from(request), { started: true }),
          (stored) => isFirst(stored.task) ? run(stored, request.call) : Effect.void
        )
      )
  }
})

/**
 * Whether a task is still in the attempt that was claimed with its creation. Where the store's answer to that was lost
 * and the task had to be looked for, another process may have taken it up since.
 */
const isFirst = (task: Task.Task): boolean => !Task.isTerminal(task) && task.attempt === 1
