import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as services from "../../engine/test/services.ts"

const program = fileURLToPath(new URL("../src/campaign/campaign.ts", import.meta.url))

const run = (environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
    const child = spawn(process.execPath, ["--conditions=@effect-mcp-tasks/source", program, ...args], {
      env: { ...process.env, ...environment }
    })
    let output = ""
    child.stdout.on("data", (chunk) => output += String(chunk))
    child.stderr.on("data", (chunk) => output += String(chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/** As many blows as a test run has time for. `npm run campaign` has more. */
const kills = "4"

const campaign = Effect.fnUntraced(function*(store: string, environment: Readonly<Record<string, string>> = {}) {
  const { code, output } = yield* run(environment, "--store", store, "--kills", kills)
  assert.strictEqual(code, 0, output)
  assert.match(output, /^lost 0, twice 0, stuck 0$/m)
  assert.match(output, /^answers unheard 0, steps repeated 0, wrong ends 0$/m)
})

describe("a campaign against replicas", () => {
  it.live("loses nothing on SQLite", () => campaign("sqlite"))

  services.withService(services.redis, (url) => {
    it.live("loses nothing on Redis", () => campaign("redis", { REDIS_URL: url }))
  })

  services.withService(services.postgres, (url) => {
    it.live("loses nothing on Postgres", () => campaign("postgres", { DATABASE_URL: url }))
  })
})
