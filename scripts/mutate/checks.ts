/**
 * Takes away one check after another of those that a message must pass, and says which test notices.
 *
 * Works on a copy under `out/`. Each removal is tried against the tests nearest to it, and where they do not notice
 * against all that might. Writes a table to `out/checks.md`. Exit code 1 when something survives that is not listed as
 * harmless.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as attempts from "./attempts.ts"
import * as sites from "./sites.ts"
import { everyTest, harmless, type Target, targets } from "./targets.ts"

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")
const copy = `${root}/out/checks`

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

/** Whoever notices each removal of a file, by its index. */
const tryAll = async (target: Target): Promise<ReadonlyArray<readonly [sites.Removal, string | undefined]>> => {
  const path = `packages/${target.file}.ts`
  const original = readFileSync(`${root}/${path}`, "utf8")
  const { removals, text } = sites.switched(path, original)
  const reasons = removals.map((removal) => harmless.get(nameOf(path, removal)))
  const noticed = new Map(reasons.flatMap((reason, index) => reason === undefined ? [] : [[index, reason]] as const))
  const open = () => removals.flatMap((_, index) => noticed.has(index) ? [] : [index])
  writeFileSync(`${copy}/${path}`, text)
  for (const tests of process.argv.includes("--near") ? [target.tests] : [target.tests, everyTest]) {
    for (const [index, by] of await attempts.switchedOff(copy, open(), tests.flatMap(testsBelow))) noticed.set(index, by)
  }
  const found = removals.map((removal, index) => [removal, noticed.get(index)] as const)
  const others: Array<readonly [sites.Removal, string | undefined]> = []
  for (const change of target.more ?? []) {
    const removal = sites.listed(path, original, change)
    writeFileSync(`${copy}/${path}`, removal.text)
    const tests = target.tests.flatMap(testsBelow)
    const reason = harmless.get(nameOf(path, removal))
    others.push([removal, reason ?? (await attempts.switchedOff(copy, [-1], tests)).get(-1)])
  }
  writeFileSync(`${copy}/${path}`, original)
  return [...found, ...others]
}

const nameOf = (path: string, { now, was }: sites.Removal) => `${path}: ${was} -> ${now}`

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("`", "'")

const rowOf = ({ file }: Target, { line, now, was }: sites.Removal, by: string) =>
  `| ${file}.ts:${line} | \`${cell(was)}\` | \`${cell(now)}\` | ${cell(by)} |`

const part = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? ""
const rows: Array<string> = []
const survivors: Array<string> = []
prepare()
for (const target of targets.filter(({ file }) => file.includes(part))) {
  const found = await tryAll(target)
  const left = found.filter(([, by]) => by === undefined).map(([removal]) => nameOf(`packages/${target.file}.ts`, removal))
  survivors.push(...left)
  rows.push(...found.map(([removal, by]) => rowOf(target, removal, by ?? "**nobody**")))
  console.log(`${target.file}: ${found.length} checks, ${found.length - left.length} noticed or harmless`)
  for (const survivor of left) console.log(`  nobody notices ${survivor}`)
  writeFileSync(`${root}/out/checks.md`, `| Check | Was | Now | Noticed by |\n|---|---|---|---|\n${rows.join("\n")}\n`)
}
console.log(`${rows.length} checks, ${rows.length - survivors.length} noticed or harmless, ${survivors.length} survive`)
if (survivors.length > 0) process.exitCode = 1
