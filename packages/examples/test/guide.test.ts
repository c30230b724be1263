import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { DemoClient } from "../src/DemoClient.ts"
import * as Guide from "../src/guide.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"
import * as TestServer from "./TestServer.ts"

const { create, http, result, settled } = TestServer

const final = { quality: { action: "accept", content: { quality: "final" } } }

const minutes = Effect.fnUntraced(function*(client: DemoClient, taskId: string, count: number) {
  for (let minute = 0; minute < count; minute++) {
    yield* result(client.getTask(taskId))
    yield* TestClock.adjust("1 minute")
  }
})

describe("the tool of the guide", () => {
  it.effect("outlives its first time to live, chapter by chapter", () =>
    Effect.gen(function*() {
      const client = (yield* TestServer.start(Guide.layer, TaskStore.layerMemory)).client()
      const taskId = yield* create(client, "transcode", { video: "cat", chapters: 5 })
      yield* settled(client, taskId)
      yield* result(client.updateTask(taskId, final))
      yield* minutes(client, taskId, 55)
      const { result: { structuredContent } } = yield* settled(client, taskId)
      assert.strictEqual(structuredContent["quality"], "final")
      assert.strictEqual(structuredContent["chapters"], 5)
    }).pipe(http))

  it.effect("completes with isError when the caller can do better", () =>
    Effect.gen(function*() {
      const client = (yield* TestServer.start(Guide.layer, TaskStore.layerMemory)).client()
      const ended = yield* settled(client, yield* create(client, "transcode", { video: "missing", chapters: 1 }))
      assert.strictEqual(ended.status, "completed")
      assert.strictEqual(ended.result.isError, true)
      assert.include(ended.result.content[0]?.text, "Call list_videos")
    }).pipe(http))

  it.effect("fails when what it relies on breaks", () =>
    Effect.gen(function*() {
      const client = (yield* TestServer.start(Guide.layer, TaskStore.layerMemory)).client()
      const taskId = yield* create(client, "transcode", { video: "damaged", chapters: 1 })
      yield* settled(client, taskId)
      yield* result(client.updateTask(taskId, final))
      yield* minutes(client, taskId, 11)
      const ended = yield* settled(client, taskId)
      assert.deepStrictEqual(ended.error, { code: -32603, message: "The encoder crashed in chapter 1" })
    }).pipe(http))

  it.effect("answers directly when there is nothing to wait for, and asks within the call", () =>
    Effect.gen(function*() {
      const client = (yield* TestServer.start(Guide.layer, TaskStore.layerMemory)).client()
      const call = { video: "cat", chapters: 0 }
      const asked = yield* result(client.callTool("transcode", call))
      assert.strictEqual(asked.resultType, "input_required")
      const retry = { inputResponses: final, requestState: asked.requestState }
      const answered = yield* result(client.callTool("transcode", call, retry))
      assert.strictEqual(answered.resultType, "complete")
      assert.strictEqual(answered.structuredContent["quality"], "final")
      // A license is bought by chance, and once: whoever retries again still has the one that the state holds.
      const again = yield* result(client.callTool("transcode", call, retry))
      assert.strictEqual(again.structuredContent["license"], answered.structuredContent["license"])
    }).pipe(http))

  it.effect("does not ask whom it cannot ask", () =>
    Effect.gen(function*() {
      const client = (yield* TestServer.start(Guide.layer, TaskStore.layerMemory)).client({})
      const answered = yield* result(client.callTool("transcode", { video: "cat", chapters: 0 }))
      assert.strictEqual(answered.structuredContent["quality"], "draft")
    }).pipe(http))

  it.effect("buys no second license after a restart", () =>
    Effect.gen(function*() {
      const filename = `${yield* temporaryDirectory}/tasks.sqlite`
      const store = TaskStore.layerSql.pipe(Layer.provide(SqliteClient.layer({ filename })))
      const first = yield* TestServer.start(Guide.layer, store)
      const taskId = yield* create(first.client(), "transcode", { video: "cat", chapters: 2 })
      const { statusMessage } = yield* settled(first.client(), taskId)
      yield* result(first.client().updateTask(taskId, final))
      yield* minutes(first.client(), taskId, 15)
      yield* first.stop

      const client = (yield* TestServer.start(Guide.layer, store)).client()
      yield* minutes(client, taskId, 11)
      const { result: { structuredContent } } = yield* settled(client, taskId)
      assert.strictEqual(`Licensed as ${structuredContent["license"]}`, statusMessage)
    }).pipe(http))
})
