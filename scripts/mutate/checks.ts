/**
 * Takes away one check after another of those that a message must pass, and says which test notices.
 *
 * Works on a copy under `out/`. Each removal is tried against the tests nearest to it, and where they do not notice
 * against all that might; `--near` leaves out the latter. Writes a table to `out/checks.md`; what a check's row says
 * already is kept, unless it is nobody, so that a run may be stopped and continued: `--again` begins anew. Exit code 1
 * when something survives that is not listed as harmless.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as attempts from "./attempts.ts"
import { harmless } from "./harmless.ts"
import * as sites from "./sites.ts"
import { everyTest, type Target, targets } from "./targets.ts"

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")
const copy = `${root}/out/checks`

const nobody = "**nobody**"

const prepare = () => {
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(`${copy}/node_modules/@effect-mcp-tasks`, { recursive: true })
  for (const name of readdirSync(`${root}/packages`)) {
    cpSync(`${root}/packages/${name}`, `${copy}/packages/${name}`, { recursive: true })
    // The copies must find each other, and not the real ones.
    symlinkSync(`../../packages/${name}`, `${copy}/node_modules/@effect-mcp-tasks/${name}`)
  }
  for (const file of ["tsconfig.base.json", "package.json"]) cpSync(`${root}/${file}`, `${copy}/${file}`)
  attempts.configure(root, copy)
}

/** All test files below a path of `packages/`. */
const testsBelow = (path: string): ReadonlyArray<string> =>
  path.endsWith(".ts") ? [path] : readdirSync(`${root}/packages/${path}`)
    .filter((name) => name.endsWith(".test.ts") && !name.includes("integration"))
    .map((name) => `${path}/${name}`)

const nameOf = ({ file }: Target, { now, was }: sites.Removal) => `${file}.ts: ${was} -> ${now}`

const cell = (text: string) => text.replaceAll("|", "/").replaceAll("`", "'")

const columns = ({ file }: Target, { now, was }: sites.Removal) => `\`${cell(was)}\` | \`${cell(now)}\` | ${file}.ts`

const rowOf = (target: Target, removal: sites.Removal, by: string) =>
  `| ${columns(target, removal)} | ${removal.line} | ${cell(by)} |`

const table = `${root}/out/checks.md`

const known = /^\| (?<what>.*) \| \d+ \| (?<by>.*) \|$/

/** The rows that an earlier run has written. */
const earlierRows = existsSync(table) ? readFileSync(table, "utf8").split("\n").filter((row) => known.test(row)) : []

/** What an earlier run has found, by the columns that say what was gone. */
const earlier = new Map((process.argv.includes("--again") ? [] : earlierRows).flatMap((row) => {
  const { by, what } = known.exec(row)?.groups ?? {}
  return what === undefined || by === undefined || by === nobody ? [] : [[what, by] as const]
}))

type Found = ReadonlyArray<readonly [sites.Removal, string | undefined]>

const harmlessBy = (name: string) => {
  const reason = harmless.get(name)
  return reason === undefined ? undefined : `nobody, since ${reason}`
}

/** Who notices each removal from a file. */
const tryAll = async (target: Target): Promise<Found> => {
  const path = `packages/${target.file}.ts`
  const original = readFileSync(`${root}/${path}`, "utf8")
  const noticer = (removal: sites.Removal) =>
    harmlessBy(nameOf(target, removal)) ?? earlier.get(columns(target, removal))
  const { removals, text } = sites.switched(path, original)
  const noticed = new Map(removals.map((removal, index) => [index, noticer(removal)] as const))
  const passes = process.argv.includes("--near") ? [target.tests] : [target.tests, everyTest]
  writeFileSync(`${copy}/${path}`, text)
  for (const tests of passes) {
    const open = removals.flatMap((_, index) => noticed.get(index) === undefined ? [index] : [])
    for (const [index, by] of await attempts.switchedOff(copy, open, tests.flatMap(testsBelow))) noticed.set(index, by)
  }
  const others: Array<readonly [sites.Removal, string | undefined]> = []
  for (const change of target.more ?? []) {
    const removal = sites.listed(path, original, change)
    let by = noticer(removal)
    writeFileSync(`${copy}/${path}`, removal.text)
    for (const tests of by === undefined ? passes : []) {
      by ??= (await attempts.switchedOff(copy, [-1], tests.flatMap(testsBelow))).get(-1)
    }
    others.push([removal, by])
  }
  writeFileSync(`${copy}/${path}`, original)
  return [...removals.map((removal, index) => [removal, noticed.get(index)] as const), ...others]
}

const part = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? ""
const rows: Array<string> = []
const survivors: Array<string> = []
const done = new Set<string>()

const save = (target: Target, found: Found) => {
  rows.push(...found.map(([removal, by]) => rowOf(target, removal, by ?? nobody)))
  done.add(`${target.file}.ts`)
  const others = earlierRows.filter((row) => !done.has(row.split(" | ").at(-3) ?? ""))
  const all = [...rows, ...others].join("\n")
  writeFileSync(table, `| Was | Now | File | Line | Noticed by |\n|---|---|---|---|---|\n${all}\n`)
}

prepare()
for (const target of targets.filter(({ file }) => file.includes(part))) {
  const found = await tryAll(target)
  const left = found.flatMap(([removal, by]) => by === undefined ? [nameOf(target, removal)] : [])
  survivors.push(...left)
  console.log(`${target.file}: ${found.length} checks, ${found.length - left.length} noticed or harmless`)
  for (const survivor of left) console.log(`  nobody notices ${survivor}`)
  save(target, found)
}
console.log(`${rows.length} checks, ${rows.length - survivors.length} noticed or harmless, ${survivors.length} survive`)
if (survivors.length > 0) process.exitCode = 1
