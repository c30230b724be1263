/**
 * `npm run simulate`: runs the whole system in virtual time, seed after seed, with everything going wrong.
 *
 * Ends with exit code 1 when a rule was broken. One seed alone is shown with its history, and made smaller when it
 * breaks a rule.
 *
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { availableParallelism } from "node:os"
import * as sabotage from "../sabotage.ts"
import { sabotages } from "../sabotages.ts"

const flags = {
  count: Flag.Int("seeds").pipe(Flag.withDescription("How many seeds to run; 1000"), Flag.withDefault(1_000)),
  from: Flag.Int("from").pipe(Flag.withDescription("The first of them; 1"), Flag.withDefault(1)),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("Shows one seed with its history; one that breaks a rule is made smaller first"),
    Flag.optional
  ),
  size: Flag.Int("size").pipe(
    Flag.withDescription("Worlds so many times as large and as long; 1"),
    Flag.withDefault(1)
  ),
  threads: Flag.Int("threads").pipe(
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

const fail = Effect.sync(() => {
  process.exitCode = 1
})

const list = Console.log(sabotages.map(({ name, rule }) => `${name.padEnd(50)} ${rule}`).join("\n"))

const isKnown = (name: string): boolean => sabotage.find(name) !== undefined

const unknown = (name: string) =>
  Effect.fail(new CliError.UserError({ userMessage: `There is no sabotage "${name}": --sabotage list`, cause: name }))

/** The system is loaded only now, since it may have to be broken first. */
const showSeed = Effect.fn(function*(seed: number, size: number, broken: string | undefined) {
  const found = broken === undefined ? undefined : sabotage.find(broken)
  if (found !== undefined) sabotage.commit(found)
  const shown = (yield* Effect.promise(() => import("../showSeed.ts"))).showSeed(seed, size)
  yield* Console.log(shown.text)
  if (shown.isBroken) yield* fail
})

const runSeeds = Effect.fn(function*(
  job: { readonly from: number; readonly count: number; readonly size: number },
  options: {
    readonly threads: number
    readonly isLong: boolean
    readonly isComplete: boolean
    readonly sabotage: string | undefined
  }
) {
  const threads = yield* Effect.promise(() => import("../threads.ts"))
  const reportText = yield* Effect.promise(() => import("../reportText.ts"))
  const report = yield* threads.share(
    { ...job, isStoppedByFailure: options.sabotage !== undefined },
    options
  )
  yield* Console.log(reportText.print(report, options.isLong))
  const { Coverage } = yield* Effect.promise(() => import("../Coverage.ts"))
  const lacks = options.isComplete && !new Coverage(report.counts).isComplete
  if (report.failures.length > 0 || lacks) yield* fail
})

type Options = Command.Command.Config.Infer<typeof flags>

const main = Effect.fn(function*(options: Options) {
  const { count, from, seed, size } = options
  const name = Option.getOrUndefined(options.broken)
  if (name === "list") return yield* list
  if (name !== undefined && !isKnown(name)) return yield* unknown(name)
  return yield* Option.isSome(seed)
    ? showSeed(seed.value, size, name)
    : runSeeds({ from, count, size }, { ...options, sabotage: name })
})

Command.make("npm run simulate --", flags, main).pipe(
  Command.withDescription("Simulates the whole system in virtual time, with everything going wrong"),
  Command.run({ version: "0.1.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
