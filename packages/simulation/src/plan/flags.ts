/**
 * The settings of a plan on the command line: every option with its unit, its default, and what is wrong with a value.
 *
 * @since 0.2.0
 */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as CliError from "effect/cli/CliError"
import type * as Command from "effect/cli/Command"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Distribution from "./Distribution.ts"
import * as Settings from "./Settings.ts"

const { defaults } = Settings

const read = <A>(name: string, parse: (text: string) => Result.Result<A, string>) =>
  Flag.mapEffect((text: string) =>
    Result.match(parse(text), {
      onSuccess: (value) => Effect.succeed(value),
      onFailure: (expected) =>
        Effect.fail(new CliError.InvalidValue({ option: name, value: text, expected, kind: "flag" }))
    })
  )

const time = (name: string, what: string) =>
  Flag.String(name).pipe(read(name, Distribution.parseTime), Flag.withMetavar("TIME"), Flag.withDescription(what))

const spread = (name: string, what: string) =>
  Flag.String(name).pipe(
    read(name, Distribution.parse),
    Flag.withMetavar("DISTRIBUTION"),
    Flag.withDescription(what)
  )

const share = (name: string, what: string) =>
  Flag.Finite(name).pipe(Flag.withMetavar("SHARE"), Flag.withDescription(what), Flag.withDefault(0))

const withTime = (name: string, what: string, ms: number) =>
  time(name, `${what}; ${Distribution.printTime(ms)}`).pipe(Flag.withDefault(ms))

const withSpread = (name: string, what: string, distribution: Distribution.Distribution) =>
  spread(name, `${what}; ${Distribution.print(distribution)}`).pipe(Flag.withDefault(distribution))

/**
 * The options.
 *
 * @since 0.2.0
 */
export const all = {
  tasksPerHour: Flag.Finite("tasks-per-hour").pipe(
    Flag.withDescription(`How many tasks arrive in an hour, by chance and evenly; ${defaults.tasksPerHour}`),
    Flag.withDefault(defaults.tasksPerHour)
  ),
  duration: withSpread(
    "duration",
    "How long a task works: fixed:TIME, exponential:MEAN, lognormal:MEDIAN,SIGMA or uniform:LOW,HIGH",
    defaults.duration
  ),
  pollMs: withTime("poll", "How often clients are asked to poll", defaults.pollMs),
  asking: share("ask", "Share of tasks that ask for input, once"),
  answerAfter: withSpread("answer-after", "How long users take to answer", defaults.answerAfter),
  failing: share("fail", "Share of tasks that are not cancelled that fail"),
  cancelled: share("cancel", "Share of tasks that are cancelled, somewhere in their work"),
  away: share("away", "Share of tasks that are not cancelled whose client goes away and comes back for the result"),
  returnsAfter: withSpread("client-returns-after", "How long those stay away", defaults.returnsAfter),
  listening: share("listen", "Share of clients that listen for notifications, polling beneath"),
  ttlMs: withTime("ttl", "The longest life of a task", defaults.ttlMs),
  resultTtlMs: withTime("result-ttl", "How long a result is kept at the least", defaults.resultTtlMs),
  workers: Flag.Int("workers").pipe(
    Flag.withDescription("How many handlers run at a time on all replicas together; unlimited, in one process"),
    Flag.optional
  ),
  reportEveryMs: time("report-every", "How often a handler reports while it works; not at all").pipe(Flag.optional),
  clients: Flag.Int("clients").pipe(
    Flag.withDescription(`How many client processes call; ${defaults.clients}`),
    Flag.withDefault(defaults.clients)
  ),
  roundTripMs: withTime("round-trip", "How long a request and its answer take", defaults.roundTripMs),
  hours: Flag.Finite("hours").pipe(
    Flag.withDescription(`How many hours are counted; ${defaults.countedMs / 3_600_000}`),
    Flag.withDefault(defaults.countedMs / 3_600_000)
  ),
  warmUpMs: withTime("warm-up", "How long before that nothing is counted", defaults.warmUpMs),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription(`What chance begins with; ${defaults.seed}`),
    Flag.withDefault(defaults.seed)
  ),
  svg: Flag.String("svg").pipe(
    Flag.withDescription("Writes a chart over time to a file"),
    Flag.withMetavar("FILE"),
    Flag.optional
  ),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Prints JSON instead of a table"), Flag.withDefault(false))
}

/**
 * The options as they were given.
 *
 * @since 0.2.0
 */
export type PlanOptions = Command.Command.Config.Infer<typeof all>

/**
 * The settings that the options ask for, or what is wrong with them.
 *
 * @since 0.2.0
 */
export const settingsOf = (
  { hours, json: _, reportEveryMs, svg: __, workers, ...given }: PlanOptions
): Result.Result<Settings.Settings, string> =>
  Settings.check({
    ...given,
    countedMs: Math.round(hours * 3_600) * 1_000,
    workers: Option.getOrUndefined(workers),
    reportEveryMs: Option.getOrUndefined(reportEveryMs)
  })
