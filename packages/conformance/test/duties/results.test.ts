/** What every result says, how tools are listed, and how a call of one may end. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { everywhere, hasStatus, isError, type Server } from "./Wire.ts"

const serverInfo = { name: "duties", version: "1.2.3" }

const Tools = Schema.Array(Schema.Struct({
  name: Schema.String,
  description: Schema.NonEmptyString,
  inputSchema: Schema.StructWithRest(Schema.Struct({ type: Schema.Literal("object") }), [Schema.JsonObject]),
  outputSchema: Schema.optionalKey(Schema.JsonObject)
}))

const toolsOf = (server: Server, as = "ada") =>
  Effect.flatMap(server.ask("tools/list", {}, { as }), ({ result }) =>
    Effect.orDie(Schema.decodeUnknownEffect(Tools)(result?.["tools"])))

/** One result of each method there is. */
const oneOfEach = Effect.fnUntraced(function*(server: Server) {
  const taskId = yield* server.create("ask")
  return yield* Effect.all({
    "server/discover": server.ask("server/discover"),
    "tools/list": server.ask("tools/list"),
    "tools/call": server.call("plain", { text: "hi" }),
    "tools/call, isError": server.call("plain", { text: "fail" }),
    "tools/call, unfit": server.call("plain", {}),
    "tools/call, task": server.call("job", { text: "hi" }),
    "tasks/get": server.ask("tasks/get", { taskId }),
    "tasks/update": server.ask("tasks/update", { taskId, inputResponses: {} }),
    "tasks/cancel": server.ask("tasks/cancel", { taskId })
  })
})

