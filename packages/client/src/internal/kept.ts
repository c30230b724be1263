/**
 * A value that is asked for when it is first needed, and kept for as long as its server allows (server/utilities,
 * "Caching").
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"

/**
 * A value with the `ttlMs` that came with it.
 *
 * @since 0.1.0
 */
export interface Fresh<A> {
  readonly value: A
  readonly ttlMs: Schema.Json | undefined
}

/**
 * A value that is kept. Whoever asks while another one does waits for the same answer; a failure is not kept.
 *
 * @since 0.1.0
 */
export interface Kept<A, E> {
  readonly get: Effect.Effect<A, E>
  readonly forget: Effect.Effect<void>
}

const defaultMs = 300_000
const longestMs = 3_600_000

const freshMs = (ttlMs: Schema.Json | undefined): number =>
  typeof ttlMs === "number" ? Math.min(Math.max(ttlMs, 0), longestMs) : defaultMs

/**
 * Keeps what an effect gives: five minutes where the server does not say how long, an hour at the most.
 *
 * @since 0.1.0
 */
export const make = <A, E>(ask: Effect.Effect<Fresh<A>, E>): Effect.Effect<Kept<A, E>> =>
  Effect.map(Semaphore.make(1), (turn) => {
    let held: { readonly value: A; readonly until: number } | undefined
    const get = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      if (held !== undefined && now < held.until) return held.value
      const { ttlMs, value } = yield* ask
      held = { value, until: now + freshMs(ttlMs) }
      return value
    })
    return {
      get: turn.withPermits(1)(get),
      forget: Effect.sync(() => {
        held = undefined
      })
    }
  })
