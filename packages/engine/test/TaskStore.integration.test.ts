import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe } from "@effect/vitest"
import { Array as Arr, Effect, Layer, Option, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as clients from "./clients.ts"
import { test } from "./ServerStores.ts"
import * as services from "./services.ts"
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

const processes = 6
const replacements = 25
const limit = 10

/** Where the processes meet: the first arguments of each, the store as this process opens it. */
interface Place<E> {
  readonly args: ReadonlyArray<string>
  readonly store: Layer.Layer<TaskStore.TaskStore, E>
}

/** Declares the test; `overshoot` is by how much processes together may pass a limit. */
const race = <E, E2>(where: string, overshoot: number, place: Effect.Effect<Place<E>, E2, Scope.Scope>): void => {
  describe(`six processes that start at once on ${where}`, () => {
    test("migrate it once, share one limit, and lose no replacement", Effect.gen(function*() {
      const { args, store } = yield* place
      const names = Arr.range(1, processes).map((n) => `p${n}`)
      const ends = yield* Effect.forEach(names, (name) => writer(...args, name, String(replacements)), {
        concurrency: "unbounded"
      })
      for (const { code, output } of ends) assert.strictEqual(code, 0, output)
      const created = ends.reduce((sum, { output }) => sum + JSON.parse(output).created, 0)
      assert.isAtLeast(created, limit)
      assert.isAtMost(created, limit + overshoot)
      yield* Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        assert.strictEqual(yield* store.countLive("crowd"), created)
        const { task, version } = Option.getOrThrow(yield* store.read("shared"))
        assert.strictEqual(version, 1 + processes * replacements)
        assert.deepStrictEqual(task.steps.map(({ value }) => value), Arr.range(1, processes * replacements))
      }).pipe(Effect.provide(store))
    }))
  })
}

const migratedOnce = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const migrations = yield* sql`SELECT migration_id, name FROM mcp_tasks_migrations`
  assert.deepStrictEqual(migrations.map((row) => ({ ...row })), [{ migration_id: 1, name: "tasks" }])
}))

race("one empty file", 0, Effect.map(TaskDatabase.file, (filename) => ({
  args: ["sqlite", filename, ""],
  store: Layer.provideMerge(migratedOnce, TaskDatabase.open(filename))
})))

services.withService(services.redis, (url) =>
  race("one Redis", 0, Effect.gen(function*() {
    const prefix = services.uniqueName()
    yield* Layer.build(Layer.provide(services.dropKeysAfter(`{${prefix}}*`), clients.redis(url)))
    return {
      args: ["redis", url, prefix],
      store: Layer.provide(TaskStore.layerRedisWith({ prefix }), [clients.redis(url), clients.quiet])
    }
  })))

services.withService(services.postgres, (url) =>
  race("one empty schema of Postgres", processes - 1, Effect.gen(function*() {
    const client = yield* Layer.build(services.postgresClient(url))
    const schema = yield* Effect.provide(services.currentSchema, client)
    return {
      args: ["postgres", url, schema],
      store: Layer.provideMerge(migratedOnce, Layer.provideMerge(TaskStore.layerSql, clients.postgres(url, schema)))
    }
  })))
