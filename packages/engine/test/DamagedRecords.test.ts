/** Records that cannot be decoded must not stand in the way of the tasks beside them. */
import { TaskEngine, TaskLimits, TaskSignal, TaskStore, TaskSweeper } from "@effect-mcp-tasks/engine"
import { createdAt, working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as SqlClient from "effect/sql/SqlClient"
import { TestClock } from "effect/testing"
import * as TaskDatabase from "./TaskDatabase.ts"
import { settle, start } from "./TestTools.ts"

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

const listening = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<unknown> = []
  const logger = Logger.make(({ message }) => {
    lines.push(message)
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
})
