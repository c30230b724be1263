/** Records that cannot be decoded must not stand in the way of the tasks beside them. */
import { TaskEngine, TaskLimits, TaskOwner, TaskSignal, TaskStore, TaskSweeper } from "@effect-mcp-tasks/engine"
import { completed, createdAt, working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as SqlClient from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import * as TaskDatabase from "./TaskDatabase.ts"
import { owner as caller, settle, start } from "./TestTools.ts"

const maxLive = 10_000

/** Many damaged tasks, of which each comes before and is due before the whole one. */
const damage = Effect.fnUntraced(function*(count: number) {
  const store = yield* TaskStore.TaskStore
  const sql = yield* SqlClient.SqlClient
  for (let index = 0; index < count; index++) {
    yield* store.create(working({ taskId: `damaged-${index}`, ttlMs: 1_000 }), { maxLive })
  }
  yield* sql`UPDATE mcp_tasks SET body = '{'`
  yield* store.create(working({ taskId: "whole", tool: "resumable" }), { maxLive })
})

/** What may be wrong with a row of SQLite, each column in every way that its types let pass. */
const damages = [
  "version = 9007199254740993", "version = 9007199254740991", "version = 2147483647", "version = 0", "version = -5",
  "version = 1.5", "version = 'two'", "version = x'00ff'", "version = 9e300",
  "owner = 'bob'", "owner = x'ff'", "owner = ''",
  "live = 7", "live = -1", "live = 'yes'", "live = 9007199254740993", "live = x'01'",
  "due_at = -9007199254740993, body = '{'", "due_at = 'soon', body = ''", "due_at = x'00', body = '[]'",
  "body = ''", "body = 'null'", "body = '{'", "body = x'7b7d'", "body = '{}'", "body = CAST(x'c328' AS TEXT)",
  "body = replace(body, 'damaged', 'another')", "body = replace(body, '\"attempt\":', '\"attempt\":-')",
  "head = '{'", "head = ''", "head = x'7b'", "head = substr(head, 1, 50)", "head = replace(head, 'working', 'workinG')",
  "result = 5, body = '{'", "result = '}'",
  "task_id = x'00ff00'", "task_id = CAST(x'ff28' AS TEXT)"
]

/** What only a poll sees: the record from which a task goes on is whole. */
const isOfHead = (damage: string) => damage.startsWith("head") || damage === "result = '}'"

const listening = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<unknown> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error") lines.push(message)
  })
  const value = yield* Effect.provide(effect, Logger.layer([logger]))
  return { value, lines }
})

const engine = TaskEngine.layer.pipe(
  Layer.provide([TaskSignal.layerMemory, SecureRandom.layerWebCrypto, TaskLimits.layer({})])
)

describe("damaged records", () => {
  it.effect("are passed over by a listing, page for page, and named in the log once", () =>
    Effect.gen(function*() {
      yield* damage(7)
      const store = yield* TaskStore.TaskStore
      for (const options of [{ limit: 1 }, { limit: 3, live: true }, { limit: 100 }]) {
        const { lines, value } = yield* listening(store.list(options))
        assert.deepStrictEqual(value.map(({ task }) => task.taskId), ["whole"])
        assert.strictEqual(lines.length, options.limit === 1 ? 7 : 0)
      }
    }).pipe(Effect.provide(TaskDatabase.layer)))

  it.effect("do not keep a process from starting and taking up the others", () =>
    Effect.gen(function*() {
      yield* damage(250)
      const store = yield* TaskStore.TaskStore
      yield* start()
      yield* settle
      assert.strictEqual(Option.getOrThrow(yield* store.read("whole")).task.status, "completed")
    }).pipe(Effect.provide(TaskDatabase.layer)))

  it.effect("do not keep the sweeper from what is due after them", () =>
    Effect.gen(function*() {
      yield* damage(25)
      yield* TestClock.setTime(createdAt + 3_600_000)
      const store = yield* TaskStore.TaskStore
      const round = TaskSweeper.sweep(10)
      const first = yield* listening(Effect.repeat(round, { times: 5 }))
      assert.strictEqual(first.lines.length, 25)
      const [whole] = yield* store.list({ limit: 10 })
      assert.strictEqual(whole?.task.status, "failed")
      // They stay: a newer release may be able to read them.
      assert.strictEqual(yield* store.countLive("ada"), 25)
      const second = yield* listening(round)
      assert.deepStrictEqual([second.value, second.lines.length], [0, 0])
    }).pipe(Effect.provide(Layer.provideMerge(engine, TaskDatabase.layer))))

  for (const sabotage of damages) {
    it.effect(`of any kind: ${sabotage}`, () =>
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        const sql = yield* SqlClient.SqlClient
        const owner = TaskOwner.key(caller)
        yield* store.create(working({ taskId: "damaged", owner, ttlMs: 1_000 }), { maxLive })
        yield* store.create(working({ taskId: "whole", tool: "resumable" }), { maxLive })
        yield* store.create(working({ taskId: "zoo", tool: "resumable", ttlMs: 2_000 }), { maxLive })
        yield* sql`UPDATE mcp_tasks SET ${sql.literal(sabotage)} WHERE task_id = 'damaged'`
        if (isOfHead(sabotage)) assert.strictEqual((yield* Effect.flip(store.view("damaged"))).reason, "Corrupt")
        const { lines, value: process } = yield* listening(start())
        yield* settle
        assert.strictEqual(Option.getOrThrow(yield* store.read("whole")).task.status, "completed")
        // A damaged head is made anew with the next change; under another id a task is no longer found.
        if (!isOfHead(sabotage) && !sabotage.startsWith("task_id")) {
          const error = yield* Effect.flip(process.engine.view(caller, "damaged"))
          assert.strictEqual(error._tag === "TaskStoreError" && error.reason, "Corrupt")
          assert.strictEqual((yield* Effect.flip(store.read("damaged"))).reason, "Corrupt")
          // A row that says that it does not live is nobody's to take up, and is found when it is due.
          // One that is due is named by the sweeper too.
          const count = sabotage.startsWith("live") ? 0 : sabotage.startsWith("due_at = -") ? 2 : 1
          assert.strictEqual(lines.length, count)
        }
        yield* process.stop
      }).pipe(Effect.provide(TaskDatabase.layer)))

    it.effect(`keep no sweeper from the others: ${sabotage}`, () =>
      Effect.gen(function*() {
        const store = yield* TaskStore.TaskStore
        const sql = yield* SqlClient.SqlClient
        for (const [index, taskId] of ["damaged", "whole", "zoo"].entries()) {
          const stored = yield* store.create(working({ taskId, ttlMs: 1_000 + index }), { maxLive })
          if (taskId !== "whole") yield* store.replace(stored, completed(working({ taskId })))
        }
        yield* sql`UPDATE mcp_tasks SET due_at = 1, ${sql.literal(sabotage.replace("due_at", "head"))}
          WHERE task_id = 'damaged'`
        yield* TestClock.setTime(createdAt + 3_600_000 * 24 * 365)
        const round = TaskSweeper.sweep(1)
        const { lines } = yield* listening(Effect.repeat(round, { times: 5 }))
        assert.isAtMost(lines.length, 1)
        const left = (yield* store.list({ limit: 10 })).filter(({ task }) => task.taskId !== "damaged")
        assert.deepStrictEqual(left.map(({ task }) => [task.taskId, task.status]), [["whole", "failed"]])
        assert.strictEqual(yield* round, 0)
      }).pipe(Effect.provide(Layer.provideMerge(engine, TaskDatabase.layer))))
  }
})
