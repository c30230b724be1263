/**
 * `npm run transcripts`: runs the scenarios of `packages/simulation/transcripts` and compares their histories. Those
 * that are named are shown too.
 *
 * Ends with exit code 1 and a diff when one is not as expected; `--rewrite` renews them. One that breaks a rule is
 * never renewed.
 *
 * @since 0.1.0
 */
import * as Argument from "effect/cli/Argument"
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
  names: Argument.variadic(
    Argument.String("name").pipe(
      Argument.withDescription("Which to run and show, such as lost-signal; all, and none shown, unless given")
    )
  ),
  rewrite: Flag.Boolean("rewrite").pipe(
    Flag.withDescription("Renews the histories that are not as expected"),
    Flag.withDefault(false)
  )
}

/** What is to be done with a transcript. */
interface Wish {
  readonly rewrite: boolean
  readonly isShown: boolean
}

/** Runs one transcript, and says whether all is as it should be now. */
const check = Effect.fn(function*(name: string, { isShown, rewrite }: Wish) {
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
    yield* Console.log(isShown ? `${actual}${name}: as expected` : `${name}: as expected`)
    return true
  }
  yield* Console.log(`${name}: ${rewrite ? "renewed" : "not as expected"}\n${Transcript.diff(expected, actual)}`)
  if (rewrite) yield* fs.writeFileString(folder + name, renewed)
  return rewrite
})

const main = Effect.fn(function*({ names, rewrite }: Command.Command.Config.Infer<typeof flags>) {
  const fs = yield* FileSystem.FileSystem
  const there = (yield* fs.readDirectory(folder)).filter((name) => name.endsWith(".md") && name !== "README.md")
  const wanted = names.map((name) => name.endsWith(".md") ? name : `${name}.md`)
  const missing = wanted.find((name) => !there.includes(name))
  if (missing !== undefined) {
    const all = there.toSorted().map((name) => `  ${name.slice(0, -".md".length)}`)
    const what = `There is no transcript "${missing.slice(0, -".md".length)}", but`
    return yield* program.refuse([what, ...all].join("\n"))
  }
  const chosen = names.length === 0 ? there : [...new Set(wanted)]
  const wish = { rewrite, isShown: names.length > 0 }
  const fine = yield* Effect.forEach(chosen.toSorted(), (name) => check(name, wish))
  const bad = fine.filter((isFine) => !isFine).length
  yield* Console.log(`${chosen.length} transcripts, ${bad} not as they should be`)
  if (bad > 0) yield* program.fail
})

program.run("transcripts", "Runs the scenarios that explain races, and compares their histories", flags, main)
