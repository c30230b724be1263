/** `npm run plan` as a process: what it prints, what it writes, and how it refuses. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../../src/bin/plan.ts", import.meta.url))

const plan = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=@effect-mcp-tasks/source", program, ...args],
    { encoding: "utf8", timeout: 120_000 }
  )
  return { status, stderr, stdout }
}

const small = ["--tasks-per-hour", "600", "--duration", "fixed:5s", "--hours", "0.5", "--warm-up", "5m"]

describe("npm run plan", () => {
  it("prints a table and writes a chart", () => {
    const directory = mkdtempSync(join(tmpdir(), "plan-"))
    try {
      const file = join(directory, "plan.svg")
      const { status, stderr, stdout } = plan(...small, "--ask", "0.2", "--svg", file)
      assert.deepStrictEqual([status, stderr], [0, ""])
      assert.match(stdout, /^600 tasks an hour, each fixed:5s of work, polled every 1s/)
      assert.match(stdout, /tasks\/get +\d+\.\d+ +± \d/)
      assert.match(readFileSync(file, "utf8"), /^<svg [\s\S]*<\/svg>\n$/)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it("prints one JSON value, the same for the same seed", () => {
    const [first, second, other] = [["--seed", "5"], ["--seed", "5"], ["--seed", "6"]].map((seed) =>
      plan(...small, "--json", ...seed).stdout
    )
    assert.strictEqual(first, second)
    assert.notStrictEqual(first, other)
    const json = JSON.parse(first ?? "")
    assert.strictEqual(json.settings.tasksPerHour, 600)
    assert.approximately(json.tasksAtATime.live.mean, 600 / 3_600 * 5, 0.2)
    assert.isAbove(json.requestsPerSecond["tasks/get"].mean, json.ifAllListened.requestsPerSecond["tasks/get"].mean)
  })

  it("refuses what it cannot plan for, in one sentence", () => {
    const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, why: RegExp]> = [
      [["--duration", "often"], /--duration[^\n]*"often"[^\n]*one of fixed:TIME, exponential:MEAN/],
      [["--poll", "30"], /--poll[^\n]*"30"[^\n]*a time such as 500ms, 30s, 2m, 1\.5h or 7d/],
      [["--poll", "-1s"], /^Invalid value for flag --poll: "-1s"\. Expected: a time from 0 on/],
      [["--duration", "fixed:-3s"], /^Invalid[^\n]*--duration: "fixed:-3s"\. [^\n]*a time from 0 on/],
      [["--clients", "-Infinity"], /^Invalid value for flag --clients: "-Infinity"/],
      [["--hours", "NaN"], /^Invalid value for flag --hours: "NaN"/],
      [["--ask", "2"], /--ask is a share from 0 to 1/],
      [["--ask", "many"], /--ask/],
      [["--tasks-per-hour", "-5"], /--tasks-per-hour/],
      [["--tasks-per-hour", "1", "--hours", "0.5"], /less than one task/]
    ]
    for (const [args, why] of wrong) {
      const { status, stderr, stdout } = plan(...args)
      assert.strictEqual(status, 1, args.join(" "))
      assert.match(stderr, why)
      assert.strictEqual(stdout, "")
    }
  }, 120_000)

  it("keeps the table of a plan whose chart cannot be written", () => {
    const { status, stderr, stdout } = plan(...small, "--svg", "/no/such/place/plan.svg")
    assert.strictEqual(status, 1)
    assert.match(stderr, /The chart could not be written/)
    assert.match(stdout, /^600 tasks an hour/)
  })
})
