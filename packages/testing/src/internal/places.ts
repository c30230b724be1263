/**
 * Places at which processes open a service.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Place } from "../Suite.ts"

/**
 * Opens a service as one more process does, which ends with the scope.
 *
 * @since 0.1.0
 */
export type Open<S> = Effect.Effect<S, unknown, Scope.Scope>

/**
 * Makes an empty place.
 *
 * @since 0.1.0
 */
export const make = <I, S>(key: Context.Key<I, S>, place: Place<I>): Effect.Effect<Open<S>, unknown, Scope.Scope> =>
  Effect.map(
    Effect.isEffect(place) ? place : Effect.succeed(place),
    (layer) => Effect.map(Layer.build(Layer.fresh(layer)), Context.get(key))
  )
