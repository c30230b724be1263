/**
 * Waiting for a store that is away.
 *
 * @since 0.2.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { TaskStoreError } from "../TaskStore.ts"

const backoff = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced(Duration.seconds(10))])

/** Whether trying again may help. */
const isPassing = (error: unknown): error is TaskStoreError => error instanceof TaskStoreError && !error.isPermanent

/**
 * Tries again while the store is away, for as long as `worthwhile`.
 *
 * @since 0.2.0
 */
export type Patiently = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>,
  worthwhile: () => boolean
) => Effect.Effect<A, E, R>

/**
 * Makes what waits for one store. However many wait for the same outage, the log hears of it once.
 *
 * @since 0.2.0
 */
export const make = (): Patiently => {
  let waiting = 0

  return <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>, worthwhile: () => boolean) =>
    Effect.catchIf(effect, isPassing, (error) =>
      Effect.suspend(() => {
        const isNews = waiting === 0
        waiting++
        const retrying = Effect.retry(effect, { while: (error) => isPassing(error) && worthwhile(), schedule: backoff })
        const said = isNews ? Effect.logError("The task store failed; trying until it works", error) : Effect.void
        return Effect.ensuring(
          Effect.andThen(said, retrying),
          Effect.sync(() => {
            waiting--
          })
        )
      }))
}
