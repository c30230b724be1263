/** What a client bears, for how long, and what it does not bear at all. Every row is something that networks do. */
import { TaskClient, TaskClientError, TaskHandleStore } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Schema, Stream } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { after, by, complete, created, done, dropped, error, event } = HostileServer
const { events, got, html, http, reset, silence, truncated } = HostileServer

const json = { "content-type": "application/json" }

/** A failure, and the reason that it has in the end when it does not pass. */
type Row = readonly [name: string, reply: HostileServer.Reply, reason: string]

const passing: ReadonlyArray<Row> = [
  ["a reset connection", reset, "Unreachable"],
  ["no answer at all", silence, "Timeout"],
  ["an answer that comes too late", after(31_000, got()), "Timeout"],
  ["429", http(429), "HttpStatus"],
  ["429 with Retry-After", http(429, "", { "retry-after": "7" }), "HttpStatus"],
  ["429 with a JSON-RPC error", error(-32603, "slow down", { status: 429 }), "HttpStatus"],
  ["500", http(500), "HttpStatus"],
  ["502 with a page", http(502, "<html>Bad gateway</html>"), "HttpStatus"],
  ["503", http(503), "HttpStatus"],
  ["504", http(504), "HttpStatus"],
  ["408", http(408), "HttpStatus"],
  ["HTML in the place of JSON", html, "NotJson"],
  ["HTML that says it is JSON", http(200, "<html></html>", json), "NotJson"],
  ["JSON that was cut off", truncated, "NotJson"],
  ["an empty body", http(200, "", json), "NotJson"],
  ["no body and no type", http(200, "", {}), "NotJson"],
  ["a message that is none", http(200, `{"hello":1}`, json), "Malformed"],
  ["an error without a code", http(200, `{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}`, json), "Malformed"],
  ["a batch", http(200, `[{"jsonrpc":"2.0","id":1,"result":{}}]`, json), "Malformed"],
  ["JSON nested without end", http(200, `${"[".repeat(100_000)}`, json), "Malformed"],
  ["202, as if it were a notification", http(202), "Malformed"],
  ["a stream that breaks", dropped, "Lost"],
  ["a stream that ends without an answer", events(Stream.make(": bye\n\n")), "Lost"],
  ["a stream with something else on it", events(Stream.make("data: nonsense\n\n")), "NotJson"],
  ["an internal error", error(-32603, "The store is away"), ""]
]

const final: ReadonlyArray<readonly [name: string, reply: HostileServer.Reply, tag: string]> = [
  ["400", http(400), "TransportError"],
  ["401", http(401), "TransportError"],
  ["403", http(403), "TransportError"],
  ["403 with an error that is not JSON-RPC's", http(403, `{"error":{"message":"no"}}`, json), "TransportError"],
  ["400 with a result", http(400, `{"jsonrpc":"2.0","id":1,"result":{}}`, json), "TransportError"],
  ["404", http(404, "<html>Not here</html>"), "TransportError"],
  ["302", http(302, "", { location: "http://elsewhere.test/" }), "TransportError"],
  ["an unknown method", error(-32601, "Method not found", { status: 404 }), "ProtocolError"],
  ["a missing capability", error(-32021, "Missing", { status: 400 }), "ProtocolError"],
  ["headers that do not match", error(-32020, "Mismatch", { status: 400 }), "ProtocolError"],
  ["an error of its own", error(1234, "No"), "ProtocolError"],
  ["another revision", error(-32022, "No", { status: 400, data: { supported: ["2025-11-25"] } }), "ProtocolError"],
  ["a task without id", complete({ status: "working" }), "InvalidResponse"],
  ["the answer to another request", http(200, `{"jsonrpc":"2.0","id":77,"result":{}}`, json), "InvalidResponse"],
  ["a result of an unknown type", HostileServer.result({ ...HostileServer.task(), resultType: "x" }), "InvalidResponse"]
]

