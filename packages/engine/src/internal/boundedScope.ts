/**
 * Scopes that do not hold up the end of their process: what takes too long to close is left behind. What fails to close
 * is named in the log, and is no failure of whatever goes on to close after it.
 *
 * @since 0.2.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"

/**
 * Makes a scope that closes with the one around it, which waits for that no longer than a while. What is left behind
 * goes on closing.
 *
 * @since 0.2.0
 */
export const make = (what: string, limit: Duration.Input): Effect.Effect<Scope.Scope, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Effect.gen(function*() {
      const closing = yield* Effect.forkDetach(Scope.close(scope, exit))
      const closed = yield* Effect.timeoutOption(Fiber.await(closing), limit)
      if (Option.isNone(closed)) return yield* Effect.logWarning(`${what} takes too long to close, and is left behind`)
      if (Exit.isFailure(closed.value)) yield* Effect.logWarning(`${what} did not close well`, closed.value.cause)
    }))

/**
 * The same layer, which closes in a scope of that kind.
 *
 * @since 0.2.0
 */
export const layer = <A, E, R>(
  what: string,
  limit: Duration.Input,
  within: Layer.Layer<A, E, R>
): Layer.Layer<A, E, R> =>
  // In the same memo map, so that what it has in common with other layers is one.
  Layer.fromBuildMemo((memoMap, outer) =>
    Effect.flatMap(Scope.provide(make(what, limit), outer), (scope) => Layer.buildWithMemoMap(within, memoMap, scope))
  )
