/**
 * Runs every static check, one after the other, and says how each went. The output of a check is shown only when it
 * fails. Exit code 1 when any failed.
 *
 *   npm run check                 all of them
 *   npm run check -- lint tidy    the named ones
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** A tool to run, and what else than its exit code tells that it failed. */
interface Check {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly isSuspicious?: (output: string) => string | undefined
}

const script = (name: string, file: string, ...args: ReadonlyArray<string>): Check => ({
  name,
  command: process.execPath,
  args: ["--conditions=@effect-mcp-tasks/source", join("scripts", file), ...args]
})

const tool = (name: string, command: string, ...args: ReadonlyArray<string>): Check => ({
  name,
  command: join(root, "node_modules", ".bin", command),
  args
})

/** Effect's diagnostics succeed when they find no plugin in tsconfig.json, having checked nothing. */
const checkedNothing = (output: string) =>
  /Checked [1-9]\d* files/.test(output) ? undefined : "checked no file: does tsconfig.json still name the plugin?"

/** Messages are advice and do not fail; warnings do. */
const effect: Check = {
  ...tool("effect", "effect-tsgo", "diagnostics", "--project", "tsconfig.json", "--format", "text", "--strict"),
  isSuspicious: checkedNothing
}

const docs = existsSync(join(root, "scripts", "docs.ts")) ? [script("docs", "docs.ts", "--check")] : []

const checks: ReadonlyArray<Check> = [
  tool("types", "tsc", "-p", "tsconfig.json"),
  tool("lint", "oxlint", "--deny-warnings"),
  effect,
  script("tidy", "tidy.ts"),
  script("duties", "duties.ts"),
  ...docs
]

/** Runs one check, prints its line, and answers whether it is fine. */
const run = (check: Check): boolean => {
  const started = performance.now()
  const { error, status, stderr, stdout } = spawnSync(check.command, check.args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  const output = `${stdout ?? ""}${stderr ?? ""}`
  const complaint = error?.message ?? check.isSuspicious?.(output)
  const isFine = status === 0 && complaint === undefined
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (!isFine) console.log([output.trimEnd(), complaint].filter(Boolean).join("\n"))
  console.log(`${check.name.padEnd(8)} ${seconds.padStart(5)} s  ${isFine ? "ok" : "FAILED"}`)
  return isFine
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !checks.some((it) => it.name === name))
if (unknown.length > 0) {
  console.error(`No check named ${unknown.join(", ")}. There are: ${checks.map((it) => it.name).join(", ")}.`)
  process.exit(2)
}
const results = checks.filter((it) => wanted.length === 0 || wanted.includes(it.name)).map(run)
const failed = results.filter((isFine) => !isFine).length
console.log(`check: ${results.length - failed} ok, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
