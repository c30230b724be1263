/**
 * Waiting for what processes do, by the test's clock or by real time.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { get, type Polled } from "./FleetTools.ts"
import type { Process } from "./Fleet.ts"

/**
 * By which clock a test goes: one on which time passes as the test says, or the real one.
 *
 * @category models
 * @since 0.2.0
 */
export type Time = "test" | "real"

/**
 * How a test waits.
 *
 * @category models
 * @since 0.2.0
 */
export interface Waiting {
  /** Lets time pass until it is so: a minute of the test's time, half a minute of real time. Dies when it is not. */
  readonly until: <E, R>(what: string, isSo: Effect.Effect<boolean, E, R>) => Effect.Effect<void, E, R>
  /** Lets time pass until the task has a status, and shows it. */
  readonly becomes: (
    process: Pick<Process, "engine">,
    taskId: string,
    status: Polled["status"]
  ) => ReturnType<typeof get>
}

/**
 * Lets every fiber that can go on do so.
 *
 * @category running
 * @since 0.2.0
 */
export const settle: Effect.Effect<void> = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, {
  discard: true
})

/**
 * How a test waits that goes by a clock.
 *
 * @category constructors
 * @since 0.2.0
 */
export const of = (time: Time): Waiting => {
  const pass = time === "test"
    ? Effect.andThen(settle, Effect.andThen(TestClock.adjust("250 millis"), settle))
    : Effect.sleep("20 millis")

  const until = <E, R>(what: string, isSo: Effect.Effect<boolean, E, R>) =>
    Effect.gen(function*() {
      for (let round = 0; round < (time === "test" ? 240 : 1_000); round++) {
        if (time === "test") yield* settle
        if (yield* isSo) return
        yield* pass
      }
      return yield* Effect.die(new Error(`It did not come about: ${what}`))
    })

  return {
    until,
    becomes: (process, taskId, status) =>
      Effect.gen(function*() {
        yield* until(`${taskId} is ${status}`, Effect.map(get(process, taskId), (task) => task.status === status))
        return yield* get(process, taskId)
      })
  }
}
