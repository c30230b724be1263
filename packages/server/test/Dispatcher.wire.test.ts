/** What each method answers, to the letter: only the ids of tasks are put aside. */
import type { Dispatcher } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ada, settle, start, tasks } from "./TestServer.ts"

const anId = /\b[0-9a-f]{44}\b/g

const masked = (text: string | undefined) => text?.replaceAll(anId, "ID")

/** Every change moves `lastUpdatedAt` on, by a millisecond if no time has passed. */
const times = (updated = "00.000") =>
  `"createdAt":"1970-01-01T00:00:00.000Z","lastUpdatedAt":"1970-01-01T00:00:${updated}Z","ttlMs":60000,"pollIntervalMs":1000`

/** Every result says first which server answered. */
const identity = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"0","title":"Test"}}`

const answered = (result: string): Dispatcher.Reply => ({
  httpStatus: 200,
  body: `{"jsonrpc":"2.0","id":1,"result":{${identity},${result.slice(1)}}`
})

describe("discovery", () => {
  it.effect("server/discover", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const extensions = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
      const rest = `"instructions":"Call plain","ttlMs":60000,"cacheScope":"private"`
      const expected = answered(
        `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},${extensions}},${rest}}`
      )
      assert.deepStrictEqual(yield* server.ask("server/discover"), expected)
      assert.deepStrictEqual(yield* server.ask("server/discover", {}, { capabilities: {} }), expected)
    }))

  it.effect("tools/list", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const input =
        `"inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":true}`
      const hints =
        `"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
      const others = ["job", "strict", "quick"].map((name) => `{"name":"${name}",${input},${hints}}`)
      const plain = `{"name":"plain","description":"Answers at once",${input},${hints}}`
      assert.deepStrictEqual(
        yield* server.ask("tools/list"),
        answered(
          `{"resultType":"complete","tools":[${[plain, ...others].join(",")}],"ttlMs":60000,"cacheScope":"private"}`
        )
      )
    }))

  it.effect("the id of a request comes back in its type", () =>
    Effect.gen(function*() {
      const server = yield* start()
      for (const id of ["1", "", "\u2028\"", 0, -7, Number.MAX_SAFE_INTEGER]) {
        const reply = yield* server.ask("server/discover", {}, { id })
        assert.strictEqual(JSON.parse(reply.body ?? "").id, id)
      }
    }))

  it.effect("a notification is answered with nothing", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const reply = yield* server.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
      assert.deepStrictEqual(reply, { httpStatus: 202, body: undefined })
    }))
})

describe("tools/call", () => {
  it.effect("a plain tool is answered at once", () =>
    Effect.gen(function*() {
      const server = yield* start()
      assert.deepStrictEqual(
        yield* server.ask("tools/call", { name: "plain", arguments: { text: "hello" } }),
        answered(`{"resultType":"complete","content":[{"type":"text","text":"hello"}]}`)
      )
      assert.deepStrictEqual(
        yield* server.ask("tools/call", { name: "plain", arguments: { text: "fail" } }),
        answered(`{"resultType":"complete","content":[{"type":"text","text":"It did not work"}],"isError":true}`)
      )
    }))

  it.effect("a task tool is answered with its task, flat and without the payload of its status", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const reply = yield* server.ask("tools/call", { name: "job", arguments: { text: "wait" } })
      assert.deepStrictEqual(
        { ...reply, body: masked(reply.body) },
        answered(`{"resultType":"task","taskId":"ID","status":"working",${times()}}`)
      )
    }))

  it.effect("who did not declare tasks gets the result of a task tool itself", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const call = { name: "job", arguments: { text: "hello" } }
      for (const capabilities of [{}, { tasks: {} }, { extensions: {} }, { extensions: { tasks: {} } }]) {
        assert.deepStrictEqual(
          yield* server.ask("tools/call", call, { capabilities }),
          answered(`{"resultType":"complete","content":[{"type":"text","text":"hello"}]}`)
        )
      }
      assert.strictEqual((yield* server.store.list({ limit: 10 })).length, 0)
      const reply = yield* server.ask("tools/call", call, { capabilities: { extensions: tasks.extensions } })
      assert.include(reply.body, `"resultType":"task"`)
    }))
})

