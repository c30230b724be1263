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
 * What is bounded of a layer, and how it is called in the log.
 *
 * @since 0.2.0
 */
export interface Bounds<E> {
  readonly what: string
  /** How long it may take to close. */
  readonly closes: Duration.Input
  /** How long it may take to open, and what it fails with when it takes longer; without end unless given. */
  readonly opens?: { readonly within: Duration.Input; readonly orElse: () => E } | undefined
}

/**
 * The same layer, which closes in a scope of that kind.
 *
 * **Details**
 *
 * It opens in a fiber of its own. A layer that is interrupted while it opens, or fails, first closes what it has made
 * so far and is waited for; a client that waits for an answer would keep its program for ever.
 *
 * @since 0.2.0
 */
export const layer = <A, E, R, E2 = never>(
  { closes, opens, what }: Bounds<E2>,
  within: Layer.Layer<A, E, R>
): Layer.Layer<A, E | E2, R> =>
  // In the same memo map, so that what it has in common with other layers is one.
  Layer.fromBuildMemo((memoMap, outer) =>
    Effect.gen(function*() {
      const scope = yield* Scope.provide(make(what, closes), outer)
      const opening = yield* Effect.forkDetach(Layer.buildWithMemoMap(within, memoMap, scope), {
        startImmediately: true
      })
      const opened = opens === undefined ? Fiber.join(opening) : Fiber.join(opening).pipe(
        Effect.timeoutOrElse({ duration: opens.within, orElse: () => Effect.fail(opens.orElse()) })
      )
      return yield* Effect.onError(opened, () => leave(opening, closes))
    })
  )

/**
 * Opens something in a scope of its own, for as long as the scope around it lives, and waits for that no longer than a
 * while, though it cannot be interrupted. What comes later is closed at once.
 *
 * @since 0.2.0
 */
export const open = <A, E, R, E2>(
  what: Effect.Effect<A, E, R>,
  { orElse, within }: { readonly within: Duration.Input; readonly orElse: () => E2 }
): Effect.Effect<A, E | E2, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const opening = yield* Effect.forkDetach(Scope.provide(what, scope), { startImmediately: true })
    yield* Effect.addFinalizer((exit) =>
      Effect.gen(function*() {
        const closing = Effect.andThen(Fiber.interrupt(opening), Scope.close(scope, exit))
        const closed = yield* Effect.forkDetach(closing, { startImmediately: true })
        yield* Effect.timeoutOption(Fiber.await(closed), "1 second")
      })
    )
    return yield* Effect.timeoutOrElse(Fiber.join(opening), { duration: within, orElse: () => Effect.fail(orElse()) })
  })

/** Tells an opening that nobody waits for it any more, and waits for its end for a while. */
const leave = (opening: Fiber.Fiber<unknown, unknown>, limit: Duration.Input) =>
  Effect.gen(function*() {
    const ending = yield* Effect.forkDetach(Fiber.interrupt(opening))
    yield* Effect.timeoutOption(Fiber.await(ending), limit)
  })
