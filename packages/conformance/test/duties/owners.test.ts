/**
 * Two owners on one server: nothing of one can be read, answered, stopped or counted by the other, nor told from what
 * does not exist, by content, status, headers or the order in which things are checked.
 */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Asking, everywhere, message, type Server, settle } from "./Wire.ts"

const methods = ["tasks/get", "tasks/update", "tasks/cancel"]

/** Tasks of Ada in every state that a task can be in. */
const tasksOfAda = Effect.fnUntraced(function*(server: Server) {
  const texts = ["wait", "ask", "ask two", "done", "fail", "break", "report"]
  const ids = yield* Effect.forEach(texts, (text) => server.create(text))
  const cancelled = yield* server.create("wait")
  yield* server.ask("tasks/cancel", { taskId: cancelled })
  const asking = yield* server.create("ask")
  yield* settle
  return { ids: [...ids, cancelled, asking], asking }
})

/** A request in every shape that is checked at another place: sound ones, and ones broken in one thing each. */
const shapes: ReadonlyArray<readonly [params: Schema.JsonObject, asking: Asking]> = [
  [{ inputResponses: {} }, {}],
  [{ inputResponses: { name: { action: "accept", content: { name: "Eve" } } } }, {}],
  [{ inputResponses: { name: { action: "accept", content: { name: 7 } } } }, {}],
  [{ inputResponses: { name: 7, one: null } }, {}],
  [{ inputResponses: [] }, {}],
  [{ inputResponses: null }, {}],
  [{}, {}],
  [{}, { id: "mine" }],
  [{}, { capabilities: {} }],
  [{}, { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } }],
  [{}, { meta: { "io.modelcontextprotocol/protocolVersion": "2025-11-25" } }],
  [{}, { meta: { "io.modelcontextprotocol/clientCapabilities": 7 } }],
  [{}, { meta: { progressToken: 1.5 } }],
  [{}, { headers: { "mcp-name": "other" } }],
  [{}, { headers: { "mcp-name": undefined } }],
  [{}, { headers: { "mcp-method": "tools/list" } }],
  [{}, { headers: { "content-type": "text/plain" } }],
  [{}, { headers: { host: "evil.example" } }]
]

everywhere((test) => {
  test("another owner's task is answered like none, however it is asked for [I2]", (server) =>
    Effect.gen(function*() {
      const { ids } = yield* tasksOfAda(server)
      const unknown = "0".repeat(ids[0]?.length ?? 0)
      for (const method of methods) {
        for (const [params, asking] of shapes) {
          const send = (taskId: string) => {
            const text = message(method, { taskId, ...params }, asking)
            return server.send(text, { as: "bob", headers: { ...asking.headers } })
          }
          const expected = yield* send(unknown)
          for (const taskId of ids) {
            assert.deepStrictEqual(yield* send(taskId), expected, `${method} ${JSON.stringify([params, asking])}`)
          }
        }
      }
    }))

  test("what another owner tries changes nothing, and is not noticed [I2]", (server) =>
    Effect.gen(function*() {
      const { asking, ids } = yield* tasksOfAda(server)
      const before = yield* Effect.forEach(ids, (taskId) => server.get(taskId))
      for (const taskId of ids) {
        for (const method of methods) {
          const inputResponses = { name: { action: "accept", content: { name: "Eve" } }, one: { action: "decline" } }
          const answer = yield* server.ask(method, { taskId, inputResponses }, { as: "bob" })
          assert.strictEqual(answer.error?.code, -32602)
        }
      }
      yield* settle
      assert.deepStrictEqual(yield* Effect.forEach(ids, (taskId) => server.get(taskId)), before)
      const mine = { name: { action: "accept", content: { name: "Ada" } } }
      yield* server.ask("tasks/update", { taskId: asking, inputResponses: mine })
      yield* settle
      assert.include(JSON.stringify(yield* server.get(asking)), "Ada")
    }))

  test("a task stays another's in every state it goes through, to its removal [I2]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("sleep")
      const expected = yield* server.ask("tasks/get", { taskId: "unknown" }, { as: "bob" })
      for (const wait of ["0 seconds", "2999 millis", "1 millis", "1 minute", "1 hour"] as const) {
        yield* TestClock.adjust(wait)
        yield* settle
        assert.deepStrictEqual(yield* server.ask("tasks/get", { taskId }, { as: "bob" }), expected)
      }
      const unknown = yield* server.ask("tasks/get", { taskId: "unknown" })
      assert.deepStrictEqual(yield* server.ask("tasks/get", { taskId }), unknown)
    }))

  test("the same arguments make two tasks, and each owner sees its own [I2]", (server) =>
    Effect.gen(function*() {
      const hers = yield* server.create("ask", { id: 1 })
      const his = yield* server.create("ask", { id: 1, as: "bob" })
      assert.notStrictEqual(hers, his)
      const inputResponses = { name: { action: "accept", content: { name: "Bob" } } }
      yield* server.ask("tasks/update", { taskId: his, inputResponses }, { as: "bob" })
      yield* settle
      assert.strictEqual((yield* server.get(his, { as: "bob" }))["status"], "completed")
      assert.strictEqual((yield* server.get(hers))["status"], "input_required")
    }))

  test("how many tasks and calls another owner has cannot be told [I2]", (server) =>
    Effect.gen(function*() {
      for (let time = 0; time < 2; time++) yield* server.create("wait")
      const full = yield* server.call("job", { text: "wait" })
      assert.include(full.error?.message, "Too many")
      // Bob has all the room there is, and learns of its end by his own tasks only.
      for (let time = 0; time < 2; time++) yield* server.create("wait", { as: "bob" })
      assert.include((yield* server.call("job", { text: "wait" }, { as: "bob" })).error?.message, "Too many")
      const listed = yield* server.ask("tools/list", {}, { as: "bob" })
      assert.deepStrictEqual(listed, yield* server.ask("tools/list"))
    }), { limits: { maxLiveTasks: 2 } })

  test("names that differ in anything are different owners [I2]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("wait", { as: "ada" })
      for (const as of ["Ada", "ADA", "ada2", "ad", "ada/", "ada.", "ada~"]) {
        assert.strictEqual((yield* server.ask("tasks/get", { taskId }, { as })).error?.code, -32602, as)
      }
      assert.strictEqual((yield* server.get(taskId, { as: "ada" }))["status"], "working")
    }))
})
