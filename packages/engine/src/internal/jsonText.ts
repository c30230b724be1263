/**
 * From a value that a tool made to JSON text that a store and a client can carry, or to the reason why not.
 *
 * Handlers return anything: cycles, BigInts, throwing getters, arrays 60,000 levels deep. Whatever it is, this ends
 * with a text or a reason, and never throws.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Result from "effect/Result"

/**
 * How large and how deep JSON text may be.
 *
 * @since 0.1.0
 */
export interface Bounds {
  /** UTF-16 code units. */
  readonly maxLength: number
  readonly maxDepth: number
}

/**
 * Encodes a value as JSON text. Members that JSON has no value for are left out, `NaN` and infinities become `null`,
 * as in `JSON.stringify`.
 *
 * **Details**
 *
 * Takes time in proportion to the bound, not to the value: what is too long is given up as soon as that is certain.
 *
 * @since 0.1.0
 */
export const encode = (value: unknown, bounds: Bounds): Result.Result<string, string> =>
  Result.flatMap(
    Result.try({
      try: () => JSON.stringify(value, counting(bounds.maxLength)) ?? "null",
      catch: (cause) => cause === tooLong ? longerThan(bounds) : "it cannot be carried by JSON"
    }),
    (text) => within(text, bounds)
  )

/** A value of its own, since a `toJSON` may throw anything else. */
const tooLong: unique symbol = Symbol("too long")

/** A replacer that replaces nothing. It counts what the text will have at the least, and gives up beyond the bound. */
const counting = (maxLength: number) => {
  let length = 0
  return function(this: unknown, key: string, value: unknown): unknown {
    const isMember = !Array.isArray(this)
    // A member that JSON has no value for is left out; of the others the key is written, of elements no index is.
    if (!isMember || !isNothing(value)) {
      length += (isMember ? key.length : 0) + (typeof value === "string" ? value.length + 2 : 1)
    }
    if (length > maxLength) throw tooLong
    return value
  }
}

const isNothing = (value: unknown): boolean =>
  value === undefined || typeof value === "function" || typeof value === "symbol"

const longerThan = ({ maxLength }: Bounds): string => `it is longer than ${maxLength} characters`

const within = (text: string, bounds: Bounds): Result.Result<string, string> => {
  if (text.length > bounds.maxLength) return Result.fail(longerThan(bounds))
  return JsonRpc.isDeeperThan(text, bounds.maxDepth)
    ? Result.fail(`it is nested deeper than ${bounds.maxDepth} levels`)
    : Result.succeed(text)
}
