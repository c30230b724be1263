/**
 * The handlers that run in this process: started, watched, and handed back when the process goes away.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import { CurrentTask } from "../CurrentTask.ts"
import { DeclaredCapabilities } from "../DeclaredCapabilities.ts"
import { TaskEngine } from "../TaskEngine.ts"
import { TaskLimits } from "../TaskLimits.ts"
import { TaskSignal } from "../TaskSignal.ts"
import { TaskStore } from "../TaskStore.ts"
import type { ToolCall, ToolOutcome } from "../TaskTools.ts"
import { Attempt, type AttemptCommand } from "./attempt.ts"
import * as loop from "./loop.ts"
import * as patience from "./patience.ts"
import type { Seat, Slots } from "./slots.ts"
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
const lastWait = Duration.seconds(5)

/**
 * Makes the place where handlers run, and starts watching their tasks.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: RunningOptions) {
  const { heartbeat, onReleased, slots } = options
  const engine = yield* TaskEngine
  const store = yield* TaskStore
  const limits = yield* TaskLimits
  const signal = yield* TaskSignal
  const running = new Map<string, Running>()
  const handlers = yield* Scope.make()
  const patiently = patience.make()
  const changed = Latch.makeUnsafe()
  let isDraining = false

  const stop = ({ fiber, parking }: Running): void => {
    slots.excuse(parking.seat)
    fiber.interruptUnsafe()
  }

  const release = (task: Running): void => {
    if (task.attempt.standing === "current") task.attempt.standing = "released"
    stop(task)
  }

  const releaseParked = (): void => {
    for (const task of running.values()) if (task.parking.waits > 0) release(task)
  }

  /** Gives the slot back for as long as the handler waits, and gets one again before the handler goes on. */
  const parkWith = (parking: Parking) => <A>(answer: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        if (++parking.waits === 1) slots.release(parking.seat)
        changed.openUnsafe()
        if (isDraining) releaseParked()
        const exit = yield* Effect.exit(restore(answer))
        if (--parking.waits === 0) yield* slots.retake(parking.seat)
        return yield* exit
      })
    )

  const finish = (attempt: Attempt, parking: Parking, exit: Exit.Exit<ToolOutcome>) => {
    attempt.hasEnded = true
    const command = ending(attempt, exit)
    return Effect.ensuring(
      Option.isNone(command)
        ? Effect.void
        : Effect.tap(attempt.give(command.value), () =>
          command.value._tag === "Release" ? onReleased(attempt.task) : Effect.void),
      Effect.sync(() => {
        running.delete(attempt.task.taskId)
        slots.release(parking.seat)
        changed.openUnsafe()
      })
    )
  }

  /** An attempt at a task whose current attempt is ours, with what it needs of the surroundings. */
  const attemptAt = (stored: Task.Stored, parking: Parking) =>
    new Attempt({ engine, patiently, park: parkWith(parking) }, stored)

  /**
   * Runs the handler of a task whose current attempt is ours, in a slot that was taken for it, and says how it ended,
   * though it be before it began.
   */
  const run = Effect.fnUntraced(function*(stored: Task.Stored, call: ToolCall, seat: Seat) {
    const parking = { seat, waits: 0 }
    const attempt = attemptAt(stored, parking)
    const fiber = yield* call.run.pipe(
      Effect.provideService(CurrentTask, taskHandle.make(attempt, limits)),
      Effect.provideService(DeclaredCapabilities, stored.task.capabilities),
      Effect.interruptible,
      Effect.onExit((exit) => finish(attempt, parking, exit)),
      Effect.forkIn(handlers, { uninterruptible: true })
    )
    running.set(stored.task.taskId, { attempt, fiber, parking })
  })

  /** Ends a task whose current attempt is ours, and whose handler cannot be run. */
  const fail = (stored: Task.Stored, message: string) =>
    Effect.asVoid(
      new Attempt({ engine, patiently, park: (answer) => answer }, stored)
        .give({ _tag: "Fail", error: { code: -32603, message } })
    )

  /** Looks at a task that runs here, and stops its handler when it is no longer wanted. */
  const look = Effect.fnUntraced(function*(task: Running) {
    const { attempt } = task
    if (attempt.hasEnded) return
    const stored = yield* store.read(attempt.task.taskId)
    if (Option.isSome(stored)) attempt.see(stored.value)
    else attempt.standing = "superseded"
    if (attempt.standing !== "current") stop(task)
  }, Effect.catchIf((error) => error.reason === "Corrupt", () => Effect.void))

  /** Looks at every task that runs here, and says with each that it goes on. */
  const lookAtAll = (goesOn: Effect.Effect<void> = Effect.void) =>
    Effect.suspend(() =>
      Effect.forEach([...running.values()], (task) => Effect.andThen(goesOn, look(task)), { discard: true })
    )

  const subscription = yield* signal.subscribe
  yield* loop.run({ name: "signal" }, ({ idle }) =>
    Effect.flatMap(idle(PubSub.take(subscription)), (taskId) => {
      const here = running.get(taskId)
      return here === undefined ? Effect.void : look(here)
    }))
  yield* loop.run({ name: "heartbeat" }, ({ begin, idle }) =>
    Effect.andThen(idle(Effect.sleep(heartbeat)), lookAtAll(begin)))

  const until = (isSo: () => boolean): Effect.Effect<void> =>
    Effect.gen(function*() {
      while (!isSo()) {
        changed.closeUnsafe()
        yield* changed.await
      }
    })

  /**
   * Brings what runs here to its end: handlers that work may finish within the grace period; those that wait for
   * input, and those that are still at it afterwards, are interrupted and their tasks handed back.
   */
  const drain = (grace: Duration.Duration): Effect.Effect<void> =>
    Effect.gen(function*() {
      isDraining = true
      releaseParked()
      yield* Effect.timeoutOption(until(() => [...running.values()].every(({ parking }) => parking.waits > 0)), grace)
      for (const task of running.values()) release(task)
      yield* Effect.timeoutOption(until(() => running.size === 0), lastWait)
    }).pipe(Effect.interruptible)

  return {
    run,
    fail,
    drain,
    lookAtAll,
    patiently,
    has: (taskId: string): boolean => running.has(taskId),
    isDraining: (): boolean => isDraining
  }
})

/**
 * The handlers that run in this process.
 *
 * @since 0.2.0
 */
export type RunningTasks = Effect.Success<ReturnType<typeof make>>

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
