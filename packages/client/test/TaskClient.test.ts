import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { complete, created, done, got } = HostileServer

describe("call", () => {
  it.effect("gives a plain result (J2)", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [complete({ content: [{ type: "text", text: "at once" }] })]
      })
      const result = yield* TestClient.run(client.call("work", { rows: 1 }))
      assert.deepStrictEqual(result.content, [{ type: "text", text: "at once" }])
      const [call] = server.of("tools/call")
      assert.deepStrictEqual(call?.params["arguments"], { rows: 1 })
    }))

  it.effect("polls a task to its end (J2, J5)", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), got({ statusMessage: "half" }), done("finished")]
      })
      const result = yield* TestClient.run(client.call("work", {}, { success: Schema.String }))
      assert.strictEqual(result, "finished")
      assert.strictEqual(server.of("tasks/get").length, 3)
      assert.strictEqual(server.of("tools/call").length, 1)
    }))
})
