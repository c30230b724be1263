/** Notifications first where the server has them, polling beneath. */
import { McpProtocol } from "@effect-mcp-tasks/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Queue, Schema, Stream } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { after, asking, by, complete, created, done, error, event, events, got, http, reset, silence } = HostileServer

const completed = {
  status: "completed",
  lastUpdatedAt: "2026-07-28T10:30:00.000Z",
  result: { content: [{ type: "text", text: "notified" }] }
}

const meta = (id: Schema.Json) => ({ _meta: { [McpProtocol.MetaKey.subscriptionId]: id } })

const acknowledged = (id: Schema.Json, taskIds: Schema.Json = ["t1"]) =>
  event({ method: "notifications/subscriptions/acknowledged", params: { ...meta(id), notifications: { taskIds } } })

const notification = (id: Schema.Json, fields: Schema.JsonObject) =>
  event({ method: "notifications/tasks", params: { ...meta(id), ...HostileServer.task(fields) } })

/** A stream that acknowledges, and then says what it is told to, after its time. */
const telling = (...said: ReadonlyArray<readonly [ms: number, say: (id: Schema.Json) => string]>) =>
  by(({ id }) =>
    events(Stream.concat(
      Stream.make(acknowledged(id)),
      Stream.concat(
        Stream.fromIterable(said).pipe(Stream.mapEffect(([ms, say]) => Effect.as(Effect.sleep(ms), say(id)))),
        Stream.never
      )
    ))
  )

const listening = { listen: true }
const text = { success: Schema.String }

const pollsOf = (server: HostileServer.HostileServer) => server.of("tasks/get").length

describe("a task that can be listened to [J7]", () => {
  it.effect("is hardly polled, and its end is heard at once", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got()],
        "subscriptions/listen": [telling([20_000, (id) => notification(id, completed)])]
      }, listening)
      const started = yield* Clock.currentTimeMillis
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text), 100), "notified")
      assert.isAtMost((yield* Clock.currentTimeMillis) - started, 20_500)
      assert.isAtMost(pollsOf(server), 2, "one when it began to listen")
      const [listen] = server.of("subscriptions/listen")
      assert.deepStrictEqual(listen?.params["notifications"], { taskIds: ["t1"] })
      assert.strictEqual(listen?.headers["mcp-method"], "subscriptions/listen")
      assert.notProperty(listen?.headers, "mcp-name")
    }))

  it.effect("is polled once when the stream begins, for what happened before", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created({ pollIntervalMs: 60_000 })],
        "tasks/get": [done("polled")],
        "subscriptions/listen": [telling()]
      }, listening)
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text), 100), "polled")
      assert.isBelow(server.of("tasks/get")[0]?.at ?? Infinity, 1000)
    }))

  it.effect("is polled all the same, now and then, in case a notification is lost", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), got(), done("polled")],
        "subscriptions/listen": [telling()]
      }, listening)
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text)), "polled")
      const [, second = 0, third = 0] = server.of("tasks/get").map(({ at }) => at)
      assert.isAtLeast(third - second, 30_000)
    }))

  it.effect("has a poll that is on its way finished, whatever is heard meanwhile", () =>
    Effect.gen(function*() {
      const news = (seconds: number) => (id: Schema.Json) =>
        notification(id, { statusMessage: `${seconds}`, lastUpdatedAt: `2026-07-28T10:00:0${seconds}.000Z` })
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [after(5000, got()), done("polled")],
        "subscriptions/listen": [telling([500, news(1)], [500, news(2)], [500, news(3)])]
      }, listening)
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text)), "polled")
      assert.strictEqual(pollsOf(server), 2)
      const [first] = server.of("tasks/get")
      assert.notInclude(server.withdrawn, first?.id)
    }))

  it.effect("asks each question once, whether it is heard, polled or both [J6]", () =>
    Effect.gen(function*() {
      const { asked, handler } = TestClient.accepting()
      const question = { status: "input_required", lastUpdatedAt: "2026-07-28T10:10:00.000Z" }
      const requests = { inputRequests: { a: HostileServer.form("a") } }
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"])],
        "subscriptions/listen": [telling(
          [1000, (id) => notification(id, { ...question, ...requests })],
          [1000, (id) => notification(id, { ...question, ...requests })],
          [50_000, (id) => notification(id, completed)]
        )]
      }, listening)
      yield* TestClient.run(client.call("work", {}, { onInput: handler }))
      assert.strictEqual(asked.length, 1)
      assert.strictEqual(server.of("tasks/update").length, 1)
    }))
})

