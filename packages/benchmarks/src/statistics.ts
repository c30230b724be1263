/**
 * Order statistics over small samples.
 *
 * @since 0.1.0
 */
import type { Sample } from "./measure.ts"

/** Returns the nearest-rank percentile (`rank` from 0 to 1) of values that are sorted in ascending order. */
export const percentile = (sorted: Float64Array, rank: number): number =>
  sorted[Math.max(0, Math.ceil(rank * sorted.length) - 1)] ?? Number.NaN

/** Returns the median: the middle value, or the mean of the two in the middle. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper
}

const medianOrUnknown = (values: ReadonlyArray<number | undefined>): number | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length === values.length ? median(known) : undefined
}

/** Takes the median of each number over the rounds; CPU time is unknown if it was unknown in any round. */
export const medianSample = (rounds: ReadonlyArray<Sample>): Sample => ({
  opsPerSecond: median(rounds.map((round) => round.opsPerSecond)),
  p50Millis: median(rounds.map((round) => round.p50Millis)),
  p99Millis: median(rounds.map((round) => round.p99Millis)),
  cpuMicrosPerOp: medianOrUnknown(rounds.map((round) => round.cpuMicrosPerOp)),
  cpuMicrosPerRequest: medianOrUnknown(rounds.map((round) => round.cpuMicrosPerRequest)),
  requestsPerOp: median(rounds.map((round) => round.requestsPerOp))
})
