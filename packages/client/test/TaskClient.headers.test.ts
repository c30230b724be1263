/** Mirrored parameters, refused revisions, and listings of tools. */
import { TaskClientError } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { by, complete, error } = HostileServer

const plain = complete({ content: [] })

const toolWith = (properties: Schema.JsonObject, name = "work"): Schema.JsonObject => ({
  name,
  inputSchema: { type: "object", properties }
})

const region = toolWith({ region: { type: "string", "x-mcp-header": "Region" } })

describe("parameters that are mirrored into headers [J15]", () => {
  it.effect("go with the call, encoded where a header cannot carry them", () =>
    Effect.gen(function*() {
      const tool = toolWith({
        region: { type: "string", "x-mcp-header": "Region" },
        city: { type: "string", "x-mcp-header": "City" },
        blank: { type: "string", "x-mcp-header": "Blank" },
        empty: { type: "string", "x-mcp-header": "Empty" },
        sentinel: { type: "string", "x-mcp-header": "Sentinel" },
        count: { type: "integer", "x-mcp-header": "Count" },
        flag: { type: "boolean", "x-mcp-header": "Flag" },
        nothing: { type: "string", "x-mcp-header": "Nothing" },
        absent: { type: "string", "x-mcp-header": "Absent" },
        odd: { type: "string", "x-mcp-header": "Odd" },
        nested: { type: "object", properties: { deep: { type: "string", "x-mcp-header": "Deep" } } },
        plain: { type: "string" }
      })
      const { client, server } = yield* TestClient.make({
        "tools/list": [complete({ tools: [tool] })],
        "tools/call": [plain]
      })
      const args = {
        region: "eu-1",
        city: "Zürich",
        blank: " x",
        empty: "",
        sentinel: "=?base64?eA==?=",
        count: 42,
        flag: false,
        nothing: null,
        odd: { a: 1 },
        nested: { deep: "down" },
        plain: "p"
      }
      yield* TestClient.run(client.call("work", args))
      const [call] = server.of("tools/call")
      const mirrored = Object.entries(call?.headers ?? {}).filter(([name]) => name.startsWith("mcp-param-"))
      assert.deepStrictEqual(Object.fromEntries(mirrored), {
        "mcp-param-region": "eu-1",
        "mcp-param-city": "=?base64?WsO8cmljaA==?=",
        "mcp-param-blank": "=?base64?IHg=?=",
        "mcp-param-empty": "",
        "mcp-param-sentinel": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
        "mcp-param-count": "42",
        "mcp-param-flag": "false",
        "mcp-param-deep": "down"
      })
      assert.deepStrictEqual(call?.params["arguments"], args)
    }))

  it.effect("that are not valid take their tool out of the list, and no other", () =>
    Effect.gen(function*() {
      const invalid = [
        toolWith({ a: { type: "string", "x-mcp-header": "not a token" } }, "blank"),
        toolWith({ a: { type: "number", "x-mcp-header": "N" } }, "fraction"),
        toolWith({ a: { type: "string", "x-mcp-header": "X" }, b: { type: "string", "x-mcp-header": "x" } }, "twice"),
        { name: "items", inputSchema: { type: "object", items: { "x-mcp-header": "A", type: "string" } } }
      ]
      const { client, server } = yield* TestClient.make({
        "tools/list": [complete({ tools: [...invalid, region] })],
        "tools/call": [plain]
      })
      assert.deepStrictEqual((yield* TestClient.run(client.tools)).map(({ name }) => name), ["work"])
      for (const { name } of invalid) {
        const failed = yield* TestClient.failure(client.call(String(name)))
        assert.instanceOf(failed, TaskClientError.InvalidTool)
      }
      assert.isEmpty(server.of("tools/call"))
      yield* TestClient.run(client.call("work", { region: "eu" }))
    }))

  it.effect("that have changed are listed again once the call is refused for them [J13]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/list": [complete({ tools: [HostileServer.tool] }), complete({ tools: [region] })],
        "tools/call": [by(({ headers }) =>
          headers["mcp-param-region"] === "eu" ? plain : error(-32020, "Mcp-Param-Region is missing", { status: 400 })
        )]
      })
      yield* TestClient.run(client.call("work", { region: "eu" }))
      assert.strictEqual(server.of("tools/list").length, 2)
      assert.strictEqual(server.of("tools/call").length, 2)
    }))

  it.effect("that are refused again end the call", () =>
    Effect.gen(function*() {
      const refused = error(-32020, "Header mismatch", { status: 400 })
      const { client, server } = yield* TestClient.make({ "tools/call": [refused] })
      const failed = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(failed, TaskClientError.ProtocolError)
      assert.strictEqual(failed.error.code, -32020)
      assert.strictEqual(server.of("tools/call").length, 2)
    }))
})