describe("a stream that is not as it should be", () => {
  const others: ReadonlyArray<readonly [string, HostileServer.Reply]> = [
    ["other subscriptions", telling([1000, () => notification("another", completed)])],
    ["another type of id", telling([1000, (id) => notification(String(id), completed)])],
    ["other tasks", telling([1000, (id) => notification(id, { ...completed, taskId: "t2" })])],
    [
      "no subscription",
      telling([1000, () => event({ method: "notifications/tasks", params: HostileServer.task(completed) })])
    ],
    ["what is no task", telling([1000, (id) => event({ method: "notifications/tasks", params: meta(id) })])],
    ["requests", telling([1000, () => event({ id: 1, method: "sampling/createMessage", params: {} })])]
  ]
  it.effect.each(others)("is not listened to when it speaks of %s [J9]", ([, reply]) =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), got(), done("polled")],
        "subscriptions/listen": [reply]
      }, listening)
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text)), "polled")
    }))

  const agreeing = (taskIds: Schema.Json) =>
    by(({ id }) => events(Stream.concat(Stream.make(acknowledged(id, taskIds)), Stream.never)))

  const refused: ReadonlyArray<readonly [string, HostileServer.Reply]> = [
    ["does not know the method", error(-32601, "Method not found", { status: 404 })],
    ["refuses", error(-32602, "Invalid params")],
    ["agrees to other tasks", agreeing(["t2"])],
    ["agrees to nothing readable", agreeing("t1")]
  ]
  it.effect.each(refused)("is given up when the server %s [J9]", ([, reply]) =>
    Effect.gen(function*() {
      const polls = Array.from({ length: 60 }, () => got())
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [...polls, done("polled")],
        "subscriptions/listen": [reply]
      }, listening)
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text)), "polled")
      assert.strictEqual(server.of("subscriptions/listen").length, 1)
      const at = server.of("tasks/get").map((request) => request.at)
      assert.isBelow((at.at(-1) ?? 0) - (at[0] ?? 0), 60 * 1500, "at the usual pace")
    }))

  it.effect("is not tried again for other tasks by a client whose server does not know the method", () =>
    Effect.gen(function*() {
      const script = { "tools/call": [created()], "tasks/get": [got(), done("x")] }
      const { client, server } = yield* TestClient.make(script, listening)
      yield* TestClient.run(client.call("work"))
      yield* TestClient.run(client.call("work"))
      assert.strictEqual(server.of("subscriptions/listen").length, 1)
    }))

  const broken: ReadonlyArray<readonly [string, HostileServer.Reply]> = [
    ["is reset", reset],
    ["is overloaded", http(503)],
    ["is HTML", HostileServer.html],
    ["stays silent", silence],
    ["is not acknowledged", events(Stream.never)],
    ["breaks after its acknowledgement", by(({ id }) =>
      events(Stream.concat(Stream.make(acknowledged(id)), Stream.fail(new Error("gone"))))
    )],
    ["ends in order", by(({ id }) =>
      events(Stream.make(acknowledged(id), event({ id, result: { resultType: "complete", ...meta(id) } })))
    )]
  ]
  it.effect.each(broken)("is opened again when it %s, with polls at the usual pace meanwhile [J9, J14]", ([, reply]) =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got()],
        "subscriptions/listen": [reply, reply, telling([100_000, (id) => notification(id, completed)])]
      }, listening)
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, text)), "notified")
      const streams = server.of("subscriptions/listen")
      assert.strictEqual(streams.length, 3)
      assert.strictEqual(new Set(streams.map(({ id }) => id)).size, 3)
      assert.isAbove(pollsOf(server), 2)
    }))
})

describe("a server that does not offer tasks, or is not to be listened to", () => {
  it.effect("is not listened to", () =>
    Effect.gen(function*() {
      const script = { "tools/call": [created()], "tasks/get": [got(), done("x")] }
      const undeclared = yield* TestClient.make({
        ...script,
        "server/discover": [complete({ supportedVersions: [McpProtocol.ProtocolVersion], capabilities: {} })]
      }, listening)
      yield* TestClient.run(undeclared.client.call("work"))
      const mute = yield* TestClient.make({ ...script, "server/discover": [error(-32601, "No")] }, listening)
      yield* TestClient.run(mute.client.call("work"))
      const unwanted = yield* TestClient.make(script, { listen: false })
      yield* TestClient.run(unwanted.client.call("work"))
      for (const { server } of [undeclared, mute, unwanted]) assert.isEmpty(server.of("subscriptions/listen"))
    }))
})

describe("the end of a call", () => {
  it.effect("is heard even while polls fail", () =>
    Effect.gen(function*() {
      const said = yield* Queue.unbounded<string>()
      let listenId: Schema.Json = 0
      const { client } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), http(503, "", { "retry-after": "100" })],
        "subscriptions/listen": [by(({ id }) => {
          listenId = id
          return events(Stream.concat(Stream.make(acknowledged(id)), Stream.fromQueue(said)))
        })]
      }, listening)
      const fiber = yield* Effect.forkChild(client.call("work", {}, text))
      yield* TestClient.run(Effect.sleep(60_000))
      yield* Queue.offer(said, notification(listenId, completed))
      yield* TestClient.settle
      assert.strictEqual(yield* Fiber.join(fiber), "notified")
    }))
})