describe("a server that has never answered", () => {
  const lasting = Effect.fnUntraced(function*(options: Partial<TaskClient.Options>, known: boolean) {
    const { client } = yield* TestClient.make({ "tasks/get": [reset], "tools/list": [reset] }, options)
    const before = yield* Clock.currentTimeMillis
    yield* TestClient.failure(known ? Effect.asVoid(client.get("t1")) : Effect.asVoid(client.tools), 100)
    return (yield* Clock.currentTimeMillis) - before
  })

  it.effect("is told of soon before a call, later for a known task, and as its caller says", () =>
    Effect.gen(function*() {
      assert.isAtMost(yield* lasting({}, false), 6000)
      assert.isAtLeast(yield* lasting({}, true), 60_000)
      for (const known of [true, false]) {
        assert.isAtMost(yield* lasting({ firstContact: "5 seconds" }, known), 6000)
        assert.isAtLeast(yield* lasting({ firstContact: "5 minutes" }, known), 200_000)
      }
    }))

  it.effect("is borne as long as any other once it has answered", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(
        { "tools/call": [created()], "tasks/get": [reset] },
        { firstContact: "5 seconds" }
      )
      yield* TestClient.failure(client.call("work"))
      const polls = server.of("tasks/get").map(({ at }) => at)
      assert.isAtLeast((polls.at(-1) ?? 0) - (polls[0] ?? 0), 60_000)
    }))
})

