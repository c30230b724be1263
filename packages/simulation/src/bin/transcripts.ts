/**
 * `npm run transcripts`: runs the scenarios of `packages/simulation/transcripts` and compares their histories.
 *
 * Ends with exit code 1 and a diff when one is not as expected; `--rewrite` renews them. One that breaks a rule is
 * never renewed.
 *
 * @since 0.1.0
 */
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import { fileURLToPath } from "node:url"
import * as program from "./program.ts"
import * as Transcript from "../Transcript.ts"

const folder = fileURLToPath(new URL("../../transcripts/", import.meta.url))

const flags = {
  rewrite: Flag.Boolean("rewrite").pipe(
    Flag.withDescription("Renews the histories that are not as expected"),
    Flag.withDefault(false)
  )
}

/** Runs one transcript, and says whether all is as it should be now. */
const check = Effect.fn(function*(name: string, rewrite: boolean) {
  const fs = yield* FileSystem.FileSystem
  const performance = Transcript.perform(yield* fs.readFileString(folder + name))
  if (Result.isFailure(performance)) {
    yield* Console.log(`${name}: ${performance.failure}`)
    return false
  }
  const { actual, expected, renewed, violations } = performance.success
  if (violations.length > 0) {
    yield* Console.log([`${name}: breaks a rule`, ...violations, actual].join("\n"))
    return false
  }
  if (actual === expected) {
    yield* Console.log(`${name}: as expected`)
    return true
  }
  yield* Console.log(`${name}: ${rewrite ? "renewed" : "not as expected"}\n${Transcript.diff(expected, actual)}`)
  if (rewrite) yield* fs.writeFileString(folder + name, renewed)
  return rewrite
})

const main = Effect.fn(function*({ rewrite }: Command.Command.Config.Infer<typeof flags>) {
  const fs = yield* FileSystem.FileSystem
  const names = (yield* fs.readDirectory(folder)).filter((name) => name.endsWith(".md") && name !== "README.md")
  const fine = yield* Effect.forEach(names.toSorted(), (name) => check(name, rewrite))
  const bad = fine.filter((isFine) => !isFine).length
  yield* Console.log(`${names.length} transcripts, ${bad} not as they should be`)
  if (bad > 0) yield* program.fail
})

program.run("transcripts", "Runs the scenarios that explain races, and compares their histories", flags, main)