everywhere((test) => {
  test("every result has a resultType, of which only tools/call knows another than complete [C3, E4, F7]", (server) =>
    Effect.gen(function*() {
      for (const [name, { result }] of Object.entries(yield* oneOfEach(server))) {
        assert.strictEqual(result?.["resultType"], name === "tools/call, task" ? "task" : "complete", name)
      }
    }))

  test("every result names the server [C10]", (server) =>
    Effect.gen(function*() {
      for (const [name, answer] of Object.entries(yield* oneOfEach(server))) {
        hasStatus(answer, 200)
        const meta = answer.result?.["_meta"]
        assert.deepStrictEqual(meta, { "io.modelcontextprotocol/serverInfo": serverInfo }, name)
      }
    }))

  test("who the client says that it is changes nothing [C10, I5]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask")
      for (const [method, params] of [["tools/list", {}], ["tasks/get", { taskId }]] as const) {
        const expected = yield* server.ask(method, params)
        for (const name of ["admin", "duties", "", "x".repeat(10_000)]) {
          const clientInfo = { name, version: "1", owner: "ada", admin: true }
          const meta = { "io.modelcontextprotocol/clientInfo": clientInfo, owner: "ada" }
          assert.deepStrictEqual(yield* server.ask(method, params, { meta }), expected)
          const foreign = yield* server.ask("tasks/get", { taskId }, { meta, as: "bob" })
          assert.strictEqual(foreign.error?.code, -32602)
        }
      }
    }))

  test("server/discover says what is served [C12, C13, D1, E18]", (server) =>
    Effect.gen(function*() {
      const { result } = yield* server.ask("server/discover")
      assert.deepStrictEqual(result?.["supportedVersions"], ["2026-07-28"])
      assert.deepStrictEqual(result?.["capabilities"], {
        tools: {},
        extensions: { "io.modelcontextprotocol/tasks": {} }
      })
      assert.strictEqual(result?.["instructions"], "Do your duty")
    }))

  test("what may be cached says for how long and by whom, and nothing else does [C16, C17]", (server) =>
    Effect.gen(function*() {
      const cacheable = new Set(["server/discover", "tools/list"])
      for (const [name, { result }] of Object.entries(yield* oneOfEach(server))) {
        if (cacheable.has(name)) {
          assert.isTrue(Number.isSafeInteger(result?.["ttlMs"]) && Number(result?.["ttlMs"]) >= 0, name)
          assert.include(["public", "private"], result?.["cacheScope"], name)
        } else {
          assert.notProperty(result, "cacheScope", name)
        }
      }
      // A task is nobody else's, whatever may be cached.
      const taskId = yield* server.create("wait")
      assert.strictEqual((yield* server.ask("tasks/get", { taskId }, { as: "bob" })).error?.code, -32602)
    }))

  test("a tool that logs sends none of it to its client [A6, C19]", (server) =>
    Effect.gen(function*() {
      const levels = [undefined, "debug", "emergency"]
      for (const level of levels) {
        const meta = level === undefined ? {} : { "io.modelcontextprotocol/logLevel": level }
        const answer = yield* server.call("plain", { text: "log" }, { meta })
        assert.notInclude(answer.text, "a line of the log")
        if (server.transport === "http") assert.strictEqual(answer.headers["content-type"], "application/json")
      }
    }))

  test("the list of tools is the same for everybody, every time, in one order [D1, D2]", (server) =>
    Effect.gen(function*() {
      const first = yield* toolsOf(server)
      const names = ["plain", "job", "strict", "typed", "routed", "first", "shape"]
      assert.deepStrictEqual(first.map(({ name }) => name), names)
      for (const as of ["ada", "bob", "ada"]) assert.deepStrictEqual(yield* toolsOf(server, as), first)
      const undeclared = yield* server.ask("tools/list", {}, { capabilities: {} })
      assert.deepStrictEqual(undeclared.result, (yield* server.ask("tools/list")).result)
      isError(yield* server.ask("tools/list", { cursor: "1" }), -32602, 200)
    }))

  test("every tool has a name of the allowed characters, of its own [D3]", (server) =>
    Effect.gen(function*() {
      const names = (yield* toolsOf(server)).map(({ name }) => name)
      assert.strictEqual(new Set(names).size, names.length)
      for (const name of names) assert.match(name, /^[A-Za-z0-9_.-]{1,128}$/)
    }))

  test("what is no call is an error, what the tool cannot do is a result [D4, D6, E11]", (server) =>
    Effect.gen(function*() {
      const malformed: ReadonlyArray<Schema.JsonObject> = [
        {},
        { name: 7 },
        { name: "absent" },
        { name: "__proto__" },
        { name: "plain", arguments: [] },
        { name: "plain", arguments: "hi" }
      ]
      for (const params of malformed) isError(yield* server.ask("tools/call", params), -32602, 200)
      for (const args of [{}, { text: 7 }, { text: null }]) {
        for (const tool of ["plain", "job", "strict"]) {
          const answer = yield* server.call(tool, args)
          hasStatus(answer, 200)
          assert.deepInclude(answer.result, { resultType: "complete", isError: true }, answer.text)
        }
      }
      assert.deepInclude((yield* server.call("plain", { text: "fail" })).result, { isError: true })
      assert.strictEqual((yield* server.store.list({ limit: 10 })).length, 0)
    }))

  test("structured content is what its schema says, and stands there as text too [D5]", (server) =>
    Effect.gen(function*() {
      const typed = (yield* toolsOf(server)).find(({ name }) => name === "typed")
      assert.deepInclude(typed?.outputSchema, { type: "object", required: ["total"] })
      const direct = yield* server.call("typed", { amount: 6 }, { capabilities: {} })
      const created = yield* server.call("typed", { amount: 6 })
      const taskId = String(created.result?.["taskId"])
      const task = yield* server.get(taskId).pipe(Effect.repeat({ until: ({ status }) => status !== "working" }))
      for (const result of [direct.result, task["result"] as Schema.JsonObject]) {
        assert.deepStrictEqual(result?.["structuredContent"], { total: 7 })
        assert.deepStrictEqual(result?.["content"], [{ type: "text", text: `{"total":7}` }])
      }
    }))

  test("no more calls are served than the rate allows, and the caller is told when to come back [D6]", (server) =>
    Effect.gen(function*() {
      for (let time = 0; time < 3; time++) {
        assert.isDefined((yield* server.call("plain", { text: "hi" })).result)
      }
      const refused = yield* server.call("plain", { text: "hi" })
      isError(refused, -32603, 429)
      assert.deepStrictEqual(refused.error?.data, { retryAfterMs: 20_000 })
      if (server.transport === "http") assert.strictEqual(refused.headers["retry-after"], "20")
      assert.isDefined((yield* server.call("plain", { text: "hi" }, { as: "bob" })).result)
    }), { rates: { calls: { limit: 3, window: "1 minute" } } })
})
