/**
 * Properties as effects, for cases that draw what they try.
 *
 * @since 0.1.0
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"

/**
 * Tries a property on drawn values. Where it does not hold, dies with the smallest value found for which it does not,
 * why, and the token that replays it.
 *
 * @since 0.1.0
 */
export const holds = <A, R>(
  arbitrary: Arbitrary.Arbitrary<A>,
  property: (value: A) => Effect.Effect<unknown, unknown, R>
): Effect.Effect<void, never, R> =>
  Arbitrary.checkEffect(arbitrary, (value) =>
    property(value).pipe(Effect.catchDefect((defect) => Effect.fail(defect)), Effect.as(true))).pipe(
      Effect.flatMap((result) => {
        const failure = Arbitrary.formatCheckFailure(result)
        return failure === undefined ? Effect.void : Effect.die(new Error(failure))
      })
    )
