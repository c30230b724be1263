/**
 * What a plan is made for: how many tasks, how long they take, and how their clients behave. All of it data.
 *
 * @since 0.2.0
 */
import * as Result from "effect/Result"
import type { Distribution } from "./Distribution.ts"

/**
 * What a plan is made for. Times are milliseconds, shares are from 0 to 1.
 *
 * @since 0.2.0
 */
export interface Settings {
  /** Calls arrive by chance, evenly over time: a Poisson process of this rate. */
  readonly tasksPerHour: number
  /** How long a task works, without its waits. */
  readonly duration: Distribution
  /** Tasks that ask for input once, somewhere in their work. */
  readonly asking: number
  /** How long a user takes, from when the client has seen the question. */
  readonly answerAfter: Distribution
  /** Tasks that end with an error, of those that are not cancelled. Every share is drawn by itself. */
  readonly failing: number
  /** Tasks that are given up by their user, somewhere in their work. */
  readonly cancelled: number
  /** Tasks whose client goes away as soon as it has the id and comes back for the result, of those not cancelled. */
  readonly away: number
  /** How long those stay away, from when they had the id. */
  readonly returnsAfter: Distribution
  /** Client processes that listen for notifications, polling beneath. */
  readonly listening: number
  readonly pollMs: number
  /** The longest life of a task from its creation. */
  readonly ttlMs: number
  /** How long an outcome stays readable at the least. */
  readonly resultTtlMs: number
  /** How many handlers run at the same moment, on replicas; without it, as many as there are tasks in one process. */
  readonly workers: number | undefined
  /** How often a handler reports while it works; not at all unless given. */
  readonly reportEveryMs: number | undefined
  /** How many client processes make the calls. */
  readonly clients: number
  readonly roundTripMs: number
  /** How long it takes until things are counted, so that the beginning, with nothing there, is left out. */
  readonly warmUpMs: number
  readonly countedMs: number
  readonly seed: number
}

/**
 * The settings where nothing else is said.
 *
 * @since 0.2.0
 */
export const defaults: Settings = {
  tasksPerHour: 1_000,
  duration: { _tag: "Lognormal", medianMs: 30_000, sigma: 0.8 },
  asking: 0,
  answerAfter: { _tag: "Lognormal", medianMs: 60_000, sigma: 1 },
  failing: 0,
  cancelled: 0,
  away: 0,
  returnsAfter: { _tag: "Exponential", meanMs: 1_800_000 },
  listening: 0,
  pollMs: 1_000,
  ttlMs: 3_600_000,
  resultTtlMs: 3_600_000,
  workers: undefined,
  reportEveryMs: undefined,
  clients: 100,
  roundTripMs: 20,
  warmUpMs: 3_600_000,
  countedMs: 2 * 3_600_000,
  seed: 1
}

/** The most tasks that one plan simulates: a minute or so of work. */
const mostTasks = 2_000_000

const dayMs = 86_400_000

const isShare = (value: number): boolean => value >= 0 && value <= 1

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

/** What may be wrong with settings, one rule for each, in the words of the command line. */
const rules: ReadonlyArray<readonly [isBroken: (settings: Settings) => boolean, why: string]> = [
  [({ tasksPerHour }) => !(tasksPerHour > 0 && tasksPerHour <= 1e7), "--tasks-per-hour is above 0, at most 10000000"],
  [({ asking }) => !isShare(asking), "--ask is a share from 0 to 1"],
  [({ failing }) => !isShare(failing), "--fail is a share from 0 to 1"],
  [({ cancelled }) => !isShare(cancelled), "--cancel is a share from 0 to 1"],
  [({ away }) => !isShare(away), "--away is a share from 0 to 1"],
  [({ listening }) => !isShare(listening), "--listen is a share from 0 to 1"],
  [({ pollMs }) => pollMs < 1, "--poll is at least 1ms"],
  [({ ttlMs }) => ttlMs < 1 || ttlMs > 30 * dayMs, "--ttl is from 1ms to 30d, the server's limit"],
  [({ resultTtlMs }) => resultTtlMs > 30 * dayMs, "--result-ttl is at most 30d, the server's limit"],
  [({ workers }) => workers !== undefined && !isCount(workers), "--workers is a whole number, at least 1"],
  [({ reportEveryMs }) => reportEveryMs !== undefined && reportEveryMs < 100, "--report-every is at least 100ms"],
  [({ clients }) => !isCount(clients), "--clients is a whole number, at least 1"],
  [({ roundTripMs }) => roundTripMs > 60_000, "--round-trip is at most 1m"],
  [({ warmUpMs }) => warmUpMs > 30 * dayMs, "--warm-up is at most 30d"],
  [({ countedMs }) => !(countedMs >= 10_000 && countedMs <= 30 * dayMs), "--hours is at least 10 seconds, at most 720"],
  [({ seed }) => !Number.isSafeInteger(seed), "--seed is a whole number"],
  [
    ({ countedMs, tasksPerHour }) => countedMs / 3_600_000 * tasksPerHour < 1,
    "that is less than one task; plan for more --hours or a higher rate"
  ],
  [
    ({ countedMs, tasksPerHour, warmUpMs }) => (countedMs + warmUpMs) / 3_600_000 * tasksPerHour > mostTasks,
    `that is more than ${mostTasks} tasks; plan for fewer --hours or a lower rate`
  ]
]

/**
 * Gives settings back if a plan can be made for them, or says what is wrong.
 *
 * @since 0.2.0
 */
export const check = (settings: Settings): Result.Result<Settings, string> => {
  const broken = rules.find(([isBroken]) => isBroken(settings))
  return broken === undefined ? Result.succeed(settings) : Result.fail(broken[1])
}
