/**
 * `npm run fuzz -- --inputs N --seed S`: sends drawn inputs to a server, over HTTP and as lines, and says how they were
 * answered. Ends with 0 only if there was no violation.
 *
 * @since 0.2.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Campaign from "./fuzz/Campaign.ts"

/** The server did what it must not do. */
class Violated extends Schema.TaggedError<Violated>()("Violated", { count: Schema.Int }) {}

const flags = {
  inputs: Flag.Int("inputs").pipe(Flag.withDescription("How many inputs each transport gets"), Flag.withDefault(5_000)),
  seed: Flag.Int("seed").pipe(Flag.withDescription("Where chance begins; the time unless given"), Flag.optional),
  only: Flag.Int("only").pipe(Flag.withDescription("The number of the one input to send again"), Flag.optional),
  transport: Flag.Literals("transport", ["both", "http", "stdio"]).pipe(
    Flag.withDescription("Over what the server is reached"),
    Flag.withDefault("both")
  )
}

const mebi = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

const table = ({ classes, end, inputs, violations, warm }: Campaign.Report, took: number): string => {
  const counts = [...classes].toSorted(([, a], [, b]) => b - a)
  return [
    `  ${inputs} inputs in ${(took / 1_000).toFixed(1)} s, ${Math.round(inputs / took * 1_000)} a second`,
    ...counts.map(([kind, count]) => `  ${String(count).padStart(8)}  ${kind}`),
    `  heap ${mebi(warm.heap)} after a tenth, ${mebi(end.heap)} in the end; ` +
    `${end.connections} connections and ${end.listeners} subscriptions left`,
    `  ${violations.length} violations`
  ].join("\n")
}

const details = (violations: ReadonlyArray<Campaign.Violation>, seed: number, transport: string): string =>
  violations.slice(0, 10).map(({ input, number, what }) =>
    `\n  ${what}\n  input ${number}: ${input}\n` +
    `  again: npm run fuzz -- --transport ${transport} --seed ${seed} --only ${number}`
  ).join("\n")

const command = Command.make(
  "npm run fuzz --",
  flags,
  Effect.fn(function*({ inputs, only, seed: given, transport }) {
    const seed = Option.getOrElse(given, () => Date.now() % 2 ** 31)
    const transports = transport === "both" ? ["http", "stdio"] as const : [transport]
    let count = 0
    for (const transport of transports) {
      yield* Console.log(`${transport}, seed ${seed}`)
      const began = performance.now()
      const report = yield* Campaign.run({ transport, seed, inputs, only: Option.getOrUndefined(only) })
      yield* Console.log(table(report, performance.now() - began))
      if (report.violations.length > 0) yield* Console.log(details(report.violations, seed, transport))
      count += report.violations.length
    }
    yield* Console.log(`${count} violations`)
    if (count > 0) return yield* new Violated({ count })
  })
).pipe(Command.withDescription("Fuzzes a server over HTTP and the standard streams"))

command.pipe(
  Command.run({ version: "0.2.0" }),
  Effect.catchTag("Violated", () => Effect.sync(() => process.exitCode = 1)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
