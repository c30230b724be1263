/**
 * The embedded runner: one process, one fiber for each live task, all of them in the scope of the layer.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { TaskEngine } from "../TaskEngine.ts"
import type { TaskRequest } from "../TaskRunner.ts"
import { TaskStore } from "../TaskStore.ts"
import { TaskTools, type ToolCall } from "../TaskTools.ts"
import * as loop from "./loop.ts"
import * as newTask from "./newTask.ts"
import * as runningTasks from "./runningTasks.ts"
import { type Seat, Slots } from "./slots.ts"
import * as storedCall from "./storedCall.ts"
import { Trials } from "./trials.ts"

/** How many tasks are read at a time while taking up what an earlier process left. */
const pageSize = 100

const heartbeat = Duration.seconds(30)

/** One task that breaks whatever takes it up must not keep the process from starting, and serving all the others. */
const sparingOthers = (taskId: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchCauseIf(effect, storedCall.isOfTheTask, (cause) => storedCall.leave(taskId, cause))

interface Parts {
  readonly running: runningTasks.RunningTasks
  readonly slots: Slots
  readonly trials: Trials
  readonly seated: Effect.Effect<Seat>
  readonly run: (stored: Task.Stored, call: ToolCall, seat: Seat) => Effect.Effect<void>
}

/** Makes what takes up a task that an earlier process left, unless it has to wait for its trial. */
const makeTakeUp = Effect.fnUntraced(function*({ run, running, seated, slots, trials }: Parts) {
  const engine = yield* TaskEngine
  const decode = storedCall.decoder(yield* TaskTools)
  // So named, a `Start` that is given again since its answer was lost is the same one, and no lost attempt.
  const worker = String(yield* Random.next)
  const startOf = (left: Task.Stored) =>
    Effect.map(engine.now, (at) => ({ _tag: "Start", at, after: left.task.attempt, worker }) as const)
  const take = Effect.fnUntraced(function*(left: Task.Stored) {
    return yield* engine.apply(left, yield* startOf(left))
  })
  const takeUpIn = Effect.fnUntraced(function*(left: Task.Stored, seat: Seat) {
    if (Task.isTerminal(left.task) || !(yield* trials.admit(left.task, yield* startOf(left), seat))) return false
    const started = yield* running.patiently(take(left), () => !running.isDraining)
    if (Task.isTerminal(started.task)) return false
    const call = yield* decode(started.task)
    yield* Result.isSuccess(call) ? run(started, call.success, seat) : running.fail(started, call.failure)
    return Result.isSuccess(call)
  }, Effect.catchTag(["TaskRejected", "TaskNotFound"], () => Effect.succeed(false)))

  return (left: Task.Stored) =>
    Effect.flatMap(seated, (seat) =>
      takeUpIn(left, seat).pipe(
        Effect.tap((runs) => Effect.sync(() => runs || slots.release(seat))),
        Effect.onError(() => Effect.sync(() => slots.release(seat))),
        sparingOthers(left.task.taskId)
      ))
})

/**
 * Makes the runner, after taking up again every task that an earlier process left live.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  const engine = yield* TaskEngine
  const store = yield* TaskStore
  // Every task that was accepted runs: what limits them is how many may be accepted.
  const slots = new Slots(Number.POSITIVE_INFINITY)
  const trials = new Trials()
  const running = yield* runningTasks.make({ slots, heartbeat, onReleased: () => Effect.void })
  yield* Effect.addFinalizer(() => running.drain(Duration.zero))

  // Nothing of a request outlives it: not its sockets, which a parked handler would hold for days, and nothing that a
  // handler could rely on but would miss after a restart.
  const surroundings = yield* Effect.context<never>()
  const run = (stored: Task.Stored, call: ToolCall, seat: Seat) =>
    Effect.updateContext(running.run(stored, call, seat), (_: Context.Context<never>) => surroundings)
  const seated = Effect.suspend(() => {
    const seat = slots.tryTake()
    return seat === undefined ? Effect.die("There is always a slot") : Effect.succeed(seat)
  })

  const takeUp = yield* makeTakeUp({ running, slots, trials, seated, run })
  let page: ReadonlyArray<Task.Stored> = []
  let tasks = 0
  do {
    page = yield* store.list({ live: true, limit: pageSize, after: page.at(-1)?.task.taskId })
    // At once: a store that commits what comes together does so, and nobody is served before the last of them.
    yield* Effect.forEach(page, takeUp, { concurrency: "unbounded", discard: true })
    tasks += page.length
  } while (page.length === pageSize)
  if (tasks > 0) yield* Effect.annotateLogs(Effect.logInfo("What an earlier process left is taken up"), { tasks })
  // Those that wait for their trial get it while others are served.
  yield* loop.run({ name: "trials" }, ({ idle }) =>
    Effect.gen(function*() {
      const taskId = yield* idle(trials.turn)
      // It stays in the line while the store is away.
      const left = yield* Effect.map(store.read(taskId), Option.getOrUndefined).pipe(sparingOthers(taskId))
      trials.leave(taskId)
      if (left !== undefined) yield* takeUp(left)
    }))

  return {
    // Neither half happens without the other, however soon the caller goes away.
    submit: (request: TaskRequest) =>
      Effect.uninterruptible(
        Effect.tap(
          engine.create(newTask.from(request), { started: true }),
          (stored) =>
            isFirst(stored.task) ? Effect.flatMap(seated, (seat) => run(stored, request.call, seat)) : Effect.void
        )
      )
  }
})

/**
 * Whether a task is still in the attempt that was claimed with its creation. Where the store's answer to that was lost
 * and the task had to be looked for, another process may have taken it up since.
 */
const isFirst = (task: Task.Task): boolean => !Task.isTerminal(task) && task.attempt === 1
