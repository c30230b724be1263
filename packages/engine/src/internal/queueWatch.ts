/**
 * Hears of what goes wrong in the background of a queue of effect, and has `Health` and the log say so.
 *
 * Such a queue looks for entries in a loop of its own. Whoever waits for one waits on while that fails, and is told
 * nothing: only the log is, at each try. So what is logged there is heard here.
 *
 * @since 0.2.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as loop from "./loop.ts"

/** A queue tries again at once where it is refused, and after a client's five seconds where nobody answers. */
const longest = Duration.seconds(6)
const shortest = Duration.seconds(2)

/**
 * Starts watching, for as long as the scope lives.
 *
 * **Details**
 *
 * One failure that is followed by none is no outage: a connection was cut, and the next one works. From the second on
 * the queue fails, until there has been none for twice as long as they came after each other, and for two seconds. That
 * may be so because it still waits for an answer: so then it is asked for something that has to succeed, too.
 *
 * @since 0.2.0
 */
export const make = Effect.fnUntraced(function*<E>(ask: Effect.Effect<unknown, E>) {
  const heard = yield* Queue.sliding<Cause.Cause<unknown>>(1)
  const logger = Logger.make(({ cause, message }) => {
    Queue.offerUnsafe(heard, cause === Cause.empty ? Cause.fail(message) : cause)
  })
  let isFailing = false
  let peace = longest

  yield* loop.run({ name: "queue" }, ({ begin, idle }) =>
    Effect.gen(function*() {
      // What was heard in the pause may be over.
      if (isFailing) yield* Queue.clear(heard)
      else yield* Effect.andThen(idle(Queue.take(heard)), begin)
      const [took, again] = yield* Effect.timed(Effect.timeoutOption(Queue.take(heard), peace))
      const known = isFailing ? peace : shortest
      isFailing = Option.isSome(again)
      peace = isFailing ? Duration.min(Duration.max(known, Duration.times(took, 2)), longest) : longest
      if (Option.isSome(again)) return yield* Effect.failCause(again.value)
      yield* Effect.tapCause(ask, () =>
        Effect.sync(() => {
          isFailing = true
          peace = known
        }))
    }))

  /** Lets nobody but us hear what an effect logs, except for those of its parts that are restored. */
  const hearing: Hearing = (effect) =>
    Effect.gen(function*() {
      const loggers = yield* Logger.CurrentLoggers
      const level = yield* References.MinimumLogLevel
      return yield* effect(logging(loggers, level)).pipe(logging(new Set([logger]), "All"))
    })
  return hearing
})

type Loggers = ReadonlySet<Logger.Logger<unknown, unknown>>

const logging =
  (loggers: Loggers, level: LogLevel.LogLevel) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.provideService(Logger.CurrentLoggers, loggers),
      Effect.provideService(References.MinimumLogLevel, level)
    )

type Hearing = <A, E, R>(
  effect: (restore: <A, E, R>(part: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R>
