import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as TaskDatabase from "./TaskDatabase.ts"

const script = fileURLToPath(new URL("./fixtures/storeWriter.ts", import.meta.url))

const writer = (...args: ReadonlyArray<string>) =>
  Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
    const child = spawn(process.execPath, ["--conditions=@effect-mcp-tasks/source", script, ...args])
    let output = ""
    child.stdout.on("data", (chunk) => output += String(chunk))
    child.stderr.on("data", (chunk) => output += String(chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
    return Effect.sync(() => child.kill())
  })

describe("six processes that start at once on one empty file", () => {
  it.live("migrate it once, share one limit, and lose no replacement", () =>
    Effect.gen(function*() {
      const filename = yield* TaskDatabase.file
      const ends = yield* Effect.forEach(Arr.range(1, 6), (n) => writer(filename, `p${n}`, "25"), {
        concurrency: "unbounded"
      })
      for (const { code, output } of ends) assert.strictEqual(code, 0, output)
      const reports = ends.map(({ output }) => JSON.parse(output))
      assert.strictEqual(reports.reduce((sum, { created }) => sum + created, 0), 10)
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const store = yield* TaskStore.TaskStore
        assert.deepStrictEqual(
          (yield* sql`SELECT migration_id, name FROM mcp_tasks_migrations`).map((row) => ({ ...row })),
          [{ migration_id: 1, name: "tasks" }]
        )
        assert.strictEqual(yield* store.countLive("crowd"), 10)
        const { task, version } = Option.getOrThrow(yield* store.read("shared"))
        assert.strictEqual(version, 1 + 6 * 25)
        assert.deepStrictEqual(task.steps.map(({ value }) => value), Arr.range(1, 6 * 25))
      }).pipe(Effect.provide(TaskDatabase.open(filename)))
    }))
})
