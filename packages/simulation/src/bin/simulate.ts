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
  count: program.count("seeds", 1, 1e9).pipe(
    Flag.withDescription("How many seeds to run; 1000"),
    Flag.withDefault(1_000)
  ),
  from: program.count("from", 0, lastSeed).pipe(Flag.withDescription("The first of them; 1"), Flag.withDefault(1)),
  seed: program.count("seed", 0, lastSeed).pipe(
    Flag.withDescription("Shows one seed with its history; one that breaks a rule is made smaller first"),
    Flag.optional
  ),
  size: program.count("size", 1, 1_000).pipe(
    Flag.withDescription("Worlds so many times as large and as long; 1"),
    Flag.withDefault(1)
  ),
  threads: program.count("threads", 1, 1_000).pipe(
    Flag.withDescription("In how many threads; one for each core"),
    Flag.withDefault(availableParallelism())
  ),
  isLong: Flag.Boolean("long").pipe(
    Flag.withDescription("Says how often each thing was reached"),
    Flag.withDefault(false)
  ),
  isComplete: Flag.Boolean("complete").pipe(
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

const runSeeds = Effect.fn(function*(options: Options, name: string | undefined) {
  const { count, from, isComplete, isLong, size } = options
  const threads = yield* Effect.promise(() => import("../threads.ts"))
  const reportText = yield* Effect.promise(() => import("../reportText.ts"))
  const report = yield* threads.share(
    { from, count, size, isStoppedByFailure: name !== undefined },
    { threads: options.threads, sabotage: name }
  )
  yield* Console.log(reportText.print(report, { isLong, size, sabotage: name }))
  const { Coverage } = yield* Effect.promise(() => import("../Coverage.ts"))
  const lacks = isComplete && !new Coverage(report.counts).isComplete
  if (report.failures.length > 0 || lacks) yield* program.fail
})

const main = Effect.fn(function*(options: Options) {
  const { count, from, isComplete, seed, size } = options
  const name = Option.getOrUndefined(options.broken)
  if (name === "list") return yield* list
  if (name !== undefined && sabotage.find(name) === undefined) {
    return yield* program.refuse(`There is no sabotage "${name}": --sabotage list`)
  }
  if (Option.isSome(seed)) {
    return yield* isComplete
      ? program.refuse("--complete is for many seeds: no --seed reaches everything")
      : showSeed(seed.value, size, name)
  }
  if (from + count - 1 > lastSeed) return yield* program.refuse(`The last seed is ${lastSeed}`)
  return yield* runSeeds(options, name)
})

program.run("simulate", "Simulates the whole system in virtual time, with everything going wrong", flags, main)