describe("a server that refuses the revision [J13]", () => {
  const refusal = (supported: Schema.Json) =>
    error(-32022, "Unsupported protocol version", { status: 400, data: { supported, requested: "2026-07-28" } })

  it.effect("is asked once more if it speaks it after all", () =>
    Effect.gen(function*() {
      const again = refusal(["2025-11-25", "2026-07-28"])
      const { client, server } = yield* TestClient.make({
        "tools/list": [again, complete({ tools: [] })],
        "tools/call": [again, plain]
      })
      yield* TestClient.run(client.call("work"))
      assert.deepStrictEqual(server.seen.map(({ method }) => method), [
        "tools/list", "tools/list", "tools/call", "tools/call"
      ])
      assert.strictEqual(new Set(server.seen.map(({ id }) => id)).size, 4)
    }))

  it.effect("is not asked again if it does not, or refuses twice", () =>
    Effect.gen(function*() {
      for (const supported of [["2025-11-25"], "2026-07-28", null]) {
        const { client, server } = yield* TestClient.make({ "tools/call": [refusal(supported)] })
        const failed = yield* TestClient.failure(client.call("work"))
        assert.instanceOf(failed, TaskClientError.ProtocolError)
        assert.strictEqual(server.of("tools/call").length, 1)
      }
      const twice = yield* TestClient.make({ "tools/call": [refusal(["2026-07-28"])] })
      yield* TestClient.failure(twice.client.call("work"))
      assert.strictEqual(twice.server.of("tools/call").length, 2)
    }))

  it.effect("is told from one that speaks others only, by what it says of itself", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "server/discover": [complete({ supportedVersions: ["2099-01-01"], capabilities: {} })]
      })
      const failed = yield* TestClient.failure(client.discover)
      assert.instanceOf(failed, TaskClientError.ProtocolError)
      assert.deepStrictEqual(failed.error.data, { supported: ["2099-01-01"], requested: "2026-07-28" })
    }))
})

describe("a listing", () => {
  it.effect("comes in pages, and is kept for as long as the server allows", () =>
    Effect.gen(function*() {
      const page = (name: string, nextCursor?: string) =>
        complete({ tools: [toolWith({}, name)], ttlMs: 10_000, ...(nextCursor === undefined ? {} : { nextCursor }) })
      const { client, server } = yield* TestClient.make({ "tools/list": [page("a", "2"), page("b"), page("c")] })
      assert.deepStrictEqual((yield* TestClient.run(client.tools)).map(({ name }) => name), ["a", "b"])
      assert.strictEqual(server.of("tools/list")[1]?.params["cursor"], "2")
      yield* TestClient.run(client.tools)
      assert.strictEqual(server.of("tools/list").length, 2)
      yield* TestClient.run(Effect.sleep(10_001))
      assert.deepStrictEqual((yield* TestClient.run(client.tools)).map(({ name }) => name), ["c"])
    }))

  it.effect("without end is refused", () =>
    Effect.gen(function*() {
      const same = yield* TestClient.make({ "tools/list": [complete({ tools: [], nextCursor: "again" })] })
      assert.instanceOf(yield* TestClient.failure(same.client.tools), TaskClientError.InvalidResponse)
      const fresh = by(({ id }) => complete({ tools: [], nextCursor: String(id) }))
      const endless = yield* TestClient.make({ "tools/list": [fresh] })
      assert.instanceOf(yield* TestClient.failure(endless.client.tools), TaskClientError.InvalidResponse)
      assert.isAtMost(endless.server.of("tools/list").length, 101)
    }))

  it.effect("is asked for once by calls that come together, and again after a failure", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/list": [error(-32000, "Not now"), complete({ tools: [] })],
        "tools/call": [plain]
      })
      yield* TestClient.failure(client.call("work"))
      const calls = Effect.all([client.call("a"), client.call("b"), client.call("c")], { concurrency: "unbounded" })
      yield* TestClient.run(calls)
      assert.strictEqual(server.of("tools/list").length, 2)
    }))

  it.effect("is not needed: a server without it is called all the same", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "tools/list": [error(-32601, "Method not found", { status: 404 })],
        "tools/call": [plain]
      })
      assert.deepStrictEqual((yield* TestClient.run(client.call("work"))).content, [])
    }))

  it.effect("may say nothing of a tool that the server has", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({ "tools/call": [plain] })
      assert.deepStrictEqual((yield* TestClient.run(client.call("hidden"))).content, [])
    }))
})

describe("what a server says of itself", () => {
  it.effect("is read where this revision has it, and where earlier ones had it", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({})
      const usual = yield* TestClient.run(client.discover)
      assert.deepStrictEqual([usual.name, usual.version, usual.offersTasks], ["hostile", "1", true])
      const old = yield* TestClient.make({
        "server/discover": [complete({ capabilities: { tasks: {} }, serverInfo: { name: "old", version: "0" } })]
      })
      const { name, offersTasks } = yield* TestClient.run(old.client.discover)
      assert.deepStrictEqual([name, offersTasks], ["old", false])
    }))
})
