import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as services from "../../engine/test/services.ts"

const script = fileURLToPath(new URL("../src/stores.ts", import.meta.url))

const run = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=@effect-mcp-tasks/source", script, ...args],
    { encoding: "utf8", timeout: 160_000, env: { ...process.env, ...env } }
  )
  return { status, stdout, output: stdout + stderr }
}

/** The numbers of a line of the report. */
const numbers = (report: string, name: string): ReadonlyArray<number> => {
  const [, cells = ""] = new RegExp(`^${name} +(.*)$`, "m").exec(report) ?? []
  return cells.trim().split(/ +/).map(Number.parseFloat)
}

const measures = (store: string, ours: string, bare: string | undefined, env?: NodeJS.ProcessEnv) =>
  it(`measures ${store}`, () => {
    const { output, status, stdout } = run(["--quick", "--stores", store], env)
    assert.strictEqual(status, 0, output)
    assert.match(stdout, /^parked: 50 handlers, \d+ bytes of heap each/m)
    for (const name of [ours, ...(bare === undefined ? [] : [bare, "ratio"])]) {
      const rates = numbers(stdout, name)
      assert.strictEqual(rates.length, 5, output)
      for (const rate of rates) assert.isAbove(rate, 0, output)
    }
  })

describe("npm run bench", () => {
  measures("memory", "layerMemory", undefined)
  measures("sqlite", "layerSql", "bare node:sqlite")
  services.withService(services.redis, (url) => {
    measures("redis", "layerRedis", "bare redis", { REDIS_URL: url })
  })
  services.withService(services.postgres, (url) => {
    measures("postgres", "layerSql", "bare @effect/sql-pg", { DATABASE_URL: url })
  })

  it("names what it could not find, and measures the rest", () => {
    const { output, status } = run(["--quick", "--stores", "redis,postgres,memory"], {
      REDIS_URL: "redis://127.0.0.1:1",
      DATABASE_URL: "postgres://postgres@127.0.0.1:1/postgres"
    })
    assert.strictEqual(status, 0, output)
    assert.match(output, /^redis: skipped, .*ECONNREFUSED/m)
    assert.match(output, /^postgres: skipped, /m)
    assert.match(output, /^layerMemory +\d/m)
  })

  for (const args of [["--stores", "oracle"], ["--rounds", "0"], ["--count", "1.5"], ["--unknown"]]) {
    it(`refuses ${args.join(" ")}, and says how it is called`, () => {
      const { output, status } = run(args)
      assert.strictEqual(status, 2)
      assert.include(output, "npm run bench -- [options]")
    })
  }
})
