/**
 * Breaks the task machine in one place after another and says which breaks no test notices: `npm run mutate`.
 *
 * Works on a copy under `out/`. Every site of every rule below is one mutant; a mutant is caught when a test of the
 * copy fails. Fails when a mutant survives that is not listed as harmless.
 */
import { execFile } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { fileURLToPath } from "node:url"

interface Mutant {
  readonly line: number
  readonly was: string
  readonly now: string
}

const root = fileURLToPath(new URL("../..", import.meta.url))
const source = readFileSync(`${root}/packages/core/src/TaskMachine.ts`, "utf8").split("\n")
const first = source.findIndex((line) => line.startsWith("export const create"))
const evolving = source.findIndex((line) => line.startsWith("export const evolve"))

/** What is replaced by what, at every place where it stands in code. */
const rules: ReadonlyArray<readonly [RegExp, string]> = [
  [/(case "\w+":)/, "$1 IDLE;"],
  [/\bif \(/, "if (false && "],
  [/\bif \(/, "if (true || "],
  [/ === /, " !== "],
  [/ !== /, " === "],
  [/ && /, " || "],
  [/ \|\| /, " && "],
  [/ >= /, " > "],
  [/ <= /, " < "],
  [/Math\.max/, "Math.min"],
  [/Math\.min/, "Math.max"],
  [/ \+ 1\b/, " + 0"],
  [/ \+ (?!1\b)/, " - "],
  [/ - /, " + "],
  [/\btrue\b/, "false"],
  [/\bfalse\b/, "true"],
  [/ \?\? /, " && "],
  [/\bhappened\(lost, /, "happened("],
  [/\bdated\(task, (command\.)?at\)/, "$1at"],
  [/\.\.\.(rest|task|fields|next|ended\(task, event\))\b/, "...{}"],
  [/(refuse\(.*, )"\w+"\)/, '$1"Nothing")'],
  [/\btask\.(status|running|cancelRequested|ttlMs|attempt|lostAttempts)\b(?= [!=]==| \|\||\)| \?)/, "undefined"],
  [/status: "\w+"/, 'status: "working"'],
  [/state: "\w+"/, 'state: "outstanding"']
]

const mutantsOf = (line: string, at: number): ReadonlyArray<Mutant> =>
  rules.flatMap(([pattern, by]) =>
    [...line.matchAll(new RegExp(pattern, "g"))].flatMap((found) => {
      const replaced = found[0].replace(pattern, by).replace("IDLE", at > evolving ? "return task" : "return nothing")
      const broken = replaced === found[0] ? line.slice(found.index).replace(pattern, by) : undefined
      const now = broken === undefined
        ? line.slice(0, found.index) + replaced + line.slice(found.index + found[0].length)
        : line.slice(0, found.index) + broken
      return now === line ? [] : [{ line: at, was: line.trim(), now }]
    })
  )

/** Mutants that change nothing: the text of the line as it would be. */
const harmless: ReadonlySet<string> = new Set([
  // A default that `ended` takes away again.
  "cancelRequested: true,"
])

const isCode = (line: string, at: number) => at >= first && !/^\s*(\/?\*|\/\/)|^type |^$/.test(line)
const mutants = source.flatMap((line, at) => isCode(line, at) ? mutantsOf(line, at) : [])

const tests = ["", "claim.", "losses.", "table.", "invariants."].map((name) => `TaskMachine.${name}test`)

const survives = (mutant: Mutant, slot: number): Promise<boolean> => {
  const copy = `${root}/out/mutate-${slot}`
  const broken = source.with(mutant.line, mutant.now).join("\n")
  writeFileSync(`${copy}/packages/core/src/TaskMachine.ts`, broken)
  return new Promise((resolve) =>
    execFile(`${root}/node_modules/.bin/vitest`, ["run", "--root", copy, "--bail", "1", ...tests], (error) =>
      resolve(error === null))
  )
}

const parts = [
  "packages/core",
  "packages/testing/src",
  "packages/testing/package.json",
  "vitest.config.ts",
  "tsconfig.base.json",
  "package.json"
]

const slots = Math.min(2, cpus().length)
for (let slot = 0; slot < slots; slot++) {
  const copy = `${root}/out/mutate-${slot}`
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(`${copy}/packages`, { recursive: true })
  // The tests specify the machine with the test kit, which must find the broken machine and not the real one.
  mkdirSync(`${copy}/node_modules/@effect-mcp-tasks`, { recursive: true })
  for (const name of ["core", "testing"]) {
    symlinkSync(`../../packages/${name}`, `${copy}/node_modules/@effect-mcp-tasks/${name}`)
  }
  for (const part of parts) {
    cpSync(`${root}/${part}`, `${copy}/${part}`, { recursive: true })
  }
}

const survivors: Array<Mutant> = []
const queue = mutants.values()
await Promise.all(Array.from({ length: slots }, async (_, slot) => {
  for (const mutant of queue) if (await survives(mutant, slot)) survivors.push(mutant)
}))

const unexpected = survivors.filter(({ now }) => !harmless.has(now.trim()))
for (const { line, now, was } of unexpected) console.log(`${line + 1}: ${was}\n  -> ${now.trim()}`)
const caught = mutants.length - survivors.length
console.log(`${mutants.length} mutants, ${caught} caught, ${unexpected.length} unexpected survivors`)
if (unexpected.length > 0) process.exitCode = 1
