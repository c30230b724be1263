import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, Path, Schedule } from "effect"
import * as ServeProcess from "../src/ServeProcess.ts"
import * as Caller from "./Caller.ts"

const isAsking = (questions: number) => ({ inputRequests = {} }: typeof Caller.Task.Type) =>
  Object.keys(inputRequests).length === questions

const onFile = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* fs.makeTempDirectoryScoped(), "tasks.db")
  return { file, start: ServeProcess.start({ store: "sqlite", file }) }
})

/** Waits until the handler of an attempt waits for its client, which no poll tells. */
const waitsIn = Effect.fnUntraced(function*(file: string, taskId: string, attempt: number) {
  const store = yield* TaskStore.TaskStore
  yield* store.read(taskId).pipe(
    Effect.map(Option.getOrThrow),
    Effect.repeat({
      until: ({ task }) => task.attempt === attempt && task.status === "input_required" && task.lostAttempts === 0,
      schedule: Schedule.spaced("20 millis")
    }),
    Effect.timeout("1 minute")
  )
}, (effect, file) => Effect.provide(effect, Layer.provide(TaskStore.layerSql, SqliteClient.layer({ filename: file }))))

const confirmed = { action: "accept", content: { confirm: true } }

describe("a task whose process goes away", () => {
  it.live("keeps its question when it is resumable, and completes once answered", () =>
    Effect.gen(function*() {
      const { start } = yield* onFile
      const first = yield* start
      const { taskId } = yield* Caller.create(first.url, "confirm_delete", { filename: "a.txt" })
      const parked = yield* Caller.until(first.url, taskId, isAsking(1))
      yield* first.kill
      const second = yield* start
      const kept = yield* Caller.until(second.url, taskId, isAsking(1))
      assert.deepStrictEqual(kept.inputRequests, parked.inputRequests)
      yield* Caller.answer(second.url, taskId, { confirm: confirmed })
      const ended = yield* Caller.until(second.url, taskId, Caller.hasEnded)
      assert.strictEqual(ended.status, "completed")
      assert.deepStrictEqual(ended.result?.["content"], [{ type: "text", text: "Deleted a.txt" }])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("keeps its question through more crashes than it may lose attempts", () =>
    Effect.gen(function*() {
      const { file, start } = yield* onFile
      let server = yield* start
      const { taskId } = yield* Caller.create(server.url, "confirm_delete", { filename: "a.txt" })
      const parked = yield* Caller.until(server.url, taskId, isAsking(1))
      for (let crash = 1; crash <= 7; crash++) {
        yield* waitsIn(file, taskId, crash)
        yield* server.kill
        server = yield* start
      }
      assert.deepStrictEqual((yield* Caller.get(server.url, taskId)).inputRequests, parked.inputRequests)
      yield* Caller.answer(server.url, taskId, { confirm: confirmed })
      const ended = yield* Caller.until(server.url, taskId, Caller.hasEnded)
      assert.deepStrictEqual(ended.result?.["content"], [{ type: "text", text: "Deleted a.txt" }])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("is not asked again for what was answered before [F1]", () =>
    Effect.gen(function*() {
      const { start } = yield* onFile
      const first = yield* start
      const { taskId } = yield* Caller.create(first.url, "confirm_delete", { filename: "a.txt" })
      yield* Caller.until(first.url, taskId, isAsking(1))
      yield* Caller.answer(first.url, taskId, { confirm: confirmed })
      yield* first.kill
      const second = yield* start
      const ended = yield* Caller.until(second.url, taskId, Caller.hasEnded)
      assert.deepStrictEqual(ended.result?.["content"], [{ type: "text", text: "Deleted a.txt" }])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("fails with -32603 when it is not resumable", () =>
    Effect.gen(function*() {
      const { start } = yield* onFile
      const first = yield* start
      const { taskId } = yield* Caller.create(first.url, "multi_input", {})
      yield* Caller.until(first.url, taskId, isAsking(2))
      yield* first.kill
      const second = yield* start
      const ended = yield* Caller.get(second.url, taskId)
      assert.strictEqual(ended.status, "failed")
      assert.strictEqual(ended.error?.code, -32603)
      assert.isUndefined(ended.inputRequests)
      const late = yield* Caller.answer(second.url, taskId, { name: confirmed })
      assert.deepInclude(late.result, { resultType: "complete" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("is taken up again after an orderly end, which is never recorded as a cancellation [C7]", () =>
    Effect.gen(function*() {
      const { start } = yield* onFile
      const first = yield* start
      const working = yield* Caller.create(first.url, "slow_compute", { seconds: 600 })
      const parked = yield* Caller.create(first.url, "confirm_delete", { filename: "a.txt" })
      yield* Caller.until(first.url, parked.taskId, isAsking(1))
      assert.strictEqual(Number(yield* first.stop), 0)
      const second = yield* start
      assert.strictEqual((yield* Caller.get(second.url, working.taskId)).status, "working")
      assert.strictEqual((yield* Caller.until(second.url, parked.taskId, isAsking(1))).status, "input_required")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
