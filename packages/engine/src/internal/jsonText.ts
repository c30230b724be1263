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
 * @since 0.1.0
 */
export const encode = (value: unknown, bounds: Bounds): Result.Result<string, string> =>
  Result.flatMap(
    Result.try({ try: () => JSON.stringify(value) ?? "null", catch: () => "it cannot be carried by JSON" }),
    (text) => within(text, bounds)
  )

const within = (text: string, bounds: Bounds): Result.Result<string, string> => {
  if (text.length > bounds.maxLength) {
    return Result.fail(`it is ${text.length} characters long, ${bounds.maxLength} are allowed`)
  }
  return JsonRpc.isDeeperThan(text, bounds.maxDepth)
    ? Result.fail(`it is nested deeper than ${bounds.maxDepth} levels`)
    : Result.succeed(text)
}
