/**
 * Runs a scenario of the official conformance suite against a server or a client, and reads what it wrote down.
 *
 * The suite's exit code is not looked at: it is 0 for a scenario that ran nothing.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import type { Scenario } from "./Scenarios.ts"
import { Check, type ScenarioRun } from "./Verdict.ts"

/** Far above what any scenario takes; one that hangs ends as a scenario without checks. */
const patience = Duration.minutes(2)

const Manifest = Schema.fromJsonString(Schema.Struct({
  version: Schema.String,
  bin: Schema.Struct({ conformance: Schema.String })
}))

const Checks = Schema.fromJsonString(Schema.Array(Check))

const manifestPath = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json"))

/**
 * Finds the suite's program and version in the installed package.
 *
 * @category constructors
 * @since 0.1.0
 */
export const locate = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const manifest = yield* Schema.decodeEffect(Manifest)(yield* fs.readFileString(manifestPath))
  return { version: manifest.version, program: path.join(path.dirname(manifestPath), manifest.bin.conformance) }
})

/**
 * Runs one scenario against the server at `url`.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (scenario: Scenario, url: string) => execute(scenario, ["server", "--url", url])

/**
 * Runs one scenario against the client that `command` starts: words without blanks, to which the suite adds the url.
 *
 * @category running
 * @since 0.1.0
 */
export const runClient = (scenario: Scenario, command: string) => execute(scenario, ["client", "--command", command])

const execute = Effect.fn("OfficialSuite.run")(
  function*(scenario: Scenario, subject: ReadonlyArray<string>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { program } = yield* locate
    const out = yield* fs.makeTempDirectoryScoped({ prefix: "conformance-" })
    const version = scenario.specVersion === undefined ? [] : ["--spec-version", scenario.specVersion]
    const child = yield* ChildProcess.make(
      process.execPath,
      [program, ...subject, "--scenario", scenario.name, "-o", out, ...version],
      { stdin: "ignore" }
    )
    const printed = yield* child.all.pipe(
      Stream.decodeText(),
      Stream.mkString,
      Effect.timeoutOption(patience)
    )
    const directories = yield* fs.readDirectory(out)
    const files = directories.map((directory) => path.join(out, directory, "checks.json"))
    const written = yield* Effect.filter(files, (file) => fs.exists(file))
    const checks = yield* Effect.forEach(written, (file) =>
      Effect.flatMap(fs.readFileString(file), Schema.decodeEffect(Checks)))
    const run: ScenarioRun = {
      scenario: scenario.name,
      checks: checks.flat(),
      output: Option.getOrElse(printed, () => `still running after ${Duration.format(patience)}`)
    }
    return run
  },
  Effect.scoped
)
