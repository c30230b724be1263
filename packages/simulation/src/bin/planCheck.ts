/**
 * `npm run plan:check`: a plan, and then a real server and real clients that live the same lives; their figures side by
 * side.
 *
 * Ends with exit code 1 where a request rate is off by more than a tenth. Arrivals, times and ways of users are the
 * same in both, drawn from one seed: what is compared is what follows from them, not luck. The server is one process
 * with the embedded runner; replicas are not compared.
 *
 * @since 0.2.0
 */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as comparison from "../plan/comparison.ts"
import * as planFlags from "../plan/flags.ts"
import * as Plan from "../plan/Plan.ts"
import * as RealRun from "../plan/RealRun.ts"
import { defaults, type Settings } from "../plan/Settings.ts"
import * as program from "./program.ts"

/** A few tasks a second, short ones, of every kind. */
const settings: Settings = {
  ...defaults,
  tasksPerHour: 10_800,
  duration: { _tag: "Lognormal", medianMs: 4_000, sigma: 0.8 },
  asking: 0.2,
  answerAfter: { _tag: "Exponential", meanMs: 3_000 },
  failing: 0.05,
  cancelled: 0.1,
  away: 0.2,
  returnsAfter: { _tag: "Exponential", meanMs: 12_000 },
  listening: 0.25,
  pollMs: 500,
  ttlMs: 25_000,
  resultTtlMs: 15_000,
  clients: 12,
  warmUpMs: 0
}

const flags = {
  seconds: program.count("seconds", 10, 3_600).pipe(
    Flag.withDescription("How long tasks arrive, and requests are counted; 75"),
    Flag.withDefault(75)
  ),
  roundTripMs: planFlags.all.roundTripMs,
  seed: planFlags.all.seed
}

/** How long clients that have not come back by then are waited for. */
const graceMs = 60_000

const main = Effect.fn(function*({ roundTripMs, seconds, seed }: Command.Command.Config.Infer<typeof flags>) {
  const given = { ...settings, countedMs: seconds * 1_000, roundTripMs, seed }
  const plan = Plan.run(given)
  yield* Console.log(comparison.heading(plan))
  const run = yield* RealRun.run(given, graceMs)
  const { isClose, text } = comparison.print(plan, run)
  yield* Console.log(text)
  if (!isClose) yield* program.fail
}, Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])))

program.run("plan:check", "Holds a plan against a real server with real clients, in real time", flags, main)
