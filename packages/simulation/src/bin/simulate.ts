/**
 * `npm run simulate`: runs the whole system in virtual time, seed after seed, with everything going wrong.
 *
 * Ends with exit code 1 when a rule was broken. One seed alone is shown with its history, and made smaller when it
 * breaks a rule.
 *
 * @since 0.1.0
 */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { availableParallelism } from "node:os"
import * as program from "./program.ts"
import * as sabotage from "../sabotage.ts"
import { sabotages } from "../sabotages.ts"

/** Chance begins with 32 bits: larger numbers would be other names for the same seeds. */
const lastSeed = 2 ** 32 - 1

const flags = {
  seeds: program.count("seeds", 1, 1e9).pipe(Flag.withDescription("How many seeds to run; 1000"), Flag.optional),
  from: program.count("from", 0, lastSeed).pipe(Flag.withDescription("The first of them; 1"), Flag.optional),
  seed: program.count("seed", 0, lastSeed).pipe(
    Flag.withDescription("Shows one seed with its history; one that breaks a rule is made smaller first"),
    Flag.optional
  ),
  size: program.count("size", 1, 1_000).pipe(
    Flag.withDescription("Worlds so many times as large and as long; 1"),
    Flag.optional
  ),
  threads: program.count("threads", 1, 1_000).pipe(
    Flag.withDescription("In how many threads; one for each core"),
    Flag.optional
  ),
  long: Flag.Boolean("long").pipe(
    Flag.withDescription("Says how often each thing was reached"),
    Flag.withDefault(false)
  ),
  complete: Flag.Boolean("complete").pipe(
    Flag.withDescription("Fails also when a phase, a transition or a kind of fault was not reached"),
    Flag.withDefault(false)
  ),
  broken: Flag.String("sabotage").pipe(
    Flag.withDescription("Breaks one line first, to see what comes of it; \"list\" names what can be broken"),
    Flag.optional
  )
}

const list = Console.log(sabotages.map(({ name, rule }) => `${name.padEnd(50)} ${rule}`).join("\n"))

type Options = Command.Command.Config.Infer<typeof flags>

/** The system is loaded only now, since it may have to be broken first. */
const showSeed = Effect.fn(function*(seed: number, size: number, broken: string | undefined) {
  const found = broken === undefined ? undefined : sabotage.find(broken)
  if (found !== undefined) sabotage.commit(found)
  const shown = (yield* Effect.promise(() => import("../showSeed.ts"))).showSeed(seed, size)
  yield* Console.log(shown.text)
  if (shown.isBroken) yield* program.fail
})

/** Which seeds to run, of what size, and what to say of them. */
const jobOf = ({ complete, from, long, seeds, size, threads }: Options) => ({
  from: Option.getOrElse(from, () => 1),
  count: Option.getOrElse(seeds, () => 1_000),
  size: Option.getOrElse(size, () => 1),
  threads: Option.getOrElse(threads, availableParallelism),
  isComplete: complete,
  isLong: long
})

const runSeeds = Effect.fn(function*(job: ReturnType<typeof jobOf>, name: string | undefined) {
  const { count, from, isComplete, isLong, size } = job
  const threads = yield* Effect.promise(() => import("../threads.ts"))
  const reportText = yield* Effect.promise(() => import("../reportText.ts"))
  const report = yield* threads.share(
    { from, count, size, isStoppedByFailure: name !== undefined },
    { threads: job.threads, sabotage: name }
  )
  yield* Console.log(reportText.print(report, { isLong, size, sabotage: name }))
  const { Coverage } = yield* Effect.promise(() => import("../Coverage.ts"))
  const lacks = isComplete && !new Coverage(report.counts).isComplete
  if (report.failures.length > 0 || lacks) yield* program.fail
})

/** What of the options would be without effect, and why; nothing when all of them go together. */
const contradiction = ({ broken, seed, size, ...ofMany }: Options): string | undefined => {
  const [idle, lost, vain] = [
    program.given({ seed, size, ...ofMany }),
    program.given(ofMany),
    program.given({ complete: ofMany.complete })
  ]
  if (Option.contains(broken, "list")) return idle && `--sabotage list only lists, and has no use for ${idle}`
  if (Option.isSome(seed)) return lost && `--seed shows one seed, and has no use for ${lost}: they are for many seeds`
  return Option.isSome(broken) && vain ? `--sabotage stops at the first failure, and has no use for ${vain}` : undefined
}

const main = Effect.fn(function*(options: Options) {
  const name = Option.getOrUndefined(options.broken)
  const wrong = contradiction(options)
  if (wrong !== undefined) return yield* program.refuse(wrong)
  if (name === "list") return yield* list
  if (name !== undefined && sabotage.find(name) === undefined) {
    return yield* program.refuse(`There is no sabotage "${name}": --sabotage list`)
  }
  const job = jobOf(options)
  if (Option.isSome(options.seed)) return yield* showSeed(options.seed.value, job.size, name)
  if (job.from + job.count - 1 > lastSeed) return yield* program.refuse(`The last seed is ${lastSeed}`)
  return yield* runSeeds(job, name)
})

program.run("simulate", "Simulates the whole system in virtual time, with everything going wrong", flags, main)
