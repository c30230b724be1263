/**
 * Interrupting an operation wherever it may be, and going on with what it was done to.
 *
 * Nothing here sleeps: an operation is interrupted after so many turns of the scheduler, and asked for again and again
 * until each of its steps was interrupted once.
 *
 * @since 0.2.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"

/**
 * How long an answer may take before it is said that there will be none; 20 seconds.
 *
 * **Details**
 *
 * By real time, whatever the clock of the test says: what waits for a lock that nobody gives back waits for no clock.
 *
 * @since 0.2.0
 */
export const Patience = Context.Reference<Duration.Duration>("@effect-mcp-tasks/testing/internal/Patience", {
  defaultValue: () => Duration.seconds(20)
})

const realClock = Clock.Clock.defaultValue()

const ended = Effect.fnUntraced(function*<A, E>(what: string, fiber: Fiber.Fiber<A, E>) {
  const patience = yield* Patience
  const exit = yield* Effect.timeoutOption(Fiber.await(fiber), patience).pipe(
    Effect.provideService(Clock.Clock, realClock)
  )
  if (Option.isSome(exit)) return exit.value
  fiber.interruptUnsafe()
  return yield* new Cause.TimeoutError(`It has not ended within ${Duration.format(patience)}: ${what}`)
})

/**
 * Begins something as nobody's child: what waits for ever may not let itself be interrupted, and would hold up the end
 * of the test.
 */
const begun = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkDetach(effect, { startImmediately: true })

/**
 * Asks for something, and fails where there is no answer.
 *
 * @since 0.2.0
 */
export const answered = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  Effect.flatten(Effect.flatMap(begun(effect), (fiber) => ended(what, fiber)))

/**
 * What became of something that was to be interrupted.
 *
 * @since 0.2.0
 */
export interface Interrupted {
  /** Whether it had ended by itself before its turn had come. */
  readonly isOver: boolean
  /** Whether it says that it was done. */
  readonly isDone: boolean
}

/**
 * Interrupts something after so many turns. Fails where it failed by itself, or does not end.
 *
 * @since 0.2.0
 */
export const after = Effect.fnUntraced(function*<E, R>(
  what: string,
  turns: number,
  effect: Effect.Effect<unknown, E, R>
): Effect.fn.Return<Interrupted, E | Cause.TimeoutError, R> {
  const fiber = yield* begun(effect)
  for (let turn = 0; turn < turns && fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
  const isOver = fiber.pollUnsafe() !== undefined
  fiber.interruptUnsafe()
  const exit = yield* ended(`${what}, interrupted after ${turns} turns`, fiber)
  if (Exit.isSuccess(exit)) return { isOver, isDone: true }
  if (!Cause.hasInterrupts(exit.cause)) return yield* Effect.failCause(exit.cause)
  return { isOver, isDone: false }
})

/** Some of few, since what ends in memory does so soon; then ever more, since what is on its way may be so for long. */
const later = (turns: number) => turns < 12 ? turns + 1 : Math.ceil(turns * 1.5)

/**
 * Does something by ever more turns until it is over before it is interrupted, and again from the start, so many times
 * in all: that is more than a pool has connections. Once only where there is nothing to interrupt.
 *
 * @since 0.2.0
 */
export const everywhere = Effect.fnUntraced(function*<E, R>(
  times: number,
  attempt: (turns: number, time: number) => Effect.Effect<Interrupted, E, R>
): Effect.fn.Return<void, E, R> {
  let turns = 0
  for (let time = 0; time < times; time++) {
    const { isOver } = yield* attempt(turns, time)
    if (isOver && turns === 0) return
    turns = isOver ? 0 : later(turns)
  }
})
