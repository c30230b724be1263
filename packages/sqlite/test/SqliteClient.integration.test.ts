import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { Migrator, SqlClient } from "effect/sql"
import { runChild } from "./ChildProcess.ts"
import * as TempDatabase from "./TempDatabase.ts"

describe("effect's own users of a SqlClient", () => {
  const migrate = Migrator.make({})({
    loader: Migrator.fromRecord({
      "0001_task": Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE task (id TEXT PRIMARY KEY)`
      }),
      "0002_owner": Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`ALTER TABLE task ADD COLUMN owner TEXT`
      })
    })
  })

  it.effect("runs migrations once", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      const run = Effect.provideService(migrate, SqlClient.SqlClient, sql)
      assert.deepStrictEqual((yield* run).map(([id]) => id), [1, 2])
      assert.deepStrictEqual(yield* run, [])
      yield* sql`INSERT INTO task (id, owner) VALUES ('t', 'o')`
    }))

  it.live("offers to and takes from a persisted queue", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const layer = PersistedQueue.layer.pipe(
        Layer.provide(PersistedQueue.layerStoreSql({ pollInterval: "10 millis" })),
        Layer.provideMerge(SqliteClient.layer({ filename }))
      )
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const queue = yield* PersistedQueue.make({ name: "tasks", schema: Schema.Struct({ id: Schema.String }) })
        yield* Effect.ignore(sql.withTransaction(Effect.andThen(queue.offer({ id: "lost" }), Effect.fail("no"))))
        yield* sql.withTransaction(queue.offer({ id: "kept" }, { id: "once" }))
        yield* queue.offer({ id: "again" }, { id: "once" })
        assert.deepStrictEqual(yield* queue.take((value) => Effect.succeed(value)), { id: "kept" })
        yield* queue.offer({ id: "next" })
        assert.deepStrictEqual(yield* queue.take((value) => Effect.succeed(value)), { id: "next" })
      }).pipe(Effect.provide(layer))
    }))
})

describe("several processes on one file", () => {
  it.live("apply every read-then-write once, with no busy error", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const names = ["a", "b", "c", "d"]
      const results = yield* Effect.forEach(
        names,
        (name) => runChild("increment.ts", [filename, name, "200"]),
        { concurrency: "unbounded" }
      )
      for (const { code, output } of results) {
        assert.strictEqual(output, "done 200\n")
        assert.strictEqual(code, 0)
      }
      const sql = yield* TempDatabase.client({ filename })
      const counts = yield* sql`SELECT name, count(*) FROM step GROUP BY name ORDER BY name`.values
      assert.deepStrictEqual(counts, names.map((name) => [name, 200]))
      assert.deepStrictEqual(yield* sql`SELECT max(version), count(*) FROM step`.values, [[800, 800]])
    }))
})
