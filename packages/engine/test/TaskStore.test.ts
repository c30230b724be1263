import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { completed, createdAt, working } from "@effect-mcp-tasks/testing/StoredTasks"
import { suite } from "@effect-mcp-tasks/testing/TaskStoreTest"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as TaskDatabase from "./TaskDatabase.ts"

suite("TaskStore.layerMemory", TaskStore.layerMemory, {
  lacks: { durability: "memory goes with its process", processes: "memory belongs to one process" }
})

suite("TaskStore.layerSql on SQLite", Effect.map(TaskDatabase.file, (filename) => TaskDatabase.open(filename)))

const onFile = Effect.provide(TaskDatabase.layer)

const maxLive = 100

describe("a database", () => {
  it.effect("holds stores of different tables side by side", () =>
    Effect.gen(function*() {
      const filename = yield* TaskDatabase.file
      const other = TaskDatabase.open(filename, TaskStore.layerSqlWith({ table: "other \"tasks\"" }))
      const create = Effect.flatMap(TaskStore.TaskStore, (store) => store.create(working(), { maxLive: 1 }))
      yield* Effect.provide(create, TaskDatabase.open(filename))
      yield* Effect.provide(create, other)
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`DROP TABLE mcp_tasks`
        const store = yield* TaskStore.TaskStore
        assert.strictEqual(yield* store.countLive("ada"), 1)
        assert.strictEqual((yield* store.list({ limit: 10 })).length, 1)
        assert.strictEqual((yield* store.due(createdAt + 60_000, 10)).length, 1)
        assert.isTrue(Option.isSome(yield* store.view("task-1")))
        const held = Option.getOrThrow(yield* store.read("task-1"))
        assert.isTrue(yield* store.remove("task-1", (yield* store.replace(held, held.task)).version))
      }).pipe(Effect.provide(other))
    }))

  it.effect("that is locked at the start is waited for", () =>
    Effect.gen(function*() {
      const filename = yield* TaskDatabase.file
      const client = Effect.map(
        Layer.build(Layer.fresh(SqliteClient.layer({ filename, busyTimeout: "1 millis" }))),
        Context.get(SqlClient.SqlClient)
      )
      const [holder, waiter] = [yield* client, yield* client]
      const release = yield* Deferred.make<void>()
      const held = yield* Deferred.make<void>()
      const holding = yield* Effect.forkChild(
        holder.withTransaction(Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release)))
      )
      yield* Deferred.await(held)
      const store = yield* TaskStore.TaskStore.pipe(
        Effect.flatMap((store) => store.countLive("ada")),
        Effect.provide(Layer.provide(Layer.fresh(TaskStore.layerSql), Layer.succeed(SqlClient.SqlClient, waiter))),
        Effect.forkChild
      )
      yield* TestClock.adjust("1 second")
      assert.isUndefined(store.pollUnsafe())
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holding)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(store), 0)
    }))

  it.effect("that reads integers as bigints is understood", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const held = yield* store.create(working(), { maxLive: 1 })
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
      const view = Option.getOrThrow(yield* store.view("task-1"))
      assert.deepStrictEqual([view.live, view.dueAt], [true, createdAt + 60_000])
      assert.deepStrictEqual(yield* store.due(createdAt + 60_000, 1), [{ taskId: "task-1", version: 1, live: true }])
      assert.strictEqual(yield* store.countLive("ada"), 1)
      assert.deepStrictEqual(yield* store.list({ limit: 1 }), [held])
    }).pipe(Effect.provideService(SqlClient.SafeIntegers, true), onFile))

  it.effect("that is closed makes every operation fail as unavailable", () =>
    Effect.gen(function*() {
      const filename = yield* TaskDatabase.file
      const store = yield* Effect.provide(TaskStore.TaskStore, TaskDatabase.open(filename))
      const held = { task: working(), version: 1 }
      const operations: Record<TaskStore.TaskStoreError["operation"], Effect.Effect<void, unknown>> = {
        create: Effect.asVoid(store.create(working(), { maxLive })),
        read: Effect.asVoid(store.read("task-1")),
        view: Effect.asVoid(store.view("task-1")),
        replace: Effect.asVoid(store.replace(held, working())),
        due: Effect.asVoid(store.due(0, 1)),
        remove: Effect.asVoid(store.remove("task-1", 1)),
        countLive: Effect.asVoid(store.countLive("ada")),
        list: Effect.asVoid(store.list({ limit: 1 }))
      }
      for (const [operation, effect] of Object.entries(operations)) {
        const error = yield* Effect.flip(effect)
        assert.instanceOf(error, TaskStore.TaskStoreError)
        assert.deepStrictEqual([error.operation, error.reason], [operation, "ConnectionLost"])
      }
    }))
})

