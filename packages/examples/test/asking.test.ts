import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { Base64 } from "effect/encoding"
import * as Asking from "../src/asking.ts"
import { everything } from "../src/DemoClient.ts"
import * as TestServer from "./TestServer.ts"

const { error, http, result, settled } = TestServer

const call = { to: "Lisbon" }
const chosen = { choice: { action: "accept", content: { train: "evening", seats: 2 } } }
const pays = { ...everything, elicitation: { form: {}, url: {} } }

const start = Effect.map(TestServer.start(Asking.layer, TaskStore.layerMemory), ({ client }) => client)

describe("the tool of the guide on asking", () => {
  it.effect("asks for a choice, becomes a task, and sends its user to pay", () =>
    Effect.gen(function*() {
      const client = (yield* start)(pays)
      const asked = yield* result(client.callTool("book_trip", call))
      assert.strictEqual(asked.resultType, "input_required")
      assert.match(JSON.stringify(asked.inputRequests), /A seat to Lisbon costs \d+ euros/)
      const retry = { inputResponses: chosen, requestState: asked.requestState }
      const { taskId } = yield* result(client.callTool("book_trip", call, retry))
      const parked = yield* settled(client, taskId)
      assert.match(JSON.stringify(parked.inputRequests), /"mode":"url".*https:\/\/pay\.example\/order-/)
      yield* result(client.updateTask(taskId, { payment: { action: "accept" } }))
      const ended = yield* settled(client, taskId)
      assert.match(ended.result.content[0]?.text ?? "", /^order--?\d+: 2 seats to Lisbon, evening train$/)
    }).pipe(http))

  it.effect("books nothing for who declines, and refuses a number of seats that there is not", () =>
    Effect.gen(function*() {
      const client = (yield* start)(pays)
      const { requestState } = yield* result(client.callTool("book_trip", call))
      const seven = { choice: { action: "accept", content: { train: "evening", seats: 7 } } }
      const refused = yield* error(client.callTool("book_trip", call, { inputResponses: seven, requestState }))
      assert.strictEqual(refused.code, -32602)
      const declined = { inputResponses: { choice: { action: "decline" } }, requestState }
      const { taskId } = yield* result(client.callTool("book_trip", call, declined))
      assert.strictEqual((yield* settled(client, taskId)).result.content[0]?.text, "Nothing was booked")
    }).pipe(http))

  it.effect("tells a client that cannot be asked what it takes", () =>
    Effect.gen(function*() {
      const client = (yield* start)({ extensions: everything["extensions"] ?? {} })
      const refused = yield* error(client.callTool("book_trip", call))
      assert.deepStrictEqual(refused, {
        code: -32021,
        message: "The client did not declare that it can be asked for input",
        data: { requiredCapabilities: { elicitation: { form: {} } } }
      })
    }).pipe(http))

  it.effect("reads its key from the environment", () =>
    Effect.gen(function*() {
      const env = (key: string) => ConfigProvider.layer(ConfigProvider.fromUnknown({ REQUEST_STATE_KEY: key }))
      yield* Layer.build(Asking.state.pipe(Layer.provide(env(Base64.encode(new Uint8Array(32))))))
      const exit = yield* Effect.exit(Layer.build(Asking.state.pipe(Layer.provide(env("short")))))
      assert.strictEqual(exit._tag, "Failure")
    }))
})
