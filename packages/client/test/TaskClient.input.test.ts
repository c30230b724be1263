/** Questions of a task: each asked once, answered once, and only while it is outstanding. */
import { InputHandler, TaskClientError } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Option, type Schema, Stream } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { after, asking, by, complete, created, done, error, got, reset } = HostileServer

const accepted = { action: "accept", content: { ok: true } }
const responses = (server: HostileServer.HostileServer) =>
  server.of("tasks/update").map(({ params }) => params["inputResponses"])

/** A server that shows its questions until each has been answered, and for some polls after that. */
const untilAnswered = (keys: ReadonlyArray<string>, pollsAfter = 0): HostileServer.Script => {
  const open = new Set(keys)
  let rest = pollsAfter
  return {
    "tools/call": [created()],
    "tasks/get": [by(() => open.size === 0 && rest-- <= 0 ? done("x") : asking(keys))],
    "tasks/update": [by(({ params }) => {
      for (const key of Object.keys(params["inputResponses"] as object)) open.delete(key)
      return complete()
    })]
  }
}

describe("a question [J6]", () => {
  it.effect("is asked and answered once, however long the server goes on showing it", () =>
    Effect.gen(function*() {
      const { asked, handler } = TestClient.accepting()
      const { client, server } = yield* TestClient.make(untilAnswered(["a"], 5))
      yield* TestClient.run(client.call("work", {}, { onInput: handler }))
      assert.deepStrictEqual(asked.map(({ key }) => key), ["a"])
      assert.deepStrictEqual(responses(server), [{ a: accepted }])
      assert.isAtLeast(server.of("tasks/get").length, 6)
    }))

  it.effect("says where it comes from", () =>
    Effect.gen(function*() {
      const { asked, handler } = TestClient.accepting()
      const { client } = yield* TestClient.make(untilAnswered(["a"]))
      yield* TestClient.run(client.call("work", {}, { onInput: handler }))
      const [question] = asked
      assert.deepStrictEqual(
        [question?.server, question?.tool, question?.taskId, question?.method, question?.isRepeated],
        [TestClient.url, "work", "t1", "elicitation/create", false]
      )
      assert.strictEqual(question?.params["message"], "a")
    }))

  it.effect("does not hold up another one, nor the polling", () =>
    Effect.gen(function*() {
      const slow = yield* Deferred.make<Schema.JsonObject>()
      const onInput = InputHandler.make({
        elicit: (_, { key }) => key === "slow" ? Deferred.await(slow) : Effect.succeed(accepted)
      })
      const { client, server } = yield* TestClient.make(untilAnswered(["slow", "fast"]))
      const fiber = yield* Effect.forkChild(client.call("work", {}, { onInput }))
      yield* TestClient.run(Effect.sleep(60_000), 1000)
      assert.deepStrictEqual(responses(server), [{ fast: accepted }])
      assert.isAtLeast(server.of("tasks/get").length, 40)
      yield* Deferred.succeed(slow, { action: "decline" })
      yield* TestClient.run(Fiber.join(fiber))
      assert.deepStrictEqual(responses(server)[1], { slow: { action: "decline" } })
    }))

  it.effect("is withdrawn when it is no longer outstanding, and its late answer is not sent", () =>
    Effect.gen(function*() {
      const withdrawnAt: Array<number> = []
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"]), got({ lastUpdatedAt: "2026-07-28T10:20:00.000Z" }), got(), done("x")]
      })
      const onInput = InputHandler.make({
        elicit: () =>
          Effect.onInterrupt(Effect.never, () => Effect.sync(() => withdrawnAt.push(server.of("tasks/get").length)))
      })
      yield* TestClient.run(client.call("work", {}, { onInput }))
      assert.deepStrictEqual(withdrawnAt, [2])
      assert.isEmpty(server.of("tasks/update"))
    }))

  it.effect("that takes long to leave the screen does not hold up the polling", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"]), got({ lastUpdatedAt: "2026-07-28T10:20:00.000Z" })]
      })
      const onInput = InputHandler.make({ elicit: () => Effect.onInterrupt(Effect.never, () => Effect.sleep(60_000)) })
      const fiber = yield* Effect.forkChild(client.call("work", {}, { onInput }))
      yield* TestClient.run(Effect.sleep(30_000), 1000)
      assert.isAtLeast(server.of("tasks/get").length, 20)
      yield* TestClient.run(Fiber.interrupt(fiber), 1000)
    }))

  it.effect("may be answered too late: a task that has ended meanwhile is no failure", () =>
    Effect.gen(function*() {
      const refusals = [error(-32602, "Task has ended"), error(-32602, "Unknown task")]
      for (const refusal of refusals) {
        let isAnswered = false
        const { client } = yield* TestClient.make({
          "tools/call": [created()],
          "tasks/get": [by(() => isAnswered ? done("x") : asking(["a"]))],
          "tasks/update": [by(() => {
            isAnswered = true
            return refusal
          })]
        })
        const call = client.call("work", {}, { onInput: TestClient.accepting().handler })
        assert.deepStrictEqual((yield* TestClient.run(call)).content, [{ type: "text", text: "x" }])
      }
    }))

  it.effect("whose answer the server refuses ends the call with that refusal", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"])],
        "tasks/update": [error(-32602, "content.ok must be a boolean")]
      })
      const call = client.call("work", {}, { onInput: TestClient.accepting({ ok: 1 }).handler })
      const refused = yield* TestClient.failure(call)
      assert.instanceOf(refused, TaskClientError.ProtocolError)
      assert.strictEqual(refused.error.message, "content.ok must be a boolean")
      assert.deepStrictEqual([refused.method, refused.taskId], ["tasks/update", "t1"])
      assert.strictEqual(server.of("tasks/update").length, 1)
    }))

  it.effect("that is refused since its task is gone ends the call at once, be the next poll far away", () =>
    Effect.gen(function*() {
      const refusal = error(-32602, "Task not found")
      const { handler } = TestClient.accepting()
      const { client, server } = yield* TestClient.make({
        "tools/call": [created({ pollIntervalMs: 600_000 })],
        "tasks/get": [asking(["a"], { pollIntervalMs: 600_000 }), refusal],
        "tasks/update": [refusal]
      })
      const before = yield* Clock.currentTimeMillis
      const failed = yield* TestClient.failure(client.call("work", {}, { onInput: handler }), 10_000)
      assert.instanceOf(failed, TaskClientError.TaskExpired)
      assert.strictEqual(server.of("tasks/get").length, 2)
      assert.isAtMost((yield* Clock.currentTimeMillis) - before, 900_000, "one interval, with what chance adds to it")
    }))

  it.effect("that is refused beside another one has the task polled by one poll at a time", () =>
    Effect.gen(function*() {
      let polling = 0
      let most = 0
      const slow = (reply: HostileServer.Reply) =>
        by(() =>
          Effect.gen(function*() {
            most = Math.max(most, ++polling)
            yield* Effect.ensuring(Effect.sleep(700), Effect.sync(() => polling--))
            return reply
          })
        )
      const { handler } = TestClient.accepting()
      const { client } = yield* TestClient.make({
        "tools/call": [created({ pollIntervalMs: 200 })],
        "tasks/get": [slow(asking(["a", "b"], { pollIntervalMs: 200 }))],
        "tasks/update": [after(300, error(-32602, "It does not fit")), after(500, error(-32602, "It does not fit"))]
      })
      const failed = yield* TestClient.failure(client.call("work", {}, { onInput: handler }), 100)
      assert.instanceOf(failed, TaskClientError.ProtocolError)
      assert.strictEqual(most, 1)
    }))

  it.effect("may have a key that every object has", () =>
    Effect.gen(function*() {
      const keys = ["__proto__", "toString"]
      const requests = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(HostileServer.form(key))}`).join(",")
      const view = `{"resultType":"complete","taskId":"t1","status":"input_required","inputRequests":{${requests}}}`
      let answers = 0
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [by(({ id }) =>
          answers === 2 ? done("x") : HostileServer.http(200, `{"jsonrpc":"2.0","id":${id},"result":${view}}`, {
            "content-type": "application/json"
          })
        )],
        "tasks/update": [by(() => {
          answers++
          return complete()
        })]
      })
      yield* TestClient.run(client.call("work", {}, { onInput: TestClient.accepting().handler }))
      const sent = responses(server).map((answer) => JSON.stringify(answer))
      assert.sameMembers(sent, keys.map((key) => `{"${key}":${JSON.stringify(accepted)}}`))
    }))

  it.effect("that nobody was to be asked is declined", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(untilAnswered(["a"]))
      yield* TestClient.run(client.call("work"))
      assert.deepStrictEqual(responses(server), [{ a: { action: "decline" } }])
    }))
})

describe("a handle's own answers", () => {
  it.effect("take the place of the handler's", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(untilAnswered(["a", "b"]))
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { onInput: InputHandler.manual }))
        const asks = Stream.runHead(Stream.filter(handle.changes, ({ status }) => status === "input_required"))
        const view = Option.getOrThrow(yield* TestClient.run(asks))
        assert.deepStrictEqual(view.status === "input_required" && Array.from(view.inputRequests.keys()), ["a", "b"])
        yield* TestClient.run(handle.answer("a", accepted))
        assert.instanceOf(yield* Effect.flip(handle.answer("a", accepted)), TaskClientError.NotOutstanding)
        assert.instanceOf(yield* Effect.flip(handle.answer("z", accepted)), TaskClientError.NotOutstanding)
        yield* TestClient.run(handle.answer("b", { action: "decline" }))
        yield* TestClient.run(handle.await)
        assert.instanceOf(yield* Effect.flip(handle.answer("b", accepted)), TaskClientError.NotOutstanding)
      }))
      assert.deepStrictEqual(responses(server), [{ a: accepted }, { b: { action: "decline" } }])
    }))

  it.effect("are taken once: no other one follows while the first is on its way, but the same may", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"])],
        "tasks/update": [reset]
      }, { retryFor: "2 seconds" })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { onInput: InputHandler.manual }))
        yield* TestClient.run(Stream.runHead(Stream.filter(handle.changes, ({ status }) => status !== "working")))
        assert.instanceOf(yield* TestClient.failure(handle.answer("a", accepted)), TaskClientError.TransportError)
        assert.instanceOf(yield* Effect.flip(handle.answer("a", InputHandler.declined)), TaskClientError.NotOutstanding)
        assert.instanceOf(yield* TestClient.failure(handle.answer("a", accepted)), TaskClientError.TransportError)
      }))
      for (const response of responses(server)) assert.deepStrictEqual(response, { a: accepted })
    }))

  it.effect("are not sent again once the same has been acknowledged, whoever sent it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"])],
        "tasks/update": [reset, complete()]
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { onInput: InputHandler.manual }))
        yield* TestClient.run(Stream.runHead(Stream.filter(handle.changes, ({ status }) => status !== "working")))
        const first = yield* Effect.forkChild(handle.answer("a", accepted))
        yield* TestClient.settle
        yield* TestClient.run(handle.answer("a", accepted), 10)
        assert.isTrue(Exit.isSuccess(yield* TestClient.awaitExit(first)))
      }))
      assert.deepStrictEqual(responses(server), [{ a: accepted }, { a: accepted }])
    }))

  it.effect("may be mended after the server has refused one", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"])],
        "tasks/update": [error(-32602, "It does not fit"), complete()]
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { onInput: InputHandler.manual }))
        yield* TestClient.run(Stream.runHead(Stream.filter(handle.changes, ({ status }) => status !== "working")))
        const unfit = { action: "accept", content: { ok: 7 } }
        assert.instanceOf(yield* TestClient.failure(handle.answer("a", unfit)), TaskClientError.ProtocolError)
        yield* TestClient.run(handle.answer("a", accepted))
      }))
      assert.deepStrictEqual(responses(server).at(-1), { a: accepted })
    }))

  it.effect("may come from another client, which only knows the id", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(untilAnswered(["a"]))
      const view = yield* TestClient.run(client.get("t1"))
      assert.strictEqual(view.status, "input_required")
      yield* TestClient.run(client.update("t1", { a: accepted }))
      assert.deepStrictEqual(responses(server), [{ a: accepted }])
    }))
})
