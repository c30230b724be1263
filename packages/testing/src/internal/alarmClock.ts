/**
 * A clock that knows when it will wake the next sleeper, so that a test can let exactly so much time pass.
 *
 * @since 0.1.0
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * A clock with its alarms.
 *
 * @since 0.1.0
 */
export interface AlarmClock extends Clock.Clock {
  /** How long until the next sleeper wakes, in milliseconds; none when nobody sleeps. */
  readonly untilNextUnsafe: () => number | undefined
}

/**
 * Makes a clock that does as another one does.
 *
 * @since 0.1.0
 */
export const make = (clock: Clock.Clock): AlarmClock => {
  const alarms = new Set<{ readonly at: number }>()
  return {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
    currentTimeMillis: clock.currentTimeMillis,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const alarm = { at: clock.currentTimeMillisUnsafe() + Duration.toMillis(duration) }
          alarms.add(alarm)
          return alarm
        }),
        () => clock.sleep(duration),
        (alarm) => Effect.sync(() => alarms.delete(alarm))
      ),
    untilNextUnsafe: () => {
      let next = Infinity
      for (const { at } of alarms) next = Math.min(next, at)
      return next === Infinity ? undefined : Math.max(0, next - clock.currentTimeMillisUnsafe())
    }
  }
}