describe("a poll that fails", () => {
  it.effect.each(passing)("is repeated after %s, under a new id [J14]", ([, reply]) =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [reply, reply, done("at last")]
      })
      const value = yield* TestClient.run(client.call("work", {}, { success: Schema.String }))
      assert.strictEqual(value, "at last")
      const polls = server.of("tasks/get")
      assert.strictEqual(polls.length, 3)
      assert.strictEqual(new Set(polls.map(({ id }) => id)).size, 3)
      assert.strictEqual(server.of("tools/call").length, 1)
    }))

  it.effect.each(passing)("is given up two minutes after %s began, with the id of the task", ([, reply, reason]) =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [reply] })
      const failed = yield* TestClient.failure(client.call("work"))
      if (reason === "") {
        assert.instanceOf(failed, TaskClientError.ProtocolError)
        assert.deepStrictEqual(failed.error, { code: -32603, message: "The store is away" })
      } else {
        assert.instanceOf(failed, TaskClientError.TransportError)
        assert.strictEqual(failed.reason, reason)
      }
      assert.strictEqual(failed.taskId, "t1")
      const polls = server.of("tasks/get").map(({ at }) => at)
      assert.isAtLeast(polls.length, 3)
      assert.isAtMost((polls.at(-1) ?? 0) - (polls[0] ?? 0), 155_000)
      assert.isEmpty(server.of("tasks/cancel"), "the task may go on")
    }))

  it.effect("is borne as long when the clock of the day is set meanwhile", () =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let aheadMs = 0
      const currentTimeMillis = Effect.map(clock.currentTimeMillis, (ms) => ms + aheadMs)
      const set: Clock.Clock = { ...clock, currentTimeMillis }
      const { client, server } = yield* TestClient.make({
        "tasks/get": [by(() => {
          aheadMs += 3_600_000
          return reset
        })]
      })
      yield* TestClient.failure(Effect.provideService(client.get("t1"), Clock.Clock, set))
      const polls = server.of("tasks/get").map(({ at }) => at)
      assert.isAtLeast(polls.length, 5)
    }))

  it.effect.each(final)("ends the call at once after %s", ([, reply, tag]) =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [reply] })
      const failed = yield* TestClient.failure(client.call("work"))
      assert.strictEqual(failed._tag, tag)
      assert.propertyVal(failed, "taskId", "t1")
      assert.strictEqual(server.of("tasks/get").length, 1)
    }))

  it.effect("waits longer each time, and as long as Retry-After says", () =>
    Effect.gen(function*() {
      const busy = http(503)
      const { client, server } = yield* TestClient.make({
        "tools/call": [created({ pollIntervalMs: 200 })],
        "tasks/get": [busy, busy, busy, busy, http(429, "", { "retry-after": "40" }), busy, done("x")]
      })
      yield* TestClient.run(client.call("work"), 50)
      const at = server.of("tasks/get").map((request) => request.at)
      const waits = at.slice(1).map((now, index) => now - (at[index] ?? 0))
      const least = [500, 1000, 2000, 4000, 40_000, 16_000]
      for (const [index, wait] of waits.entries()) {
        assert.isAtLeast(wait, least[index] ?? 0)
        assert.isAtMost(wait, (least[index] ?? 0) * 1.2 + 100)
      }
    }))

  it.effect("reads Retry-After as a date too, and bears with one that is neither", () =>
    Effect.gen(function*() {
      const dated = { "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [http(503, "", dated), http(503, "", { "retry-after": "soon" }), done("x")]
      })
      yield* TestClient.run(client.call("work"))
      const [, second = 0, third = 0] = server.of("tasks/get").map(({ at }) => at)
      assert.isAtLeast(second, 60_000)
      assert.isAtMost(second, 60_100)
      assert.isBelow(third - second, 2000)
    }))

  it.effect("is given up at once when Retry-After lies beyond the deadline", () =>
    Effect.gen(function*() {
      for (const seconds of ["121", "999999999999999999999"]) {
        const { client, server } = yield* TestClient.make({
          "tools/call": [created()],
          "tasks/get": [http(429, "", { "retry-after": seconds })]
        })
        const failed = yield* TestClient.failure(client.call("work"))
        assert.instanceOf(failed, TaskClientError.TransportError)
        assert.isAbove(failed.retryAfterMs ?? 0, 120_000)
        assert.strictEqual(server.of("tasks/get").length, 1)
      }
    }))

  it.effect("does not make the polls faster than the server asks", () =>
    Effect.gen(function*() {
      const slow = { pollIntervalMs: 10_000 }
      const { client, server } = yield* TestClient.make({
        "tools/call": [created(slow)],
        "tasks/get": [reset, reset, done("x")]
      })
      yield* TestClient.run(client.call("work"))
      const at = server.of("tasks/get").map((request) => request.at)
      for (const [index, now] of at.slice(1).entries()) assert.isAtLeast(now - (at[index] ?? 0), 10_000)
    }))

  it.effect("begins a new deadline once a poll has succeeded", () =>
    Effect.gen(function*() {
      const hour = Array.from({ length: 60 }, (_, n) => n % 2 === 0 ? http(503, "", { "retry-after": "60" }) : got())
      const { client } = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [...hour, done("x")] })
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, { success: Schema.String }), 5000), "x")
    }))
})

describe("a call that fails on its way", () => {
  const failures = [...passing.map(([name, reply]) => [name, reply] as const), ...final.map(([name, reply]) =>
    [name, reply] as const)].filter(([name]) =>
      !["headers that do not match", "a task without id", "an answer that comes too late"].includes(name))

  it.effect.each(failures)("is not sent again after %s", ([, reply]) =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [reply] })
      yield* TestClient.failure(client.call("work"), 60_000)
      assert.strictEqual(server.of("tools/call").length, 1)
    }))

  it.effect("says that it may have been carried out", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({ "tools/call": [reset] })
      const failed = yield* TestClient.failure(client.call("work"))
      assert.match(failed.message, /not sent again, since it may have been carried out/)
    }))
})

