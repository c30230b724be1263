/**
 * What the suites of this kit are made of: cases that are values, and the reasons for which a backend cannot pass some.
 *
 * `TaskStoreTest.suite`, `TaskSignalTest.suite` and `TaskRunnerTest.suite` hand their cases to `@effect/vitest`. With
 * another test framework, loop over the `cases` of those modules: run what has no `reasonToSkip`, and show the rest as
 * skipped.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * Where a case finds the service that it tries.
 *
 * **Details**
 *
 * A layer gives an empty place each time it is built. An effect makes an empty place, which lives as long as the scope,
 * and gives the layer that opens it: each time that layer is built, it is one more process at the same place.
 *
 * @category models
 * @since 0.1.0
 */
export type Place<I> = Layer.Layer<I, unknown> | Effect.Effect<Layer.Layer<I, unknown>, unknown, Scope.Scope>

/**
 * One thing that a backend has to do.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case<in P, out Capability extends string> {
  /** What it does, to be read after the backend's name. */
  readonly title: string
  /** Without which of these it cannot be tried. */
  readonly needs: ReadonlyArray<Capability>
  /** Tries it from an empty place: fails or dies, and says how it differs, where the backend does not do it. */
  readonly run: (place: P) => Effect.Effect<void, unknown>
}

/**
 * What a backend cannot do, and why not.
 *
 * @category models
 * @since 0.1.0
 */
export type Lacks<Capability extends string> = { readonly [C in Capability]?: string | undefined }

/**
 * Why a case is not tried on a backend; nothing where it is.
 *
 * @category accessors
 * @since 0.1.0
 */
export const reasonToSkip = <Capability extends string>(
  { needs }: Pick<Case<never, Capability>, "needs">,
  lacks: Lacks<Capability>
): string | undefined => {
  const reasons = needs.flatMap((capability) => {
    const why = lacks[capability]
    return why === undefined ? [] : [`${capability}: ${why}`]
  })
  return reasons.length === 0 ? undefined : `lacks ${reasons.join("; ")}`
}
