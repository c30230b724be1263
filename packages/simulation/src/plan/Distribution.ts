/**
 * How long something takes, as a distribution that is written in one word: `lognormal:45s,0.8`.
 *
 * Reading is total: where a text is none, it is said what was expected.
 *
 * @since 0.2.0
 */
import * as Result from "effect/Result"

/**
 * How long something takes. Times are milliseconds.
 *
 * @since 0.2.0
 */
export type Distribution =
  | { readonly _tag: "Fixed"; readonly ms: number }
  | { readonly _tag: "Exponential"; readonly meanMs: number }
  | { readonly _tag: "Lognormal"; readonly medianMs: number; readonly sigma: number }
  | { readonly _tag: "Uniform"; readonly lowMs: number; readonly highMs: number }

const units: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000]
])

/** Longer than anything that is planned for, and short enough to be counted in milliseconds. */
const longestMs = 3_650 * 86_400_000

/**
 * Reads a time such as `500ms`, `30s`, `2m`, `1.5h` or `7d`, in milliseconds; or says what was expected.
 *
 * @since 0.2.0
 */
export const parseTime = (text: string): Result.Result<number, string> => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  if (amount === undefined || unit === undefined) {
    return Result.fail(
      text.startsWith("-") ? "a time from 0 on, such as 30s" : "a time such as 500ms, 30s, 2m, 1.5h or 7d"
    )
  }
  const ms = Number(amount) * (units.get(unit) ?? 1)
  return ms > longestMs ? Result.fail("a time of at most 3650d") : Result.succeed(ms)
}

const forms: ReadonlyMap<string, string> = new Map([
  ["fixed", "fixed:TIME"],
  ["exponential", "exponential:MEAN"],
  ["lognormal", "lognormal:MEDIAN,SIGMA"],
  ["uniform", "uniform:LOW,HIGH"]
])

const sigmaOf = (text: string): Result.Result<number, string> =>
  /^\d+(?:\.\d+)?$/.test(text) && Number(text) <= 4
    ? Result.succeed(Number(text))
    : Result.fail("a sigma from 0 to 4")

const read = (name: string, first: string, second: string): Result.Result<Distribution, string> => {
  switch (name) {
    case "fixed":
      return Result.map(parseTime(first), (ms) => ({ _tag: "Fixed", ms }))
    case "exponential":
      return Result.map(parseTime(first), (meanMs) => ({ _tag: "Exponential", meanMs }))
    case "lognormal":
      return Result.flatMap(parseTime(first), (medianMs) =>
        Result.map(sigmaOf(second), (sigma) => ({ _tag: "Lognormal", medianMs, sigma })))
    default:
      return Result.flatMap(parseTime(first), (lowMs) =>
        Result.flatMap(parseTime(second), (highMs) =>
          highMs < lowMs
            ? Result.fail("a low end that is not above the high one")
            : Result.succeed({ _tag: "Uniform", lowMs, highMs })))
  }
}

/**
 * Reads a distribution, or says what was expected.
 *
 * **Details**
 *
 * `fixed:30s`, `exponential:MEAN`, `lognormal:MEDIAN,SIGMA` (sigma of the logarithm, 0 to 4) and `uniform:LOW,HIGH`.
 *
 * @since 0.2.0
 */
export const parse = (text: string): Result.Result<Distribution, string> => {
  const [name = "", ...rest] = text.split(":")
  const form = forms.get(name)
  if (form === undefined) return Result.fail(`one of ${[...forms.values()].join(", ")}`)
  const given = rest.join(":").split(",").map((part) => part.trim())
  const [first = "", second = ""] = given
  if (given.length !== form.split(",").length) return Result.fail(form)
  return Result.mapError(read(name, first, second), (expected) => `${form}, with ${expected}`)
}

/**
 * A time of the distribution, for two numbers drawn evenly from 0 to 1. Always takes both, so that another distribution
 * leaves all other luck as it was. In whole milliseconds.
 *
 * @since 0.2.0
 */
export const sample = (distribution: Distribution, first: number, second: number): number => {
  switch (distribution._tag) {
    case "Fixed":
      return Math.round(distribution.ms)
    case "Exponential":
      return Math.round(-distribution.meanMs * Math.log(1 - first))
    case "Lognormal": {
      const normal = Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second)
      return Math.round(Math.min(distribution.medianMs * Math.exp(distribution.sigma * normal), longestMs))
    }
    case "Uniform":
      return Math.round(distribution.lowMs + (distribution.highMs - distribution.lowMs) * first)
  }
}

/**
 * The mean of the distribution in milliseconds.
 *
 * @since 0.2.0
 */
export const mean = (distribution: Distribution): number => {
  switch (distribution._tag) {
    case "Fixed":
      return distribution.ms
    case "Exponential":
      return distribution.meanMs
    case "Lognormal":
      return distribution.medianMs * Math.exp(distribution.sigma ** 2 / 2)
    case "Uniform":
      return (distribution.lowMs + distribution.highMs) / 2
  }
}

/**
 * Writes a time as `parseTime` reads it, with at most one decimal.
 *
 * @since 0.2.0
 */
export const printTime = (ms: number): string => {
  const [unit, size] = [...units].findLast(([, size]) => ms >= size) ?? ["ms", 1]
  return `${Math.round(ms / size * 10) / 10}${unit}`
}

/**
 * Writes a distribution for people.
 *
 * @since 0.2.0
 */
export const print = (distribution: Distribution): string => {
  switch (distribution._tag) {
    case "Fixed":
      return `fixed:${printTime(distribution.ms)}`
    case "Exponential":
      return `exponential:${printTime(distribution.meanMs)}`
    case "Lognormal":
      return `lognormal:${printTime(distribution.medianMs)},${distribution.sigma}`
    case "Uniform":
      return `uniform:${printTime(distribution.lowMs)},${printTime(distribution.highMs)}`
  }
}
