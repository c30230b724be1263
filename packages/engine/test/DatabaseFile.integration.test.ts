/** A database that somebody takes away from a running server, or that belongs to somebody else. */
import { Embedded, Health, TaskEngine, TaskQueue, TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Schedule } from "effect"
import type * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import { renameSync } from "node:fs"
import * as clients from "./clients.ts"
import * as services from "./services.ts"
import * as TaskDatabase from "./TaskDatabase.ts"
import { owner, toolsOf } from "./TestTools.ts"

describe("a SQLite file", () => {
  it.live("that is moved away makes the process not ready, and is used again when it is back", () =>
    Effect.gen(function*() {
      const filename = yield* TaskDatabase.file
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${String(cause)}`))
      const context = yield* Layer.build(
        Embedded.layer.pipe(
          Layer.provide(toolsOf({})),
          Layer.provideMerge(TaskDatabase.open(filename)),
          Layer.provide(Logger.layer([logger]))
        )
      )
      const isReady = Effect.map(Context.get(context, Health.Health).ready, (readiness) => readiness.isReady)
      const until = (wanted: boolean) =>
        Effect.repeat(isReady, { until: (is) => is === wanted, schedule: Schedule.spaced("20 millis") })
      yield* until(true)
      renameSync(filename, `${filename}.away`)
      yield* until(false)
      const refused = yield* Effect.flip(Context.get(context, TaskEngine.TaskEngine).view(owner, "task-1"))
      assert.strictEqual(refused._tag === "TaskStoreError" && refused.reason, "ConnectionLost")
      assert.isTrue(lines.some((line) => line.includes(`${filename} was deleted or moved while it was in use`)))
      renameSync(`${filename}.away`, filename)
      yield* until(true)
    }))
})

/** What keeps a table. */
type Table = Layer.Layer<never, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient>

/** Makes the tables that it keeps, and lets go of them. */
const made = (table: Table) => Effect.scoped(Layer.build(Layer.fresh(table)))

/** Tries to keep tasks where the table is not ours. */
const foreign = <E>(
  client: Layer.Layer<SqlClient.SqlClient, E>,
  sabotage: Effect.Effect<unknown, unknown, SqlClient.SqlClient>,
  layer: Table
) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(client)
    yield* Effect.provideContext(sabotage, context)
    return yield* Effect.flip(
      Layer.build(Layer.provide(Layer.fresh(layer), Layer.succeedContext(context)))
    )
  })

const tables: ReadonlyArray<
  readonly [string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>, RegExp, Table?]
> = [
  [
    "of somebody else",
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE mcp_tasks (x INTEGER)`),
    /^The table mcp_tasks cannot be made: .*already exists.* use another database/
  ],
  [
    "that has lost a column",
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(
        made(TaskStore.layerSql),
        sql`ALTER TABLE mcp_tasks DROP COLUMN body`
      )),
    /^The table mcp_tasks is not as it was made: .*body/
  ],
  [
    "of a newer release",
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(
        made(TaskStore.layerSql),
        sql`INSERT INTO mcp_tasks_migrations (migration_id, name) VALUES (99, 'future')`
      )),
    /^The table mcp_tasks was changed by a newer release of this program \(future\)\. Run that release/
  ],
  [
    "of the queue that is gone",
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(made(TaskQueue.layerSql), sql`DROP TABLE mcp_task_queue`)),
    /^The table mcp_task_queue is not as it was made: /,
    TaskQueue.layerSql
  ]
]

describe("a table of SQLite", () => {
  for (const [title, sabotage, reason, table = TaskStore.layerSql] of tables) {
    it.effect(`${title} is refused with the reason`, () =>
      Effect.gen(function*() {
        const filename = yield* TaskDatabase.file
        assert.match((yield* foreign(SqliteClient.layer({ filename }), sabotage, table)).message, reason)
      }))
  }
})

services.withService(services.postgres, (url) => {
  describe("a table of Postgres", () => {
    for (const [title, sabotage, reason, table = TaskStore.layerSql] of tables) {
      it.live(`${title} is refused with the reason`, () =>
        Effect.gen(function*() {
          const schema = yield* services.postgresNewSchema(url)
          assert.match((yield* foreign(clients.postgres(url, schema), sabotage, table)).message, reason)
        }))
    }
  })
})
