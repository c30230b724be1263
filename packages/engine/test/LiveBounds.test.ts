/** An owner's limit of live tasks on SQLite, where a create counts them only now and then. */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import { TaskStore } from "@effect-mcp-tasks/engine"
import { completed, working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { LiveBounds } from "../src/internal/liveBounds.ts"
import * as TaskDatabase from "./TaskDatabase.ts"

const maxLive = 3

const create = (store: TaskStore.TaskStore["Service"], taskId: string) =>
  store.create(working({ taskId }), { maxLive })

const refused = (store: TaskStore.TaskStore["Service"], taskId: string) =>
  Effect.map(Effect.flip(create(store, taskId)), (error) => assert.instanceOf(error, TaskStore.TooManyTasks))

describe("the limit of live tasks on SQLite", () => {
  it.effect("is reached by counting what is live, not by what was created", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      for (const taskId of ["a", "b", "c", "d", "e"]) {
        const held = yield* create(store, taskId)
        yield* store.replace(held, completed(working({ taskId: held.task.taskId })))
      }
      for (const taskId of ["f", "g", "h"]) yield* create(store, taskId)
      yield* refused(store, "i")
    }).pipe(Effect.provide(TaskDatabase.layer)))

  it.effect("holds for two stores on one connection together", () =>
    Effect.gen(function*() {
      const client = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
      const other = Layer.build(Layer.provide(Layer.fresh(TaskStore.layerSql), client))
      const [here, there] = [yield* TaskStore.TaskStore, Context.get(yield* other, TaskStore.TaskStore)]
      yield* create(here, "a")
      yield* create(there, "b")
      yield* create(here, "c")
      yield* refused(here, "d")
      yield* refused(there, "e")
    }).pipe(Effect.scoped, Effect.provide(TaskDatabase.layer)))

  it.effect("holds for two connections together", () =>
    Effect.gen(function*() {
      const filename = yield* TaskDatabase.file
      const open = Effect.map(Layer.build(TaskDatabase.open(filename)), Context.get(TaskStore.TaskStore))
      const [here, there] = [yield* open, yield* open]
      yield* create(here, "a")
      yield* create(there, "b")
      yield* create(there, "c")
      yield* refused(here, "d")
    }).pipe(Effect.scoped))

  it.effect("holds after a transaction of the caller", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const sql = yield* SqlClient.SqlClient
      yield* create(store, "a")
      yield* sql.withTransaction(Effect.andThen(create(store, "b"), create(store, "c")))
      yield* refused(store, "d")
    }).pipe(Effect.provide(TaskDatabase.layer)))

  it.effect("holds after a transaction of the caller that came to nothing", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const sql = yield* SqlClient.SqlClient
      const held = [yield* create(store, "a"), yield* create(store, "b")]
      const inside = Effect.gen(function*() {
        for (const one of held) yield* store.replace(one, completed(working({ taskId: one.task.taskId })))
        yield* create(store, "c")
        return yield* Effect.fail("no" as const)
      })
      assert.strictEqual(yield* Effect.flip(sql.withTransaction(inside)), "no")
      yield* create(store, "d")
      yield* refused(store, "e")
    }).pipe(Effect.provide(TaskDatabase.layer)))

  it.effect("holds when tasks come back to life", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const end = (held: Stored) => store.replace(held, completed(working({ taskId: held.task.taskId })))
      const ended = [yield* end(yield* create(store, "a")), yield* end(yield* create(store, "b"))]
      yield* end(yield* create(store, "c"))
      // The third create has brought the bound to the limit: this one counts, and there is none.
      yield* create(store, "d")
      for (const one of ended) yield* store.replace(one, working({ taskId: one.task.taskId }))
      yield* refused(store, "e")
    }).pipe(Effect.provide(TaskDatabase.layer)))
})

describe("LiveBounds", () => {
  it("knows nothing of another version of the database", () => {
    const bounds = new LiveBounds()
    assert.isUndefined(bounds.get("ada", 1))
    bounds.set("ada", 2)
    assert.strictEqual(bounds.get("ada", 1), 2)
    assert.isUndefined(bounds.get("ada", 2))
    assert.isUndefined(bounds.get("ada", 1))
  })

  it("does not grow with the number of owners", () => {
    const bounds = new LiveBounds()
    bounds.get("", 1)
    for (let owner = 0; owner < 10_001; owner++) bounds.set(String(owner), 1)
    assert.isUndefined(bounds.get("0", 1))
    assert.strictEqual(bounds.get("10000", 1), 1)
  })
})