describe("a damaged record", () => {
  const bodies: ReadonlyArray<readonly [name: string, body: string]> = [
    ["no JSON", "{"],
    ["nothing", ""],
    ["null", "null"],
    ["an array", "[]"],
    ["an unknown status", JSON.stringify({ ...working(), status: "sleeping" })],
    ["a number as text", JSON.stringify({ ...working(), createdAt: "1" })],
    ["a member lost", JSON.stringify({ ...working(), policy: undefined })],
    ["completed without its result", JSON.stringify({ ...completed(working()), result: undefined })]
  ]
  for (const [name, body] of bodies) {
    it.effect(`is an error of its own and no crash: ${name}`, () =>
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        const sql = yield* SqlClient.SqlClient
        yield* store.create(working(), { maxLive })
        yield* sql`UPDATE mcp_tasks SET body = ${body}`
        // A poll reads what is whole, until somebody has seen the rest: it was answered with what nobody works on.
        assert.isTrue(Option.isSome(yield* store.view("task-1")))
        const onRead = yield* Effect.flip(store.read("task-1"))
        assert.deepStrictEqual([onRead.operation, onRead.reason], ["read", "Corrupt"])
        assert.deepStrictEqual(yield* store.list({ limit: 1 }), [])
        const onView = yield* Effect.flip(store.view("task-1"))
        assert.deepStrictEqual([onView.operation, onView.reason], ["view", "Corrupt"])
        assert.isTrue(yield* store.remove("task-1", 1))
      }).pipe(onFile))
  }

  for (const column of ["head", "result", "owner"]) {
    it.effect(`is not viewed: another ${column}`, () =>
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        const sql = yield* SqlClient.SqlClient
        yield* store.create(working(), { maxLive })
        yield* sql`UPDATE mcp_tasks SET ${sql(column)} = ${` { not "JSON" \u2028\t`}`
        const onView = yield* Effect.flip(store.view("task-1"))
        assert.deepStrictEqual([onView.operation, onView.reason], ["view", "Corrupt"])
      }).pipe(onFile))
  }
})

describe("the plan of SQLite", () => {
  const plan = (query: string) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const steps = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${query}`)
      return steps.map(({ detail }) => detail)
    })

  const select = "SELECT version, result, body FROM mcp_tasks WHERE"
  const cases = [
    ["what is due", "SELECT task_id, version, live FROM mcp_tasks WHERE due_at <= 1.0 ORDER BY due_at LIMIT 1", "due"],
    ["live tasks", `${select} task_id > 'a' AND live = 1 ORDER BY task_id LIMIT 1`, "live"],
    ["an owner's", `${select} task_id > 'a' AND owner = 'o' AND live = 1 ORDER BY task_id LIMIT 1`, "owner"],
    ["a count", "SELECT count(*) AS live FROM mcp_tasks WHERE owner = 'o' AND live = 1", "owner"]
  ] as const
  for (const [name, query, index] of cases) {
    it.effect(`finds ${name} by one index, without sorting`, () =>
      Effect.gen(function*() {
        const steps = yield* plan(query)
        assert.strictEqual(steps.length, 1)
        assert.include(steps[0], `INDEX mcp_tasks_${index} `)
      }).pipe(onFile))
  }
})
