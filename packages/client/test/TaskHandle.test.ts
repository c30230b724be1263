/** What the handle of a call that has begun shows, and what can be done with it. */
import { TaskClientError } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { complete, created, done, got } = HostileServer

const text = (value: string) => complete({ content: [{ type: "text", text: value }] })

describe("a handle", () => {
  it.effect("shows the task as it changes, each view once, and gives the result to whoever waits", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [
          got(),
          got({ statusMessage: "half", lastUpdatedAt: "2026-07-28T10:00:02.000Z" }),
          got({ statusMessage: "half", lastUpdatedAt: "2026-07-28T10:00:02.000Z" }),
          got({ statusMessage: "stale", lastUpdatedAt: "2026-07-28T10:00:01.000Z" }),
          done("x")
        ]
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { success: Schema.String }))
        assert.deepStrictEqual(handle.id, Option.some("t1"))
        const waiting = Effect.all([Stream.runCollect(handle.changes), handle.await], { concurrency: "unbounded" })
        const [views, value] = yield* TestClient.run(waiting)
        assert.deepStrictEqual(views.map(({ status, statusMessage }) => [status, statusMessage]), [
          ["working", undefined], ["working", "half"], ["completed", undefined]
        ])
        assert.strictEqual(value, "x")
        assert.strictEqual(yield* handle.await, "x", "again, later")
        assert.deepStrictEqual((yield* Stream.runCollect(handle.changes)).map(({ status }) => status), ["completed"])
      }))
    }))

  it.effect("of a call that was answered at once has its result and no task", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({ "tools/call": [text("x")] })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { success: Schema.String }))
        assert.isTrue(Option.isNone(handle.id))
        assert.strictEqual(yield* handle.await, "x")
        assert.isEmpty(yield* Stream.runCollect(handle.changes))
        assert.instanceOf(yield* Effect.flip(handle.answer("a", {})), TaskClientError.NotOutstanding)
        yield* handle.cancel
      }))
    }))

  it.effect("cancels, and still tells how the task really ended (J8)", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), done("was faster")]
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { success: Schema.String }))
        yield* TestClient.run(handle.cancel)
        assert.strictEqual(yield* TestClient.run(handle.await), "was faster")
      }))
      assert.strictEqual(server.of("tasks/cancel").length, 1)
      assert.isEmpty(server.of("notifications/cancelled"))
    }))

  it.effect("leaves the task when its scope closes", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [got()] })
      yield* TestClient.run(Effect.scoped(Effect.asVoid(client.start("work"))))
      const polls = server.of("tasks/get").length
      yield* TestClient.run(Effect.sleep(60_000), 1000)
      assert.strictEqual(server.of("tasks/get").length, polls)
      assert.isEmpty(server.of("tasks/cancel"))
    }))
})
