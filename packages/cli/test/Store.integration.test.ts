/** Looking into a store: it makes none, and says why it cannot. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Store from "../src/Store.ts"

const input = (more: Partial<Store.Input>): Store.Input => ({
  store: "sqlite",
  file: "nowhere.sqlite",
  redis: "redis://127.0.0.1:1",
  database: Redacted.make("postgres://nobody@127.0.0.1:1/none"),
  ...more
})

const refusal = (more: Partial<Store.Input>) => Effect.flip(Store.mustExist(input(more)))

layer(NodeServices.layer)("looking into a store", (it) => {
  it.effect("refuses a file that is none, and leaves it as it is", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const foreign = `${directory}/foreign.sqlite`
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE foo (bar)`),
        SqliteClient.layer({ filename: foreign })
      )
      yield* fs.writeFileString(`${directory}/empty.sqlite`, "")
      yield* fs.writeFileString(`${directory}/text.sqlite`, "no database at all\n".repeat(100))
      const cases = [["foreign", "no task store"], ["empty", "no task store"], ["text", "not a SQLite"]] as const
      for (const [name, said] of cases) {
        const file = `${directory}/${name}.sqlite`
        const before = yield* fs.readFile(file)
        const failed = yield* refusal({ file })
        assert.include(failed.message, said)
        assert.include(failed.message, file)
        assert.deepStrictEqual(yield* fs.readFile(file), before)
      }
      assert.match((yield* refusal({ file: `${directory}/none.sqlite` })).message, /There is no file/)
      assert.isFalse(yield* fs.exists(`${directory}/none.sqlite`))
    }))

  it.effect("goes on with one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const filename = `${yield* fs.makeTempDirectoryScoped()}/tasks.sqlite`
      yield* Layer.build(Layer.provide(TaskStore.layerSql, SqliteClient.layer({ filename })))
      yield* Store.mustExist(input({ file: filename }))
    }))

  it.effect("says what a damaged file is, and what can be done", () =>
    Effect.gen(function*() {
      const native = Object.assign(new Error("database disk image is malformed"), { errcode: 11 })
      const error = new TaskStore.TaskStoreError({ operation: "list", reason: "Unavailable", cause: native })
      const { hint = "", message } = Store.failure(input({ file: "a.sqlite" }), error)
      assert.match(message, /^a\.sqlite: The task store could not list: .*: database disk image is malformed$/)
      assert.match(hint, /damaged: .*backup or try `sqlite3 a\.sqlite \.recover`/)
      assert.isUndefined(Store.failure(input({}), new Error("no room")).hint)
      assert.strictEqual(Store.failure(input({ store: "redis" }), error).hint, undefined)
      const own = yield* refusal({ store: "memory" })
      assert.strictEqual(Store.failure(input({}), own), own)
    }))

  it.effect("says why a database is not reached, and how it is named", () =>
    Effect.gen(function*() {
      const postgres = yield* refusal({ store: "postgres" })
      assert.match(postgres.message, /Postgres cannot be used: .*ECONNREFUSED/)
      assert.match(postgres.hint ?? "", /--database-url or DATABASE_URL/)
      for (const [redis, said] of [["redis://127.0.0.1:1", /ECONNREFUSED/], ["nonsense", /not the address/]] as const) {
        const failed = yield* Effect.flip(Effect.scoped(Layer.build(Store.of(input({ store: "redis", redis })))))
        assert.match(failed.message, said)
        assert.match(failed.hint ?? "", /--redis-url or REDIS_URL/)
      }
      assert.match((yield* refusal({ store: "memory" })).message, /belongs to its server/)
    }))
})
