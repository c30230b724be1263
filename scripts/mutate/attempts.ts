/**
 * Runs tests once for each check that is gone, within one process: what takes long is to load them.
 *
 * Each attempt is a test file of its own that sets `globalThis.__gone` and then loads the tests anew, over sources that
 * are loaded once. It writes down the first test that fails, and skips the rest.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"

/** How long an attempt may take before it counts as hanging; a test that waits in vain fails before that. */
const patienceMs = 120_000

const testTimeoutMs = 15_000

/** Writes the configuration of the copy. */
export const configure = (root: string, copy: string) => {
  const conditions = "@effect-mcp-tasks/source"
  writeFileSync(
    `${copy}/vitest.config.ts`,
    `export default {
  resolve: { conditions: ["${conditions}"] },
  ssr: { resolve: { conditions: ["${conditions}"], externalConditions: ["${conditions}"] } },
  test: {
    include: ["attempts/*.test.ts"],
    execArgv: ["--conditions=${conditions}"],
    testTimeout: ${testTimeoutMs},
    hookTimeout: ${testTimeoutMs},
    maxWorkers: 1,
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: class {
      async shard(files) { return files }
      async sort(files) { return files.toSorted((a, b) => a.moduleId < b.moduleId ? -1 : 1) }
    } }
  },
  server: { watch: null },
  cacheDir: "${root}/out/checks-cache"
}
`
  )
}

/** An attempt: the baseline, with nothing gone, comes first and must pass. */
const attempt = (copy: string, index: number, tests: ReadonlyArray<string>) => {
  const loads = tests.map((test) => `  await import("../packages/${test}?gone=${index}")\n`).join("")
  return `import { appendFileSync } from "node:fs"
import { afterAll, beforeEach, it } from "vitest"
const say = (what, by) => appendFileSync("${copy}/log.jsonl", JSON.stringify([${index}, what, by]) + "\\n")
globalThis.__gone = ${index}
let failed = false
const fail = (by) => {
  if (!failed) say("noticed", by)
  failed = true
}
const fullName = (task) => task.suite?.name ? fullName(task.suite) + ": " + task.name : task.name
say("begins")
beforeEach((context) => {
  if (failed) return context.skip()
  context.onTestFailed(() => fail(fullName(context.task)))
})
afterAll(() => say("ends"))
it("begins", () => {})
try {
${loads}} catch (error) {
  fail("the tests do not load")
}
`
}

type Entry = readonly [index: number, what: "begins" | "noticed" | "ends", by?: string]

const entries = (copy: string): ReadonlyArray<Entry> =>
  existsSync(`${copy}/log.jsonl`)
    ? readFileSync(`${copy}/log.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line))
    : []

/** Runs the attempts that are there, until the end or until one makes no progress. */
const run = (root: string, copy: string): Promise<void> => {
  const args = ["run", "--root", copy, "--reporter", "dot"]
  const child = spawn(`${root}/node_modules/.bin/vitest`, args, { detached: true, stdio: "ignore" })
  let seen = -1
  const watch = setInterval(() => {
    const now = entries(copy).length
    if (now === seen && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    seen = now
  }, patienceMs)
  return new Promise((resolve) =>
    child.once("close", () => {
      clearInterval(watch)
      resolve()
    })
  )
}

/** Runs tests with each of the checks gone; gives back which were noticed, and by what. */
export const switchedOff = async (
  copy: string,
  indices: ReadonlyArray<number>,
  tests: ReadonlyArray<string>
): Promise<ReadonlyMap<number, string>> => {
  const noticed = new Map<number, string>()
  const root = copy.replace(/\/out\/checks$/, "")
  let open = [...indices]
  let baseline = indices.includes(-1) ? [] : [-1]
  while (open.length > 0) {
    rmSync(`${copy}/attempts`, { recursive: true, force: true })
    rmSync(`${copy}/log.jsonl`, { force: true })
    mkdirSync(`${copy}/attempts`)
    for (const index of [...baseline, ...open]) {
      const name = String(index + 1).padStart(4, "0")
      writeFileSync(`${copy}/attempts/${name}.test.ts`, attempt(copy, index, tests))
    }
    await run(root, copy)
    const log = entries(copy)
    const ended = new Set(log.filter(([, what]) => what === "ends").map(([index]) => index))
    for (const [index, what, by] of log) if (what === "noticed" && by !== undefined) noticed.set(index, by)
    const last = log.at(-1)?.[0]
    if (baseline.length > 0 && (noticed.has(-1) || !ended.has(-1))) {
      throw new Error(`The tests fail with nothing gone: ${noticed.get(-1) ?? "they hang"}`)
    }
    if (last === undefined) throw new Error("The tests do not start")
    const stuck = ended.has(last) ? undefined : last
    if (stuck !== undefined && !noticed.has(stuck)) noticed.set(stuck, "a test that never ends")
    const rest = open.filter((index) => !ended.has(index) && index !== stuck)
    if (rest.length === open.length) throw new Error(`The tests end early, after ${log.length} entries`)
    open = rest
    baseline = []
  }
  return noticed
}