describe("tasks/get in each status [E9, E10]", () => {
  const polled = (status: string, text: string, seconds: number, rest: string) =>
    it.effect(`${status}: ${text}`, () =>
      Effect.gen(function*() {
        const server = yield* start()
        const taskId = yield* server.create("job", text)
        yield* TestClock.adjust(seconds * 1000)
        yield* settle
        assert.deepStrictEqual(
          yield* server.ask("tasks/get", { taskId }),
          answered(`{"resultType":"complete","taskId":"${taskId}","status":"${status}",${rest}}`)
        )
      }))

  const properties = `"properties":{"name":{"type":"string"}},"required":["name"]`
  const schema = `{"type":"object",${properties}}`
  const params = `{"mode":"form","message":"Which name?","requestedSchema":${schema}}`
  const question = `{"name":{"method":"elicitation/create","params":${params}}}`
  const result = (text: string) => `"result":{"resultType":"complete","content":[{"type":"text","text":"${text}"}]`
  const error = `{"code":4050,"message":"Broken","data":{"why":"test"}}`

  polled("working", "wait", 0, times())
  polled("input_required", "ask", 0, `${times("00.001")},"inputRequests":${question}`)
  polled("completed", "sleep", 3, `${times("03.000")},${result("slept")}}`)
  polled("completed", "fail", 0, `${times("00.001")},${result("It did not work")},"isError":true}`)
  polled("failed", "break", 0, `"statusMessage":"Broken",${times("00.001")},"error":${error}`)

  it.effect("cancelled", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "wait")
      assert.deepStrictEqual(yield* server.ask("tasks/cancel", { taskId }), answered(`{"resultType":"complete"}`))
      yield* settle
      assert.deepStrictEqual(
        yield* server.ask("tasks/get", { taskId }),
        answered(`{"resultType":"complete","taskId":"${taskId}","status":"cancelled",${times("00.001")}}`)
      )
    }))
})

describe("tasks/update", () => {
  it.effect("is acknowledged, and the question is gone", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "ask")
      const inputResponses = { name: { action: "accept", content: { name: "Ada" } } }
      assert.deepStrictEqual(
        yield* server.ask("tasks/update", { taskId, inputResponses }),
        answered(`{"resultType":"complete"}`)
      )
      yield* settle
      const { body } = yield* server.ask("tasks/get", { taskId })
      assert.include(body, `"status":"completed"`)
      assert.include(body, `"structuredContent":{"action":"accept","content":{"name":"Ada"}}`)
    }))

  it.effect("answers to keys that nobody asked are acknowledged and change nothing [F3]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "ask")
      const before = yield* server.ask("tasks/get", { taskId })
      const hostile = JSON.parse(`{"__proto__":{"action":"accept"},"constructor":{"action":"decline"},"":7}`)
      for (const inputResponses of [{}, { other: { action: "accept", content: {} } }, hostile]) {
        assert.deepStrictEqual(
          yield* server.ask("tasks/update", { taskId, inputResponses }),
          answered(`{"resultType":"complete"}`)
        )
      }
      yield* settle
      assert.deepStrictEqual(yield* server.ask("tasks/get", { taskId }), before)
      assert.strictEqual(Object.hasOwn(Object.prototype, "action"), false)
    }))

  it.effect("a second cancel and an answer after the end are acknowledged alike", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "hello")
      const before = yield* server.ask("tasks/get", { taskId }, { owner: ada })
      assert.include(before.body, `"status":"completed"`)
      const acknowledged = answered(`{"resultType":"complete"}`)
      assert.deepStrictEqual(yield* server.ask("tasks/cancel", { taskId }), acknowledged)
      assert.deepStrictEqual(yield* server.ask("tasks/update", { taskId, inputResponses: { name: 1 } }), acknowledged)
      assert.deepStrictEqual(yield* server.ask("tasks/get", { taskId }), before)
    }))
})
