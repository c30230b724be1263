/** What a client hears that listens, in which order, and of whose tasks. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import type * as Connection from "./Connection.ts"
import { everywhere, isError, type Server, settle } from "./Wire.ts"

type Message = typeof Connection.Message.Type

const subscriptionId = "io.modelcontextprotocol/subscriptionId"

const serverInfo = { name: "duties", version: "1.2.3" }

/** A task as `notifications/tasks` says it to the subscription of an id. */
const told = (task: Schema.JsonObject, id: Schema.Json): Message => {
  const { _meta: _, resultType: __, ...rest } = task
  return { jsonrpc: "2.0", method: "notifications/tasks", params: { _meta: { [subscriptionId]: id }, ...rest } }
}

const acknowledged = (notifications: Schema.JsonObject, id: Schema.Json): Message => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { _meta: { [subscriptionId]: id }, notifications }
})

/** The result that a subscription ends with. */
const ended = (id: Schema.Json): Message => ({
  jsonrpc: "2.0",
  id,
  result: {
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo, [subscriptionId]: id },
    resultType: "complete"
  }
})

const decline = (server: Server, taskId: string, ...keys: ReadonlyArray<string>) => {
  const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: "decline" }]))
  return Effect.andThen(server.ask("tasks/update", { taskId, inputResponses }), settle)
}

