/** How a task is stopped, and what does not stop it. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { everywhere, hasStatus, type Server, settle } from "./Wire.ts"

const cancel = (server: Server, taskId: string) => Effect.tap(server.ask("tasks/cancel", { taskId }), settle)

const statusOf = (server: Server, taskId: string) => Effect.map(server.get(taskId), ({ status }) => status)

const notify = (server: Server, params: Schema.JsonObject) =>
  server.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }))

everywhere((test) => {
  test("cancelling is acknowledged with nothing, and stops what runs or waits for input [E10, G1, G3]", (server) =>
    Effect.gen(function*() {
      for (const text of ["wait", "ask", "ask two"]) {
        const taskId = yield* server.create(text)
        for (let time = 0; time < 2; time++) {
          const { _meta: _, ...result } = (yield* cancel(server, taskId)).result ?? {}
          assert.deepStrictEqual(result, { resultType: "complete" })
          assert.strictEqual(yield* statusOf(server, taskId), "cancelled")
        }
        assert.notProperty(yield* server.get(taskId), "inputRequests")
      }
    }))

  test("work that cannot be stopped is not said to have ended before it has [G3, G4]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("stubborn")
      yield* cancel(server, taskId)
      assert.strictEqual(yield* statusOf(server, taskId), "working")
      yield* TestClock.adjust("2999 millis")
      yield* settle
      assert.strictEqual(yield* statusOf(server, taskId), "working")
      yield* TestClock.adjust("1 millis")
      yield* settle
      assert.strictEqual(yield* statusOf(server, taskId), "cancelled")
    }))

  test("what ended first stays as it ended [G3, G4]", (server) =>
    Effect.gen(function*() {
      for (const text of ["done", "fail", "break"]) {
        const taskId = yield* server.create(text)
        const before = yield* server.get(taskId)
        assert.strictEqual((yield* cancel(server, taskId)).result?.["resultType"], "complete")
        assert.deepStrictEqual(yield* server.get(taskId), before)
      }
    }))

  test("a cancel, an answer and a poll at once leave one end, which all see [G4]", (server) =>
    Effect.gen(function*() {
      for (let time = 0; time < 10; time++) {
        const taskId = yield* server.create("ask")
        const inputResponses = { name: { action: "decline" } }
        const replies = yield* Effect.all([
          server.ask("tasks/update", { taskId, inputResponses }, { id: "a" }),
          server.ask("tasks/cancel", { taskId }, { id: "b" }),
          server.ask("tasks/get", { taskId }, { id: "c" }),
          server.ask("tasks/cancel", { taskId }, { id: "d" })
        ], { concurrency: "unbounded" })
        for (const { result, text } of replies) assert.strictEqual(result?.["resultType"], "complete", text)
        yield* settle
        const ended = yield* server.get(taskId)
        assert.include(["completed", "cancelled"], ended["status"])
        assert.deepStrictEqual(yield* server.get(taskId), ended)
      }
    }))

  test("notifications/cancelled does not stop a task, by whatever name it calls it [G2, G4]", (server) =>
    Effect.gen(function*() {
      const { result } = yield* server.call("job", { text: "wait" }, { id: "the call" })
      const taskId = String(result?.["taskId"])
      const asking = yield* server.create("ask", { id: 7 })
      const ids = ["the call", 7, taskId, 99]
      const named: ReadonlyArray<Schema.JsonObject> = [...ids.map((requestId) => ({ requestId })), { taskId }, {}]
      for (const params of named) {
        const answer = yield* notify(server, { ...params, reason: "no more" })
        hasStatus(answer, 202)
        assert.strictEqual(answer.text, "")
      }
      yield* settle
      assert.strictEqual(yield* statusOf(server, taskId), "working")
      assert.strictEqual(yield* statusOf(server, asking), "input_required")
    }))
})
