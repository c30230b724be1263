/** Tools that come and go: what is listed, what can be called, and who is told. */
import { McpProtocol } from "@effect-mcp-tasks/core"
import { ToolSwitch } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { acknowledgement, create, graceful, type Message, start } from "./TestListener.ts"

const switchable = Effect.gen(function*() {
  const context = yield* Layer.build(Layer.fresh(ToolSwitch.layer))
  const toolSwitch = Context.get(context, ToolSwitch.ToolSwitch)
  const server = yield* start({}, Layer.succeedContext(context as Context.Context<never>))
  const names = Effect.map(server.ask("tools/list"), ({ message: { result } }) =>
    (Object(result).tools as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name))
  const listen = (notifications: {}, id: string | number = 1) =>
    server.stream("subscriptions/listen", { notifications }, { id })
  return { ...server, ...toolSwitch, names, listen }
})

const changed = (id: string | number = 1): typeof Message.Type => ({
  jsonrpc: "2.0",
  method: "notifications/tools/list_changed",
  params: { _meta: { [McpProtocol.MetaKey.subscriptionId]: id } }
})

const toolsListChanged = true

describe("a tool that is turned off", () => {
  it.effect("is not listed and names no tool, until it is turned on again", () =>
    Effect.gen(function*() {
      const server = yield* switchable
      assert.deepStrictEqual(yield* server.names, ["plain", "job", "strict", "quick"])
      yield* server.turn("plain", "off")
      assert.deepStrictEqual(yield* server.names, ["job", "strict", "quick"])
      const call = { name: "plain", arguments: { text: "hello" } }
      const unknown = yield* server.ask("tools/call", { ...call, name: "unknown" })
      const { body, httpStatus } = yield* server.ask("tools/call", call)
      assert.strictEqual(httpStatus, unknown.httpStatus)
      assert.strictEqual(body, unknown.body?.replace("tool: unknown", "tool: plain"))
      yield* server.turn("plain", "on")
      assert.deepStrictEqual(yield* server.names, ["plain", "job", "strict", "quick"])
      assert.isDefined((yield* server.ask("tools/call", call)).message.result)
    }))

  it.effect("leaves its tasks alone", () =>
    Effect.gen(function*() {
      const server = yield* switchable
      const taskId = yield* create(server, "ask")
      yield* server.turn("job", "off")
      const inputResponses = { name: { action: "accept", content: { name: "Ada" } } }
      yield* server.ask("tasks/update", { taskId, inputResponses })
      assert.strictEqual((yield* server.ask("tasks/get", { taskId })).message.result?.["status"], "completed")
    }))
})

describe("who listens", () => {
  it.effect("is told of each change, if it asked to be [H2, H8]", () =>
    Effect.gen(function*() {
      const server = yield* switchable
      const taskId = yield* create(server, "wait")
      const tools = yield* server.listen({ toolsListChanged }, "tools")
      const both = yield* server.listen({ toolsListChanged, taskIds: [taskId], promptsListChanged: true }, 2)
      const tasks = yield* server.listen({ taskIds: [taskId], toolsListChanged: false }, 3)
      assert.deepStrictEqual(yield* tools.rest, [acknowledgement({ toolsListChanged }, "tools")])
      assert.deepStrictEqual((yield* both.rest)[0], acknowledgement({ taskIds: [taskId], toolsListChanged }, 2))
      assert.deepStrictEqual((yield* tasks.rest)[0], acknowledgement({ taskIds: [taskId] }, 3))
      yield* server.turn("plain", "off")
      assert.deepStrictEqual(yield* tools.rest, [changed("tools")])
      assert.deepStrictEqual(yield* both.rest, [changed(2)])
      assert.deepStrictEqual(yield* tasks.rest, [])
      yield* server.turn("plain", "off")
      assert.deepStrictEqual(yield* tools.rest, [])
      // With the tasks over, the tools are still listened for; with the tools, until the server goes.
      yield* server.ask("tasks/cancel", { taskId })
      assert.deepStrictEqual((yield* tasks.rest).at(-1), graceful(3))
      assert.strictEqual((yield* both.rest).length, 1)
      yield* server.turn("plain", "on")
      assert.deepStrictEqual(yield* both.rest, [changed(2)])
      yield* server.endSubscriptions
      assert.deepStrictEqual(yield* both.rest, [graceful(2)])
    }))

  it.effect("and reads slowly is told once of many changes", () =>
    Effect.gen(function*() {
      const server = yield* switchable
      const reading = yield* server.listen({ toolsListChanged })
      for (let again = 0; again < 100; again++) {
        yield* server.turn("plain", again % 2 === 0 ? "off" : "on")
        yield* server.names
      }
      const messages = yield* reading.rest
      // The acknowledgement, one that waited to be read, one that waited to be sent, one for all the others.
      assert.isAtMost(messages.length, 4)
      assert.isAtLeast(messages.length, 2)
      assert.deepStrictEqual(messages.at(-1), changed())
    }))
})

describe("what a server says of its list", () => {
  const capabilities = (server: { readonly ask: Effect.Success<ReturnType<typeof start>>["ask"] }) =>
    Effect.map(server.ask("server/discover"), ({ message: { result } }) => Object(result?.["capabilities"]).tools)

  it.effect("is that it announces changes, with a switch, and nothing without", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* capabilities(yield* switchable), { listChanged: true })
      const fixed = yield* start()
      assert.deepStrictEqual(yield* capabilities(fixed), {})
      const reading = yield* fixed.stream("subscriptions/listen", { notifications: { toolsListChanged } })
      assert.deepStrictEqual(yield* reading.rest, [acknowledgement({}), graceful()])
    }))
})
