/** Our client on the official SDK's server, whose tasks are written by hand. */
import { InputHandler, TaskClient, TaskClientError } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import * as HandWrittenServer from "./HandWrittenServer.ts"

const text = { success: Schema.String }

const started = Effect.gen(function*() {
  const server = yield* HandWrittenServer.serve
  const layer = TaskClient.layerHttp({ name: "test", version: "0", url: server.url })
  const context = yield* Layer.build(Layer.fresh(Layer.provide(layer, FetchHttpClient.layer)))
  return { server, client: yield* Effect.provideContext(TaskClient.TaskClient, context) }
})

const named = InputHandler.fromRecord({ name: "Ada", "two.name": "Grace" })

const ada = { action: "accept", content: { name: "Ada" } }
const grace = { action: "accept", content: { name: "Grace" } }

describe("our client on the official SDK's server", () => {
  it.live("takes what it says of itself", () =>
    Effect.gen(function*() {
      const { client } = yield* started
      const { name, offersTasks } = yield* client.discover
      assert.deepStrictEqual([name, offersTasks], ["official", true])
    }))

  it.live("gives plain results, results of tasks, and structured ones", () =>
    Effect.gen(function*() {
      const { client, server } = yield* started
      assert.strictEqual(yield* client.call("plain", {}, text), "at once")
      assert.strictEqual(yield* client.call("quick", {}, text), "done")
      const rows = yield* client.call("rows", {}, { success: Schema.Struct({ rows: Schema.Int }) })
      assert.deepStrictEqual(rows, { rows: 7 })
      assert.strictEqual(server.calls(), 3)
    }))

  it.live("answers two questions that are asked at once, each with one update", () =>
    Effect.gen(function*() {
      const { client, server } = yield* started
      const answers: unknown = JSON.parse(yield* client.call("ask", {}, { ...text, onInput: named }))
      assert.sameDeepMembers(answers as Array<unknown>, [ada, grace])
      assert.sameDeepMembers([...server.updates], [{ one: ada }, { two: grace }])
    }))

  it.live("answers before there is a task", () =>
    Effect.gen(function*() {
      const { client, server } = yield* started
      assert.strictEqual(yield* client.call("ask_first", {}, { ...text, onInput: named }), "Hello, Ada")
      assert.strictEqual(server.calls(), 2)
    }))

  it.live("keeps the error of a failed task", () =>
    Effect.gen(function*() {
      const { client } = yield* started
      const failed = yield* Effect.flip(client.call("broken"))
      assert.instanceOf(failed, TaskClientError.TaskFailed)
      assert.deepStrictEqual(failed.error, { code: -32050, message: "It broke", data: { why: "test" } })
    }))

  it.live("cancels what is interrupted, and says what was cancelled", () =>
    Effect.gen(function*() {
      const { client } = yield* started
      const handle = yield* client.start("slow")
      const waiting = yield* Effect.forkChild(Effect.flip(handle.await))
      yield* handle.cancel
      assert.instanceOf(yield* Fiber.join(waiting), TaskClientError.TaskCancelled)
      const views = yield* Stream.runCollect(handle.changes)
      assert.deepStrictEqual(views.map(({ status }) => status), ["cancelled"])
    }))

  it.live("does not find a task that there is not, nor a tool", () =>
    Effect.gen(function*() {
      const { client } = yield* started
      assert.instanceOf(yield* Effect.flip(client.get("nope")), TaskClientError.TaskExpired)
    }))
})