everywhere((test) => {
  test("the filter is acknowledged first, and each state is told as tasks/get says it [C11, H1, H4]", (server) =>
    Effect.gen(function*() {
      for (const id of ["listen", "7", 7, 0, ""]) {
        const taskId = yield* server.create("ask twice")
        const heard = yield* server.listen({ taskIds: [taskId, taskId] }, { id })
        assert.deepStrictEqual(yield* heard.next, acknowledged({ taskIds: [taskId] }, id))
        assert.deepStrictEqual(yield* heard.next, told(yield* server.get(taskId, { id: "get" }), id))
        yield* decline(server, taskId, "one")
        const second = yield* heard.next
        assert.deepStrictEqual(second.params?.["status"], "working")
        assert.deepStrictEqual(yield* heard.next, told(yield* server.get(taskId, { id: "get" }), id))
        yield* decline(server, taskId, "two")
        const rest = yield* heard.all
        assert.deepStrictEqual(rest.at(-2), told(yield* server.get(taskId, { id: "get" }), id))
        assert.deepStrictEqual(rest.at(-1), ended(id))
      }
    }))

  test("only the caller's own tasks are granted; a foreign one is passed over like none [H1, H2, I4]", (server) =>
    Effect.gen(function*() {
      const hers = yield* server.create("ask")
      const his = yield* server.create("ask", { as: "bob" })
      const heard = yield* server.listen({ taskIds: ["unknown", his, hers, "", "__proto__"] })
      assert.deepStrictEqual(yield* heard.next, acknowledged({ taskIds: [hers] }, "listen"))
      // What happens to the other's task is not heard, nor what happens to one that was not named.
      const unnamed = yield* server.create("wait")
      yield* server.ask("tasks/cancel", { taskId: his }, { as: "bob" })
      yield* server.ask("tasks/cancel", { taskId: unnamed })
      yield* server.ask("tasks/cancel", { taskId: hers })
      const messages = yield* heard.all
      const tasks = messages.filter(({ method }) => method !== undefined)
      assert.deepStrictEqual(tasks.map(({ params }) => [params?.["taskId"], params?.["status"]]), [
        [hers, "input_required"],
        [hers, "cancelled"]
      ])
      // Nothing but foreign tasks is answered to the letter like nothing but unknown ones.
      const answers = []
      for (const taskIds of [[his], ["0".repeat(his.length)], []]) {
        const nothing = yield* server.listen({ taskIds })
        answers.push([nothing.status, nothing.headers, yield* nothing.all])
      }
      assert.deepStrictEqual(answers[0], answers[1])
      assert.deepStrictEqual(answers[2], answers[1])
    }))

  test("tasks are refused to a client that did not declare them, whoever they belong to [C9, H3]", (server) =>
    Effect.gen(function*() {
      const own = yield* server.create("wait")
      for (const capabilities of [{}, { tasks: {} }, { elicitation: {} }]) {
        for (const taskIds of [[own], ["unknown"], []]) {
          const notifications = { taskIds, toolsListChanged: true }
          const answer = yield* server.ask("subscriptions/listen", { notifications }, { capabilities })
          isError(answer, -32021, 400)
          const requiredCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } }
          assert.deepStrictEqual(answer.error?.data, { requiredCapabilities })
        }
      }
    }))

  test("what was not asked for is not sent, and what is not offered is not granted [H2, H6]", (server) =>
    Effect.gen(function*() {
      yield* server.create("wait")
      for (const filter of [{}, { toolsListChanged: true, promptsListChanged: true }, { unknown: 7 }]) {
        const heard = yield* server.listen(filter)
        assert.deepStrictEqual(yield* heard.all, [acknowledged({}, "listen"), ended("listen")])
      }
    }))

  test("neither progress nor log messages are sent for a task [H5]", (server) =>
    Effect.gen(function*() {
      const meta = { progressToken: "token", "io.modelcontextprotocol/logLevel": "debug" }
      for (const text of ["report", "log", "progress"]) {
        const { result } = yield* server.call("job", { text }, { meta, id: "call" })
        assert.strictEqual(result?.["resultType"], "task")
        const taskId = String(result?.["taskId"])
        const heard = yield* server.listen({ taskIds: [taskId] }, { meta })
        yield* settle
        yield* server.ask("tasks/cancel", { taskId })
        const methods = (yield* heard.all).map(({ method }) => method)
        assert.deepStrictEqual(
          new Set(methods),
          new Set(["notifications/subscriptions/acknowledged", "notifications/tasks", undefined])
        )
      }
    }))

  test("a server that goes away ends its subscriptions with their results [A8, G5, H6]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("wait")
      const heard = yield* server.listen({ taskIds: [taskId] })
      yield* heard.next
      yield* heard.next
      yield* server.endSubscriptions
      assert.deepStrictEqual(yield* heard.all, [ended("listen")])
      if (server.transport === "stdio") {
        const params = { requestId: "listen" }
        assert.deepStrictEqual(yield* heard.next, { jsonrpc: "2.0", method: "notifications/cancelled", params })
      } else yield* heard.isOver
      assert.strictEqual((yield* server.get(taskId))["status"], "working")
    }))

  test("a subscription that its client has left leaves its task alone, and its place free [A10, G2]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("wait")
      for (let time = 0; time < 3; time++) {
        const heard = yield* server.listen({ taskIds: [taskId] }, { id: `listen ${time}` }).pipe(
          Effect.tap((reading) => reading.next),
          // The server may learn of it a moment later.
          Effect.repeat({ until: ({ headers }) => headers["content-type"] !== "application/json" })
        )
        yield* heard.leave
        yield* settle
      }
      assert.strictEqual((yield* server.get(taskId))["status"], "working")
    }), { limits: { maxListeners: 1 } })

  test("progress of a call carries its token, only rises, and is followed by the answer [A7, A8, A9, H7]", (server) =>
    Effect.gen(function*() {
      for (const progressToken of ["token", 7, ""]) {
        const params = { name: "plain", arguments: { text: "progress" } }
        const heard = yield* server.stream("tools/call", params, { meta: { progressToken }, id: "call" })
        const messages = yield* heard.all
        assert.deepStrictEqual(messages.slice(0, -1).map(({ method, params }) => [method, params]), [
          ["notifications/progress", { progressToken, progress: 0, total: 100, message: "0 %" }],
          ["notifications/progress", { progressToken, progress: 50, total: 100, message: "50 %" }],
          ["notifications/progress", { progressToken, progress: 100, total: 100, message: "100 %" }]
        ])
        assert.strictEqual(messages.at(-1)?.id, "call")
        assert.deepInclude(messages.at(-1)?.result, { resultType: "complete" })
        if (server.transport === "http") {
          assert.strictEqual(heard.headers["content-type"], "text/event-stream")
          assert.strictEqual(heard.headers["x-accel-buffering"], "no")
        }
        if (server.transport !== "stdio") yield* heard.isOver
      }
      const silent = yield* server.call("plain", { text: "progress" })
      assert.deepInclude(silent.result, { resultType: "complete" })
    }))
})
