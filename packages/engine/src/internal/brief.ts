/**
 * What a log may hold of a value that a tool made: whatever it is, to write it down takes no longer than a moment.
 *
 * A logger writes an error with its members and causes, however long they are, and an array of five million elements
 * keeps everything else waiting for ten seconds.
 *
 * @since 0.2.0
 */
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as jsonText from "./jsonText.ts"

const bounds = { maxLength: 20_000, maxDepth: 1_000 }

/** How many causes of causes are looked at. */
const maxCauses = 20

/** Whether the value and what caused it are short. What JSON cannot carry is not written as such, but is no longer. */
const isShort = (value: unknown, rest = maxCauses): boolean => {
  if (Predicate.isError(value)) {
    const { cause, message } = value
    if (message.length > bounds.maxLength || rest === 0) return false
    if (cause !== undefined && !isShort(cause, rest - 1)) return false
  }
  const text = jsonText.encode(value, bounds)
  return Result.isSuccess(text) || text.failure.cause !== undefined
}

const cut = (text: string): string => text.length <= 200 ? text : `${text.slice(0, 200)}...`

/** An error that says what the long value was. */
const shortened = (value: unknown): Error => {
  const kind = Predicate.isError(value) ? cut(`${value.name}: ${value.message}`) : Object.prototype.toString.call(value)
  return new Error(`${kind} (too long for the log)`)
}

/**
 * The value itself, or an error that says what it was.
 *
 * @since 0.2.0
 */
export const value = (of: unknown): unknown => isShort(of) ? of : shortened(of)

/**
 * A cause of which no part is long.
 *
 * @since 0.2.0
 */
export const cause = (of: Cause.Cause<unknown>): Cause.Cause<unknown> =>
  Cause.fromReasons(
    of.reasons.map((reason) =>
      Cause.isFailReason(reason)
        ? isShort(reason.error) ? reason : Cause.makeFailReason(shortened(reason.error))
        : Cause.isDieReason(reason) && !isShort(reason.defect)
        ? Cause.makeDieReason(shortened(reason.defect))
        : reason
    )
  )
