/**
 * The handlers that run in this process: started, watched, and handed back when the process goes away.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import type * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import { CurrentTask } from "../CurrentTask.ts"
import { DeclaredCapabilities } from "../DeclaredCapabilities.ts"
import { TaskEngine } from "../TaskEngine.ts"
import { type Limits, TaskLimits } from "../TaskLimits.ts"
import * as TaskMetrics from "../TaskMetrics.ts"
import { TaskSignal } from "../TaskSignal.ts"
import { TaskStore, type TaskStoreError } from "../TaskStore.ts"
import type { ToolCall, ToolOutcome } from "../TaskTools.ts"
import { Attempt, type AttemptCommand } from "./attempt.ts"
import * as handlerSpan from "./handlerSpan.ts"
import * as loop from "./loop.ts"
import { Notices } from "./notices.ts"
import * as patience from "./patience.ts"
import type { Patiently } from "./patience.ts"
import type { Seat, Slots } from "./slots.ts"
import * as storeTime from "./storeTime.ts"
import * as taskHandle from "./taskHandle.ts"

/**
 * How handlers run.
 *
 * @since 0.2.0
 */
export interface RunningOptions {
  readonly slots: Slots
  /** How long a handler may go without hearing that its task was cancelled, when every signal is lost. */
  readonly heartbeat: Duration.Duration
  /** What becomes of a task that was handed back. */
  readonly onReleased: (task: Task.Task) => Effect.Effect<void>
}

interface Running {
  readonly attempt: Attempt
  readonly fiber: Fiber.Fiber<ToolOutcome>
  readonly parking: Parking
}

/** What a handler holds of the slots: nothing while it waits for input in at least one place. */
interface Parking {
  readonly seat: Seat
  waits: number
}

/** How long handlers that must not be interrupted hold up the end of their process, once they should have ended. */
const lastWait = Duration.seconds(3)

/** What the handlers of a process need. */
interface Services extends RunningOptions {
  readonly engine: TaskEngine["Service"]
  readonly store: TaskStore["Service"]
  readonly limits: Limits
  readonly handlers: Scope.Scope
}

/**
 * The handlers that run in this process.
 *
 * @since 0.2.0
 */
export class RunningTasks {
  private readonly running = new Map<string, Running>()
  private readonly changed = Latch.makeUnsafe()
  private readonly services: Services
  readonly patiently: Patiently = patience.make()
  /** Whether the process goes away: nothing more may begin. */
  isDraining = false
  private hasKept = false
  private handedBack = 0
  private readonly notices: Notices

  constructor(services: Services) {
    this.services = services
    this.notices = new Notices(services.handlers, this.lookAtAll())
  }

  /** Whether there is a task that this process still has, or could not hand back. */
  get holdsTasks(): boolean {
    return this.hasKept || this.running.size > 0
  }

  readonly has = (taskId: string): boolean => this.running.has(taskId)

  /**
   * Runs the handler of a task whose current attempt is ours, in a slot that was taken for it, and says how it ended,
   * though it be before it began.
   */
  readonly run = (stored: Task.Stored, call: ToolCall, seat: Seat): Effect.Effect<void> => {
    const { engine, handlers, limits } = this.services
    const parking = { seat, waits: 0 }
    const attempt = new Attempt({ engine, patiently: this.patiently, park: this.park(parking) }, stored)
    const handler = Effect.onExit(
      Effect.interruptible(handlerSpan.within(stored.task, call.run)),
      (exit) => this.finish(attempt, parking, exit)
    )
    const started = Effect.flatMap(Effect.forkIn(handler, handlers, { uninterruptible: true }), (fiber) => {
      this.running.set(stored.task.taskId, { attempt, fiber, parking })
      return counted(TaskMetrics.running, 1)
    })
    return Effect.updateContext(started, (context: Context.Context<never>) =>
      context.pipe(
        Context.add(CurrentTask, taskHandle.make(attempt, limits)),
        Context.add(DeclaredCapabilities, stored.task.capabilities)
      ))
  }

  /** Ends a task whose current attempt is ours, and whose handler cannot be run. */
  readonly fail = (stored: Task.Stored, message: string): Effect.Effect<void> => {
    const { engine } = this.services
    const attempt = new Attempt({ engine, patiently: this.patiently, park: (answer) => answer }, stored)
    return Effect.asVoid(attempt.give({ _tag: "Fail", error: { code: -32603, message } }))
  }

  /** Looks at a task if it runs here, and stops its handler when that is no longer wanted. */
  private readonly look = (taskId: string): Effect.Effect<void, TaskStoreError> =>
    Effect.suspend(() => {
      const task = this.running.get(taskId)
      return task === undefined || task.attempt.hasEnded ? Effect.void : this.lookAt(task)
    })

  /** Looks at these tasks one after the other, and says with each that it goes on. */
  readonly lookAtEach = (
    taskIds: Iterable<string>,
    goesOn: Effect.Effect<void> = Effect.void
  ): Effect.Effect<void, TaskStoreError> =>
    Effect.ensuring(
      Effect.forEach(taskIds, (taskId) => Effect.andThen(goesOn, this.look(taskId)), { discard: true }),
      this.notices.tell
    )

  /** Looks at every task that runs here. */
  readonly lookAtAll = (goesOn?: Effect.Effect<void>): Effect.Effect<void, TaskStoreError> =>
    Effect.suspend(() => this.lookAtEach([...this.running.keys()], goesOn))

