/**
 * Runs the official suite's client scenarios on our client, and says what they came to: `npm run conformance:client`.
 *
 * Ends with 0 only if every scenario ran, and every check ended as expected.
 *
 * @since 0.1.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import * as ClientScenarios from "./suite/ClientScenarios.ts"
import * as OfficialSuite from "./suite/OfficialSuite.ts"
import * as Report from "./suite/Report.ts"
import * as Verdict from "./suite/Verdict.ts"

/** The suite did not say what is expected of it. */
class NotConformant extends Schema.TaggedError<NotConformant>()("NotConformant", { summary: Schema.String }) {}

const program = fileURLToPath(new URL("client/ClientUnderTest.ts", import.meta.url))

const command = [process.execPath, ...process.execArgv, program].join(" ")

const run = Effect.gen(function*() {
  const { version } = yield* OfficialSuite.locate
  const { expectations, scenarios } = ClientScenarios
  yield* Console.log(`@modelcontextprotocol/conformance ${version}, ${scenarios.length} client scenarios\n`)
  const verdicts = yield* Effect.forEach(scenarios, (scenario) =>
    Effect.map(OfficialSuite.runClient(scenario, command), (done) => Verdict.judge(done, expectations)))
  yield* Console.log(`${Report.table(verdicts)}\n\n${Report.details(verdicts)}`)
  const summary = Report.summary(verdicts)
  yield* Console.log(`\n${summary}`)
  if (verdicts.some(({ faults }) => faults.length > 0)) return yield* new NotConformant({ summary })
})

run.pipe(
  Effect.catchTag("NotConformant", () => Effect.sync(() => process.exitCode = 1)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
