/** A task whose record is damaged is an internal error to its caller, is named in the log, and harms no other. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { read, start } from "./TestServer.ts"

describe("tasks/get of a damaged task", () => {
  for (const damage of ["head = '{'", "head = substr(head, 1, 40)", "version = 9007199254740993", "result = 'x'"]) {
    it.effect(`is -32603, and no invalid JSON: ${damage}`, () =>
      Effect.gen(function*() {
        const database = yield* Layer.build(SqliteClient.layer({ filename: ":memory:" }))
        const logs: Array<string> = []
        const store = Layer.orDie(Layer.provide(TaskStore.layerSql, Layer.succeedContext(database)))
        const server = yield* start({ store, logs })
        const create = Effect.map(
          server.ask("tools/call", { name: "job", arguments: { text: "wait" } }),
          ({ body }) => String(read(body).result?.["taskId"])
        )
        const taskId = yield* create
        const other = yield* create
        const sql = Context.get(database, SqlClient.SqlClient)
        yield* sql`UPDATE mcp_tasks SET ${sql.literal(damage)} WHERE task_id = ${taskId}`
        const { body, httpStatus } = yield* server.ask("tasks/get", { taskId })
        const message = "The server cannot read this task: its record is damaged"
        assert.deepStrictEqual([httpStatus, read(body).error], [200, { code: -32603, message }])
        assert.strictEqual(logs.filter((line) => line.includes(taskId)).length, 1)
        const { body: whole } = yield* server.ask("tasks/get", { taskId: other })
        assert.strictEqual(read(whole).result?.["status"], "working")
      }))
  }
})
