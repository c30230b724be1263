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
import { type Excess, least, maxMembers, type Reader, Weight } from "./weight.ts"

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
 * Why a value was refused: in words that a client may read, and what an operator should see besides.
 *
 * @since 0.2.0
 */
export interface Refusal {
  readonly reason: string
  /** What encoding it threw, where that is no bound. */
  readonly cause?: unknown
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
export const encode = (value: unknown, bounds: Bounds): Result.Result<string, Refusal> => {
  const excess = excessOf(value, bounds)
  if (excess !== undefined) return Result.fail(beyond(excess, bounds))
  return Result.flatMap(
    Result.try({
      try: () => JSON.stringify(value, counting(bounds.maxLength)) ?? "null",
      catch: (cause): Refusal =>
        cause === tooLong ? longerThan(bounds) : { reason: "it cannot be carried by JSON", cause }
    }),
    (text) => within(text, bounds)
  )
}

/**
 * What a value is certain to have too much of.
 *
 * @since 0.2.0
 */
export const excessOf = (value: unknown, bounds: Bounds, reader: Reader = "text"): Excess | undefined => {
  const weight = new Weight(bounds, reader)
  // A getter that throws will throw again for whoever writes the value, and who says so.
  return Result.isSuccess(Result.try(() => weight.json(value, 0))) ? weight.excess : undefined
}

/** A value of its own, since a `toJSON` may throw anything else. */
const tooLong: unique symbol = Symbol("too long")

/**
 * A replacer that replaces nothing. It counts what the text will have, but for what is escaped, and gives up beyond the
 * bound: of each array or object one bracket and of each that is in one a separator, which is one more than there are.
 */
const counting = (maxLength: number) => {
  let length = -1
  return function(this: unknown, key: string, value: unknown): unknown {
    const isRoot = length === -1
    const isMember = !isRoot && !Array.isArray(this)
    // A member that JSON has no value for is left out; of the others the key is written, of elements no index is.
    if (!isMember || !isNothing(value)) {
      length += 1 + (isMember ? key.length + 3 : 0) + lengthOf(value)
    }
    if (length + wholeOf(value) > maxLength) throw tooLong
    return value
  }
}

/** What a `toJSON` has given may be long as well. */
const wholeOf = (value: unknown): number => typeof value === "object" && value !== null ? least(value) : 0

const isNothing = (value: unknown): boolean =>
  value === undefined || typeof value === "function" || typeof value === "symbol"

/** The length of a value without what is in it. A boxed value is written as what it boxes, and may be one digit. */
const lengthOf = (value: unknown): number => {
  switch (typeof value) {
    case "string":
      return value.length + 2
    case "number":
      return Number.isFinite(value) ? String(value).length : 4
    case "object":
      return value === null ? 4 : 1
    default:
      return 4
  }
}

/**
 * Says what a value has too much of.
 *
 * @since 0.2.0
 */
export const beyond = (excess: Excess, bounds: Bounds): Refusal => {
  switch (excess) {
    case "length":
      return longerThan(bounds)
    case "depth":
      return { reason: `it is nested deeper than ${bounds.maxDepth} levels` }
    case "members":
      return { reason: `it has more than ${maxMembers(bounds.maxLength)} members` }
  }
}

const longerThan = ({ maxLength }: Bounds): Refusal => ({ reason: `it is longer than ${maxLength} characters` })

const within = (text: string, bounds: Bounds): Result.Result<string, Refusal> => {
  if (text.length > bounds.maxLength) return Result.fail(longerThan(bounds))
  return JsonRpc.isDeeperThan(text, bounds.maxDepth)
    ? Result.fail(beyond("depth", bounds))
    : Result.succeed(text)
}
