/** What a message must be before anything is done for it, and how it is answered when it is not. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { everything, everywhere, hasStatus, isError, message, read, revision, type Server } from "./Wire.ts"

/** Sends a text and expects an error under an id. */
const refused = Effect.fnUntraced(function*(server: Server, text: string, code: number, id: Schema.Json) {
  const answer = read(yield* server.send(text))
  isError(answer, code, code === -32601 ? 404 : 400)
  assert.strictEqual(answer.id, id, text)
  return answer
})

const request = (changed: Schema.JsonObject) =>
  JSON.stringify({ ...JSON.parse(message("tools/list")) as Schema.JsonObject, ...changed })

interface Failed {
  readonly error?: { readonly code: number; readonly message: string }
}

everywhere((test) => {
  test("one request or one notification is a message, and nothing else is [A4, C4]", (server) =>
    Effect.gen(function*() {
      // A blank line is no message.
      if (server.transport !== "stdio") yield* refused(server, "", -32700, null)
      for (const text of ["{", "tools/list", message("tools/list").slice(1), `${message("tools/list")}}`]) {
        yield* refused(server, text, -32700, null)
      }
      const one = message("tools/list")
      const others = [`[${one}]`, `[${one},${one}]`, "[]", "null", "1", "\"tools/list\""]
      const responses = [`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`]
      for (const text of [...others, ...responses]) yield* refused(server, text, -32600, null)
    }))

  test("an envelope that is wrong is refused under the id that could be read [C1, C2, C4]", (server) =>
    Effect.gen(function*() {
      for (const id of [null, 1.5, true, [], {}, 2 ** 53]) yield* refused(server, request({ id }), -32600, null)
      for (const id of ["mine", "", 0, -1]) {
        for (const changed of [{ jsonrpc: "1.0" }, { method: 7 }, { params: [] }]) {
          yield* refused(server, request({ id, ...changed }), -32600, id)
        }
      }
    }))

  test("the id comes back in its type, with a result and with an error [C1, C2]", (server) =>
    Effect.gen(function*() {
      for (const id of ["1", 1, "", 0, -1, Number.MAX_SAFE_INTEGER, "\u2028 \" \\ \u0000", "x".repeat(10_000)]) {
        assert.strictEqual((yield* server.ask("server/discover", {}, { id })).id, id)
        assert.strictEqual((yield* server.ask("nothing/there", {}, { id })).id, id)
        assert.strictEqual((yield* server.ask("tasks/get", { taskId: "unknown" }, { id })).id, id)
      }
    }))

  test("an accepted notification is answered with nothing, a refused one with an error [A5]", (server) =>
    Effect.gen(function*() {
      for (const method of ["notifications/cancelled", "notifications/initialized", "notifications/unknown"]) {
        const accepted = yield* server.send(JSON.stringify({ jsonrpc: "2.0", method, params: { requestId: 7 } }))
        hasStatus(accepted, 202)
        assert.strictEqual(accepted.text, "")
      }
      const malformed = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: 7 })
      yield* refused(server, malformed, -32600, null)
    }))

  test("_meta must hold version and capabilities, and need not hold more [C8]", (server) =>
    Effect.gen(function*() {
      const version = "io.modelcontextprotocol/protocolVersion"
      const capabilities = "io.modelcontextprotocol/clientCapabilities"
      const wrong: ReadonlyArray<Schema.Json> = [
        {},
        { [version]: revision },
        { [capabilities]: {} },
        { [version]: 1, [capabilities]: {} },
        { [version]: revision, [capabilities]: [] },
        { [version]: revision, [capabilities]: null },
        null,
        []
      ]
      for (const _meta of wrong) yield* refused(server, request({ id: "m", params: { _meta } }), -32602, "m")
      yield* refused(server, request({ id: "m", params: {} }), -32602, "m")
      const least = { [version]: revision, [capabilities]: {} }
      assert.isDefined(read(yield* server.send(request({ params: { _meta: least } }))).result)
    }))

  test("a version that is not served is told which are [A12, E18]", (server) =>
    Effect.gen(function*() {
      for (const version of ["2025-11-25", "2025-06-18", "2027-01-01", "1.0", ""]) {
        const meta = { "io.modelcontextprotocol/protocolVersion": version }
        const headers = { "mcp-protocol-version": version }
        for (const [method, params] of [["tools/list", {}], ["tasks/get", { taskId: "t" }]] as const) {
          const answer = yield* server.ask(method, params, { meta, headers })
          isError(answer, -32022, 400)
          assert.deepStrictEqual(answer.error?.data, { supported: [revision], requested: version })
        }
      }
    }))

  test("a method that does not exist is not found, those of earlier revisions among them [A13, E17]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("wait")
      const gone = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "tasks/result"]
      for (const method of [...gone, "unknown/method", "TOOLS/LIST", "__proto__", "constructor", ""]) {
        const headers = { "mcp-method": method, "mcp-name": undefined }
        isError(yield* server.ask(method, { taskId }, { headers }), -32601, 404)
      }
    }))

  test("who says initialize is told the versions that are served [C15]", (server) =>
    Effect.gen(function*() {
      const modern = yield* server.ask("initialize", {})
      assert.include(modern.error?.message, revision)
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } }
      const text = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
      const old = yield* refused(server, text, -32602, 0)
      assert.include(old.error?.message, revision)
      assert.deepInclude(old.error?.data, { supported: [revision] })
    }))

  test("no error has a code that the protocol does not define, and each says why [C4, C5, E19]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask")
      const broken = yield* server.create("break")
      const reserved = yield* server.create("reserved")
      const bad: ReadonlyArray<Effect.Effect<Failed>> = [
        Effect.map(server.send("{"), read),
        Effect.map(server.send("[]"), read),
        server.ask("tools/list", {}, { meta: { "io.modelcontextprotocol/clientCapabilities": 1 } }),
        server.ask("nothing/there"),
        server.ask("tools/list", { cursor: "7" }),
        server.ask("tools/call", { name: "absent" }),
        server.ask("tools/call", { name: "plain", arguments: 7 }),
        server.call("strict", { text: "" }, { capabilities: {} }),
        server.call("plain", { text: "break" }),
        server.call("plain", { text: "reserved" }),
        server.call("plain", { text: "die" }),
        server.ask("tasks/get", { taskId }, { capabilities: {} }),
        server.ask("tasks/get", { taskId: "unknown" }),
        server.ask("tasks/update", { taskId }),
        server.ask("tasks/update", { taskId, inputResponses: { name: { action: "accept" } } }),
        Effect.map(server.get(broken), (task) => task as Failed),
        Effect.map(server.get(reserved), (task) => task as Failed)
      ]
      const defined = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]
      for (const [index, answer] of bad.entries()) {
        const { error } = yield* answer
        assert.include(defined, error?.code, String(index))
        assert.isAbove(error?.message.length ?? 0, 10, String(index))
        assert.notInclude(error?.message, "secret")
      }
    }))

  test("a request stands alone: what an earlier one declared means nothing for it [C6]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* server.call("job", { text: "hi" })).result?.["resultType"], "task")
      const undeclared = yield* server.call("job", { text: "hi" }, { capabilities: {} })
      assert.strictEqual(undeclared.result?.["resultType"], "complete")
      const taskId = yield* server.create("ask", { capabilities: everything })
      isError(yield* server.ask("tasks/get", { taskId }, { capabilities: {} }), -32021, 400)
      assert.strictEqual((yield* server.get(taskId))["status"], "input_required")
    }))
})
