/**
 * Background work that never stops by itself: whatever goes wrong in a round, there is a next one.
 *
 * @since 0.2.0
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { Health } from "../Health.ts"
import type { LoopReport } from "./healthBoard.ts"

/**
 * How a loop turns.
 *
 * @since 0.2.0
 */
export interface LoopOptions {
  /** What the log and the health report call it. */
  readonly name: string
  /** How long a round may take before the loop counts as stuck; 30 seconds. */
  readonly limit?: Duration.Duration | undefined
  /** How long it rests after a round that ended well; it does not. One that failed is tried again sooner or later. */
  readonly rest?: Duration.Duration | undefined
  /** Whether it rests before its first round too. */
  readonly restsFirst?: boolean | undefined
  /** How long it pauses at the most after a round that failed; 5 seconds, and never longer. */
  readonly pause?: Duration.Duration | undefined
}

/**
 * How a round says what it is at.
 *
 * @since 0.2.0
 */
export interface Turn {
  /**
   * Waits for something to do, however long that lasts. A loop that fails goes on failing meanwhile, unless it waits
   * for longer than five seconds.
   */
  readonly idle: <A, E, R>(waiting: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Says that there is something to do again. */
  readonly begin: Effect.Effect<void>
}

const longestPause = Duration.seconds(5)

const pauseAfter = (failures: number, longest: Duration.Duration): Duration.Duration =>
  Duration.min(Duration.millis(100 * 2 ** Math.min(failures, 10)), longest)

/**
 * Runs a round again and again in the background, for as long as the scope lives.
 *
 * **Details**
 *
 * A round that fails, dies or interrupts itself is logged when the one before it had not, and is followed by the next
 * after a pause that grows to five seconds, or to less where it is told so. One that does not end in time is logged
 * while it lasts. The loop reports to `Health`, where there is one: it fails until a round has ended well, so a round
 * is best without a rest in it.
 *
 * @since 0.2.0
 */
export const run = Effect.fnUntraced(function*<E, R>(
  { limit = Duration.seconds(30), name, rest = Duration.zero, restsFirst = false, ...options }: LoopOptions,
  round: (turn: Turn) => Effect.Effect<unknown, E, R>
): Effect.fn.Return<void, never, R | Scope.Scope> {
  const health = yield* Effect.serviceOption(Health)
  const report = Option.getOrUndefined(health)?.board.join(name, Duration.toMillis(limit))
  const tell = (what: Exclude<keyof LoopReport, "state">) => report?.[what] ?? Effect.void
  const resting = Duration.isZero(rest) ? Effect.void : Effect.sleep(rest)
  const longest = Duration.min(options.pause ?? longestPause, longestPause)
  let failures = 0

  const turn: Turn = {
    idle: (waiting) => tell("wait").pipe(Effect.andThen(waiting), Effect.tap(tell("begin"))),
    begin: tell("begin")
  }

  const failed = (cause: Cause.Cause<E>) =>
    Effect.gen(function*() {
      yield* tell("fail")
      const message = Effect.logError("A background loop fails; it tries on", cause)
      if (failures === 0) yield* Effect.annotateLogs(message, { loop: name })
      yield* Effect.sleep(pauseAfter(failures++, longest))
    })

  const turned = Effect.gen(function*() {
    yield* tell("rest")
    if (failures > 0) yield* Effect.annotateLogs(Effect.logInfo("A background loop works again"), { loop: name })
    failures = 0
    yield* resting
  })

  const once = Effect.suspend(() => Effect.andThen(tell("begin"), round(turn))).pipe(
    Effect.matchCauseEffect({ onSuccess: () => turned, onFailure: failed })
  )
  const turning = Effect.andThen(restsFirst ? resting : Effect.void, Effect.forever(once))
  yield* Effect.forkScoped(Effect.ensuring(turning, tell("leave")))
  if (report !== undefined) yield* Effect.forkScoped(sayingWhenStuck(name, limit, report.state))
})

/** A round that does not end has nothing to say of itself. */
const sayingWhenStuck = (name: string, limit: Duration.Duration, state: LoopReport["state"]) => {
  let isStuck = false
  const look = Effect.flatMap(state, (now) => {
    if (isStuck === (now === "stuck")) return Effect.void
    isStuck = !isStuck
    const said = isStuck
      ? Effect.logError(`A background loop is stuck: it is at one round for more than ${Duration.format(limit)}`)
      : Effect.logInfo("A background loop is not stuck any more")
    return Effect.annotateLogs(said, { loop: name })
  })
  return Effect.forever(Effect.andThen(Effect.sleep(Duration.divideUnsafe(limit, 3)), look))
}
