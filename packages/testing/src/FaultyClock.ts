/**
 * A clock that is wrong: ahead or behind the others, and set forward or back while the process runs.
 *
 * Provide it to one of several processes that share a store. Sleeping takes as long as on the clock below.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Sets the clock that `layer` provides.
 *
 * @category services
 * @since 0.1.0
 */
export class FaultyClock extends Context.Service<FaultyClock, {
  /** Sets the clock forward by so many milliseconds, or back where it is negative. */
  readonly jump: (millis: number) => Effect.Effect<void>
}>()("@effect-mcp-tasks/testing/FaultyClock") {}

const nanosPerMilli = 1_000_000n

/**
 * A clock that is ahead of another by what a function says at each reading, in whole milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const skewed = (clock: Clock.Clock, ahead: () => number): Clock.Clock => {
  const millis = () => clock.currentTimeMillisUnsafe() + ahead()
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(ahead()) * nanosPerMilli
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

/**
 * Provides a clock that is ahead of the current one by so many milliseconds, or behind where it is negative.
 *
 * **Gotchas**
 *
 * An effect reads the clock of the fiber that runs it: provide this layer to the call as well as to the service.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (ahead = 0): Layer.Layer<FaultyClock> =>
  Layer.effectContext(Effect.map(Clock.Clock, (clock) => {
    let offset = ahead
    return Context.make(FaultyClock, {
      jump: (millis) =>
        Effect.sync(() => {
          offset += millis
        })
    }).pipe(Context.add(Clock.Clock, skewed(clock, () => offset)))
  }))