describe("a server that is not there", () => {
  it.effect("is told of soon, before anything has begun", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/list": [reset] })
      const failed = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(failed, TaskClientError.TransportError)
      const at = server.of("tools/list").map((request) => request.at)
      assert.isAtLeast(at.length, 3)
      assert.isAtMost(at.at(-1) ?? 0, 5000)
      assert.isEmpty(server.of("tools/call"))
    }))

  it.effect("is waited for once it has answered, and when a task is resumed", () =>
    Effect.gen(function*() {
      const away = http(503, "", { "retry-after": "60" })
      const { client } = yield* TestClient.make({
        "tools/list": [complete({ tools: [], ttlMs: 0 }), away, complete({ tools: [], ttlMs: 0 })],
        "tools/call": [complete({ content: [] })],
        "tasks/get": [away, done("x")]
      })
      yield* TestClient.run(client.call("work"))
      yield* TestClient.run(client.call("work"), 5000)
      const resumed = yield* TestClient.make({ "tasks/get": [away, done("x")] })
      const result = Effect.scoped(Effect.flatMap(resumed.client.resume("t1"), (handle) => handle.await))
      assert.deepStrictEqual((yield* TestClient.run(result, 5000)).content, [{ type: "text", text: "x" }])
    }))
})

describe("answers and cancels", () => {
  it.effect.each(passing)("are repeated after %s, the same answer without a new question", ([, reply]) =>
    Effect.gen(function*() {
      const { asked, handler } = TestClient.accepting()
      let isAnswered = false
      const acknowledge = by(() => {
        isAnswered = true
        return complete()
      })
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [by(() => isAnswered ? done("x") : HostileServer.asking(["a"]))],
        "tasks/update": [reply, reply, acknowledge]
      })
      yield* TestClient.run(client.call("work", {}, { onInput: handler }))
      assert.strictEqual(asked.length, 1)
      const sent = server.of("tasks/update").map(({ params }) => params["inputResponses"])
      const answer = { a: { action: "accept", content: { ok: true } } }
      assert.deepStrictEqual(sent, [answer, answer, answer])
    }))

  it.effect("are not repeated by whoever resumes, though the server still shows the question", () =>
    Effect.gen(function*() {
      const { asked, handler } = TestClient.accepting()
      let polls = 0
      const server = HostileServer.make({
        "tools/call": [created()],
        "tasks/get": [by(() => ++polls > 6 ? done("x") : HostileServer.asking(["a"]))],
        "tasks/update": [complete()]
      })
      const context = yield* Layer.build(TestClient.layer(server).pipe(Layer.provideMerge(TaskHandleStore.layerMemory)))
      const client = yield* Effect.provideContext(TaskClient.TaskClient, context)
      const begun = Effect.andThen(client.start("work", {}, { onInput: handler }), Effect.sleep("1500 millis"))
      yield* TestClient.run(Effect.scoped(begun))
      const resumed = Effect.flatMap(client.resume("t1", { onInput: handler }), (handle) => handle.await)
      yield* TestClient.run(Effect.scoped(resumed))
      assert.isAbove(polls, 6)
      assert.deepStrictEqual([asked.length, server.of("tasks/update").length], [1, 1])
    }))

  it.effect("are repeated for a cancel", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tasks/cancel": [reset, http(503), complete()] })
      yield* TestClient.run(client.cancel("t1"))
      assert.strictEqual(server.of("tasks/cancel").length, 3)
    }))
})

describe("the size of an answer", () => {
  const long = "x".repeat(5000)
  const big: ReadonlyArray<readonly [string, HostileServer.Reply]> = [
    ["a document", done(long)],
    ["an event", by(({ id }) => events(Stream.make(event({ id, result: { resultType: "complete", long } }))))],
    ["an event without end", events(Stream.forever(Stream.succeed("data: ".padEnd(500, "x"))))]
  ]
  it.effect.each(big)("is bounded for %s, and then final", ([, reply]) =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(
        { "tools/call": [created()], "tasks/get": [reply] },
        { maxMessageBytes: 4000 }
      )
      const failed = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(failed, TaskClientError.TransportError)
      assert.strictEqual(failed.reason, "TooLarge")
      assert.strictEqual(server.of("tasks/get").length, 1)
    }))
})
