/** What the HTTP transport adds, and what it keeps to itself. */
import { TaskClientError } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const plain = { "tools/call": [HostileServer.complete({ content: [] })] }

describe("the HTTP transport", () => {
  it.effect("sends the caller's headers with every request, but not in place of the protocol's", () =>
    Effect.gen(function*() {
      const headers = { authorization: "Bearer abc", "mcp-method": "mine", accept: "text/html", "content-type": "x/y" }
      const { client, server } = yield* TestClient.make(plain, { headers })
      yield* TestClient.run(client.call("work"))
      for (const { headers, method } of server.seen) {
        assert.strictEqual(headers["authorization"], "Bearer abc")
        assert.strictEqual(headers["mcp-method"], method)
        assert.strictEqual(headers["accept"], "application/json, text/event-stream")
        assert.strictEqual(headers["content-type"], "application/json")
      }
    }))

  it.effect("says where a redirect points, without what may be secret there", () =>
    Effect.gen(function*() {
      const elsewhere = HostileServer.http(302, "", { location: "https://ada:hunter2@other.test/mcp?key=abc" })
      const { client } = yield* TestClient.make({ "tools/list": [elsewhere] })
      const failed = yield* TestClient.failure(client.call("work"))
      assert.strictEqual(
        failed.message,
        "tools/list failed: the server answered with HTTP status 302, and names https://other.test/mcp"
      )
    }))

  it.effect("says which server was not reached, without what may be secret in its address", () =>
    Effect.gen(function*() {
      const url = "http://ada:hunter2@server.test/mcp?key=abc#x"
      const { client } = yield* TestClient.make({ "tools/list": [HostileServer.reset] }, { url })
      const failed = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(failed, TaskClientError.TransportError)
      assert.strictEqual(failed.message, "tools/list failed: http://server.test/mcp was not reached")
    }))
})
