/**
 * Counts what each owner does against the server's rates.
 *
 * @since 0.1.0
 */
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { type Rate, RateLimits } from "../RateLimits.ts"
import * as outage from "./outage.ts"

/**
 * An owner has done something too often.
 *
 * @since 0.1.0
 */
export interface TooOften {
  readonly _tag: "TooOften"
  readonly what: "calls" | "tasks"
  readonly rate: Rate
  readonly retryAfter: Duration.Duration
}

/**
 * What is counted, for the current owner.
 *
 * @since 0.1.0
 */
export interface OwnerRates {
  readonly call: Effect.Effect<void, TooOften, TaskOwner.CurrentOwner>
  readonly create: Effect.Effect<void, TooOften, TaskOwner.CurrentOwner>
  /** Waits, when there were too many. */
  readonly poll: Effect.Effect<void, never, TaskOwner.CurrentOwner>
}

/** How long a poll too many waits: it slows a loop down, and no client loses its patience. */
const penalty = Duration.seconds(1)

/**
 * Makes the counters, in the store that is provided or else in this process.
 *
 * @since 0.1.0
 */
export const make: Effect.Effect<OwnerRates> = Effect.gen(function*() {
  const { calls, creates, polls } = yield* RateLimits
  const shared = yield* Effect.serviceOption(RateLimiter.RateLimiterStore)
  const store = Option.match(shared, {
    onNone: () => RateLimiter.layerStoreMemory,
    onSome: (found) => Layer.succeed(RateLimiter.RateLimiterStore, found)
  })
  const limiter = yield* Effect.provide(RateLimiter.make, store)
  const { failed, worked } = outage.make({
    broken: "Rates cannot be counted: nobody is limited until they can",
    again: "A rate could not be counted",
    mended: "Rates are counted again"
  })

  /** How long the owner would have to wait; none when it need not. */
  const excess = (key: string, { limit, window }: Rate) =>
    Effect.flatMap(TaskOwner.CurrentOwner, (owner) =>
      limiter.consume({ algorithm: "token-bucket", key: `${key} ${TaskOwner.key(owner)}`, limit, window })).pipe(
        Effect.andThen(Effect.as(worked(key), Duration.zero)),
        Effect.catchTag("RateLimiterError", (error) =>
          error.reason._tag === "RateLimitExceeded"
            ? Effect.as(worked(key), error.reason.retryAfter)
            : Effect.as(failed(key, error), Duration.zero))
      )

  const refuse = (what: TooOften["what"], rate: Rate | undefined) =>
    rate === undefined
      ? Effect.void
      : Effect.flatMap(excess(what, rate), (retryAfter): Effect.Effect<void, TooOften> =>
        Duration.isZero(retryAfter) ? Effect.void : Effect.fail({ _tag: "TooOften", what, rate, retryAfter }))

  return {
    call: refuse("calls", calls),
    create: refuse("tasks", creates),
    poll: polls === undefined
      ? Effect.void
      : Effect.flatMap(excess("polls", polls), (wait) =>
        Duration.isZero(wait) ? Effect.void : Effect.sleep(penalty))
  }
})
