/** What the headers of a request must say over HTTP, for every method that has them. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { everywhere, isError, message, read, type Server } from "./Wire.ts"

/** A sound request of each method with a name, and the name. */
const named = Effect.fnUntraced(function*(server: Server) {
  const taskId = yield* server.create("ask")
  return [
    ["tools/call", { name: "plain", arguments: { text: "hi" } }, "plain"],
    ["tasks/get", { taskId }, taskId],
    ["tasks/update", { taskId, inputResponses: {} }, taskId],
    ["tasks/cancel", { taskId }, taskId]
  ] as const
})

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`

everywhere((test) => {
  test("Mcp-Name is there and equal for every method that has one [A14, A18]", (server) =>
    Effect.gen(function*() {
      for (const [method, params, name] of yield* named(server)) {
        const wrong = [undefined, "", "other", name.toUpperCase(), `${name}x`, `"${name}"`, base64("other")]
        for (const value of wrong) {
          isError(yield* server.ask(method, params, { headers: { "mcp-name": value } }), -32020, 400)
        }
        for (const value of [name, `  ${name}\t`, base64(name)]) {
          assert.isDefined((yield* server.ask(method, params, { headers: { "mcp-name": value } })).result)
        }
      }
    }))

  test("Mcp-Name is decoded before it is compared, and refused when it cannot be [A15]", (server) =>
    Effect.gen(function*() {
      for (const [method, params, name] of yield* named(server)) {
        const inside = Buffer.from(name).toString("base64").replaceAll("=", "")
        const broken = [
          `=?base64?${inside}?`,
          `=?BASE64?${inside}?=`,
          `=?base64?${inside}!?=`,
          `=?base64?${inside}====?=`,
          "=?base64?/w==?=",
          `${name}\xe9`
        ]
        for (const value of broken) {
          isError(yield* server.ask(method, params, { headers: { "mcp-name": value } }), -32020, 400)
        }
      }
      // A task id that no header can carry is compared like any other; there is no such task.
      for (const taskId of ["ü", " padded ", "line\nbreak", ""]) {
        isError(yield* server.ask("tasks/get", { taskId }, { headers: { "mcp-name": base64(taskId) } }), -32602, 200)
      }
    }))

  test("Mcp-Method and MCP-Protocol-Version are there and equal for every method [A11, A14, A18]", (server) =>
    Effect.gen(function*() {
      const requests = [...yield* named(server), ["tools/list", {}, ""], ["server/discover", {}, ""]] as const
      for (const [method, params] of requests) {
        for (const value of [undefined, "", "tools/other", method.toUpperCase(), base64(method)]) {
          isError(yield* server.ask(method, params, { headers: { "mcp-method": value } }), -32020, 400)
        }
        for (const value of [undefined, "", "2025-11-25", "2026-07-28x"]) {
          isError(yield* server.ask(method, params, { headers: { "mcp-protocol-version": value } }), -32020, 400)
        }
      }
    }))

  test("the names of headers may have any case [A18]", (server) =>
    Effect.gen(function*() {
      for (const [method, params, name] of yield* named(server)) {
        const headers = {
          "mcp-method": undefined,
          "mcp-name": undefined,
          "mcp-protocol-version": undefined,
          "MCP-METHOD": method,
          "Mcp-Name": name,
          "mCP-pROTOCOL-vERSION": "2026-07-28"
        }
        assert.isDefined((yield* server.ask(method, params, { headers })).result)
      }
    }))

  test("a parameter that asks for a header has it if it has a value, and an equal one [A14, A15, A16]", (server) =>
    Effect.gen(function*() {
      const call = (args: Schema.JsonObject, header: string | undefined) =>
        server.call("routed", args, { headers: { "mcp-param-region": header } })
      for (const header of ["eu", " eu ", base64("eu")]) {
        assert.isDefined((yield* call({ region: "eu" }, header)).result)
      }
      for (const header of [undefined, "us", "EU", base64("us"), "=?base64?ZXU?=", "=?base64?*?="]) {
        isError(yield* call({ region: "eu" }, header), -32020, 400)
      }
      assert.isDefined((yield* call({ region: "Köln\n" }, base64("Köln\n"))).result)
      // No value, no header: what is wrong with the call is for the tool to say.
      for (const args of [{}, { region: null }]) {
        assert.deepInclude((yield* call(args, undefined)).result, { isError: true })
        isError(yield* call(args, "eu"), -32020, 400)
      }
    }))

  test("sessions and event ids of earlier revisions are ignored, and none is minted [A19]", (server) =>
    Effect.gen(function*() {
      const expected = yield* server.send(message("tools/list"))
      const headers = { "mcp-session-id": "one", "last-event-id": "7" }
      const answer = yield* server.send(message("tools/list"), { headers })
      assert.deepStrictEqual(answer, expected)
      assert.notProperty(answer.headers, "mcp-session-id")
      assert.isDefined(read(answer).result)
    }))

  test("a request is answered as one JSON document on one line [A6]", (server) =>
    Effect.gen(function*() {
      for (const accept of ["application/json, text/event-stream", "application/json", "*/*"]) {
        for (const [method, params] of yield* named(server)) {
          const answer = yield* server.ask(method, params, { headers: { accept } })
          assert.strictEqual(answer.headers["content-type"], "application/json")
          assert.notInclude(answer.text, "\n")
        }
      }
    }))
}, ["http"])
