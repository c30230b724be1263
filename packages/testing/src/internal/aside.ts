/**
 * Looks that a test kit takes for itself: no fault is meant for them, and nobody counts them.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Whether what is done is such a look.
 *
 * @since 0.2.0
 */
export const IsAside = Context.Reference<boolean>("@effect-mcp-tasks/testing/internal/IsAside", {
  defaultValue: () => false
})

/**
 * Looks at something.
 *
 * @since 0.2.0
 */
export const look = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, IsAside, true)