  /**
   * Brings what runs here to its end: handlers that work may finish within the grace period; those that wait for
   * input, and those that are still at it afterwards, are interrupted and their tasks handed back.
   */
  readonly drain = (grace: Duration.Duration): Effect.Effect<void> =>
    Effect.gen({ self: this }, function*() {
      this.isDraining = true
      this.releaseParked()
      const tasks = () => [...this.running.values()]
      yield* Effect.timeoutOption(this.until(() => tasks().every(({ parking }) => parking.waits > 0)), grace)
      for (const task of tasks()) this.release(task)
      yield* Effect.timeoutOption(this.until(() => this.running.size === 0), lastWait)
      yield* this.notices.tellNow
      const { handedBack } = this
      if (handedBack === 0) return
      yield* Effect.annotateLogs(Effect.logInfo("Tasks that ran here are handed back"), { tasks: handedBack })
    }).pipe(Effect.interruptible)

  /** Gives the slot back for as long as the handler waits, and gets one again before the handler goes on. */
  private readonly park = (parking: Parking) => <A>(answer: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen({ self: this }, function*() {
        const { slots } = this.services
        if (++parking.waits === 1) {
          slots.release(parking.seat)
          yield* moved(1)
        }
        this.changed.openUnsafe()
        if (this.isDraining) this.releaseParked()
        const exit = yield* Effect.exit(restore(answer))
        if (--parking.waits === 0) {
          yield* slots.retake(parking.seat)
          yield* moved(-1)
        }
        return yield* exit
      })
    )

  private readonly finish = (attempt: Attempt, parking: Parking, exit: Exit.Exit<ToolOutcome>) => {
    const { onReleased, slots } = this.services
    attempt.hasEnded = true
    const command = Option.getOrUndefined(ending(attempt, exit))
    const told = command === undefined ? Effect.void : attempt.give(command)
    return Effect.onExit(
      command?._tag === "Release" ? Effect.andThen(told, Effect.suspend(() => onReleased(attempt.task))) : told,
      (ended) => {
        if (this.isDraining && Exit.isFailure(ended)) this.hasKept = true
        if (command?._tag === "Release" && Exit.isSuccess(ended) && !Task.isTerminal(attempt.task)) this.handedBack++
        this.running.delete(attempt.task.taskId)
        slots.leave(parking.seat)
        this.changed.openUnsafe()
        const gone = counted(TaskMetrics.running, -1)
        if (attempt.isLost) this.notices.noteLost(attempt.task.taskId)
        else if (attempt.isReplaced) this.notices.noteReplaced(attempt.task.taskId)
        return Effect.andThen(gone, this.notices.tell)
      }
    )
  }

  private readonly lookAt = (task: Running): Effect.Effect<void, TaskStoreError> =>
    this.services.store.read(task.attempt.task.taskId).pipe(
      Effect.map((stored) => {
        if (Option.isSome(stored)) task.attempt.see(stored.value)
        else this.lose(task)
        if (task.attempt.standing !== "current") this.stop(task)
      }),
      // What cannot be decoded says nothing of what is wanted.
      Effect.catchIf((error) => error.reason === "Corrupt", () => Effect.void)
    )

  /** A task that ran here is gone. Nobody removes one that has not ended: the store has lost it, and maybe others. */
  private readonly lose = ({ attempt }: Running): void => {
    if (attempt.standing === "current" && !attempt.hasEnded) this.notices.noteLost(attempt.task.taskId)
    attempt.standing = "superseded"
  }

  /** Interrupts a handler, also where it waits for an answer and cannot be interrupted: none will come. */
  private readonly stop = ({ attempt, fiber, parking }: Running): void => {
    this.services.slots.excuse(parking.seat)
    fiber.interruptUnsafe()
    attempt.abandon()
  }

  private readonly release = (task: Running): void => {
    if (task.attempt.standing === "current") task.attempt.standing = "released"
    this.stop(task)
  }

  private readonly releaseParked = (): void => {
    for (const task of this.running.values()) if (task.parking.waits > 0) this.release(task)
  }

  private readonly until = (isSo: () => boolean): Effect.Effect<void> =>
    Effect.gen({ self: this }, function*() {
      while (!isSo()) {
        this.changed.closeUnsafe()
        yield* this.changed.await
      }
    })
}

/**
 * Makes the place where handlers run, and starts watching their tasks.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: RunningOptions) {
  const running = new RunningTasks({
    ...options,
    engine: yield* TaskEngine,
    store: storeTime.measured(yield* TaskStore),
    limits: yield* TaskLimits,
    handlers: yield* Scope.make()
  })
  const subscription = yield* (yield* TaskSignal).subscribe
  let isBehind = false
  // Every write of a handler signals its own process too. Those that came while a task was read are one, or a cancel
  // would wait behind a read for each step.
  const lookAtSignalled = (begin: Effect.Effect<void>, signalled: Effect.Effect<ReadonlyArray<string>>) =>
    Effect.flatMap(signalled, (taskIds) => running.lookAtEach(new Set(taskIds), begin))
  yield* loop.run({ name: "signal" }, ({ begin, idle }) =>
    Effect.onExit(
      // What could not be looked at is not signalled again: it may be any.
      isBehind ? running.lookAtAll(begin) : lookAtSignalled(begin, idle(PubSub.takeAll(subscription))),
      (exit) => Effect.sync(() => {
        isBehind = Exit.isFailure(exit)
      })
    ))
  yield* loop.run({ name: "heartbeat", rest: options.heartbeat, restsFirst: true }, ({ begin }) =>
    running.lookAtAll(begin))
  return running
})

/** Counts handlers that begin to wait for input, or go on. */
const moved = (count: 1 | -1): Effect.Effect<void> =>
  Effect.andThen(counted(TaskMetrics.parked, count), counted(TaskMetrics.running, -count))

const counted = (gauge: Metric.Gauge<number>, change: number): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    gauge.modifyUnsafe(change, context)
    return Effect.void
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
