/**
 * Runs the official conformance suite against the fixture server, and says what it came to.
 *
 * Ends with 0 only if every scenario ran, and every check ended as expected.
 *
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as FixtureStore from "./FixtureStore.ts"
import * as ServeProcess from "./ServeProcess.ts"
import * as OfficialSuite from "./suite/OfficialSuite.ts"
import * as Report from "./suite/Report.ts"
import * as Scenarios from "./suite/Scenarios.ts"
import * as Verdict from "./suite/Verdict.ts"

/** The suite did not say what is expected of it. */
class NotConformant extends Schema.TaggedError<NotConformant>()("NotConformant", { summary: Schema.String }) {}

const all = [...Scenarios.tasks, ...Scenarios.tools]

const runOn = Effect.fn("conformance.runOn")(
  function*(store: FixtureStore.StoreName, scenarios: ReadonlyArray<Scenarios.Scenario>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* fs.makeTempDirectoryScoped({ prefix: "conformance-store-" })
    const server = yield* ServeProcess.start({ store, file: path.join(directory, "tasks.db") })
    const verdicts = yield* Effect.forEach(scenarios, (scenario) =>
      Effect.map(OfficialSuite.run(scenario, server.url), (run) => Verdict.judge(run, Scenarios.expectations)))
    yield* Console.log(`\nStore: ${store}\n\n${Report.table(verdicts)}\n\n${Report.details(verdicts)}`)
    return verdicts
  },
  Effect.scoped
)

const command = Command.make(
  "conformance",
  {
    store: Flag.Literals("store", [...FixtureStore.names, "all"]).pipe(
      Flag.withDescription("Where the fixture server keeps tasks"),
      Flag.withDefault("all")
    ),
    scenario: Flag.Literals("scenario", all.map(({ name }) => name)).pipe(
      Flag.withDescription("The one scenario to run; all unless given"),
      Flag.optional
    )
  },
  Effect.fn(function*({ scenario, store }) {
    const chosen = Option.match(scenario, {
      onNone: () => all,
      onSome: (name) => all.filter((known) => known.name === name)
    })
    const { version } = yield* OfficialSuite.locate
    yield* Console.log(`@modelcontextprotocol/conformance ${version}, ${chosen.length} scenarios`)
    const stores = store === "all" ? FixtureStore.names : [store]
    const verdicts = (yield* Effect.forEach(stores, (name) => runOn(name, chosen))).flat()
    if (Option.isNone(scenario)) yield* Console.log(`\n${Report.omissions(Scenarios.notRun)}`)
    const summary = Report.summary(verdicts)
    yield* Console.log(`\n${summary}`)
    if (verdicts.some(({ faults }) => faults.length > 0)) return yield* new NotConformant({ summary })
  })
).pipe(Command.withDescription("Runs the official conformance suite against the fixture server"))

command.pipe(
  Command.run({ version: "0.1.0" }),
  Effect.catchTag("NotConformant", () => Effect.sync(() => process.exitCode = 1)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
