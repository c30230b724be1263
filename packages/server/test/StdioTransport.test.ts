/** The standard streams, held by the test: what is written for each line that is read. */
import { McpProtocol } from "@effect-mcp-tasks/core"
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { StdioTransport } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, type PlatformError, Sink, Stdio, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Message } from "./TestListener.ts"
import { start, waiting } from "./StdioServer.ts"
import { dispatcher, message } from "./TestServer.ts"

const utf8 = new TextEncoder()

const ids = (messages: ReadonlyArray<typeof Message.Type>) => messages.map(({ id }) => id)

const codes = (messages: ReadonlyArray<typeof Message.Type>) => messages.map(({ error, id }) => [id, error?.code])

const plain = (text: string) => ({ name: "plain", arguments: { text } })

describe("lines", () => {
  it.effect("are answered one by one, under their ids, however the bytes are cut [A20, B1, C2]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const texts = ["grün 🌳", "\u2028 \\n \\r\\n", "x".repeat(100_000)]
      const lines = utf8.encode(
        texts.map((text, id) => `${message("tools/call", plain(text), { id })}\r\n`).join("")
      )
      for (const size of [1, 3, 1_000, lines.length]) {
        if (size < 1_000) {
          for (let at = 0; at < 600; at += size) yield* server.send(lines.subarray(at, at + size))
          yield* server.send(lines.subarray(600))
        } else for (let at = 0; at < lines.length; at += size) yield* server.send(lines.subarray(at, at + size))
        const answers = yield* server.written
        assert.deepStrictEqual(ids(answers), [0, 1, 2])
        assert.deepStrictEqual(answers.map(({ result }) => result?.["content"]), texts.map((text) => [
          { type: "text", text }
        ]))
      }
    }))

  it.effect("that are no message are answered with -32700 or -32600, and the next is served [B3, C4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const bad: ReadonlyArray<readonly [line: string | Uint8Array, id: string | number | null, code: number]> = [
        ["{", null, -32700],
        ["nonsense", null, -32700],
        ["\u0000", null, -32700],
        ["\ufeff{}", null, -32700],
        [Uint8Array.of(0x22, 0xff, 0x22), null, -32700],
        ["null", null, -32600],
        ["[]", null, -32600],
        [`[${message("tools/list")}]`, null, -32600],
        ["{}", null, -32600],
        [`{"jsonrpc":"2.0","id":1,"result":{}}`, null, -32600],
        [`{"jsonrpc":"1.0","id":7,"method":"tools/list"}`, 7, -32600],
        [`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, null, -32600],
        ["[".repeat(200), null, -32600],
        [`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`, "a", -32602],
        [message("tasks/list", {}, { id: 9 }), 9, -32601]
      ]
      for (const [line, id, code] of bad) {
        yield* server.send(line)
        yield* server.send("\n")
        assert.deepStrictEqual(codes(yield* server.written), [[id, code]], String(line))
        yield* server.request("next", "server/discover")
        assert.deepStrictEqual(ids(yield* server.written), ["next"])
      }
    }))

  it.effect("that are too long are refused once, however long, and the next is served", () =>
    Effect.gen(function*() {
      const maxLineBytes = 1_000
      const server = yield* start({ maxLineBytes })
      const exact = message("server/discover", { padding: "" }, { id: "exact" })
      const padding = "x".repeat(maxLineBytes - exact.length)
      const line = exact.replace(`"padding":""`, `"padding":"${padding}"`)
      yield* server.send(`${line}\n`)
      assert.deepStrictEqual(codes(yield* server.written), [["exact", undefined]])
      yield* server.send(`${line} \n`)
      assert.deepStrictEqual(codes(yield* server.written), [[null, -32600]])
      for (let part = 0; part < 100; part++) yield* server.send("y".repeat(10_000))
      assert.deepStrictEqual(yield* server.written, [])
      yield* server.send(`\n${line}\n`)
      assert.deepStrictEqual(codes(yield* server.written), [[null, -32600], ["exact", undefined]])
    }))

  it.effect("that are blank, and notifications, are answered with silence [B2, G4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      yield* server.send("\n\r\n  \t\r\n")
      yield* server.notify("notifications/initialized", {})
      for (const params of [{}, { requestId: "unknown" }, { requestId: null }, { requestId: {} }, { requestId: 1.5 }]) {
        yield* server.notify("notifications/cancelled", params)
      }
      yield* server.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}\n`)
      assert.deepStrictEqual(yield* server.written, [])
    }))
})

describe("requests in flight", () => {
  it.effect("are many, and answered as they end", () =>
    Effect.gen(function*() {
      const { finish, script } = yield* waiting
      const server = yield* start({}, { script })
      for (let id = 0; id < 100; id++) yield* server.request(id, "tools/call", plain(`${id}`))
      assert.deepStrictEqual(yield* server.written, [])
      for (let id = 99; id >= 0; id--) yield* finish(`${id}`)
      assert.deepStrictEqual(ids(yield* server.written), Array.from({ length: 100 }, (_, index) => 99 - index))
    }))

  it.effect("are stopped by notifications/cancelled, and nothing follows for them [B5, G4]", () =>
    Effect.gen(function*() {
      const { finish, script, stopped } = yield* waiting
      const server = yield* start({}, { script })
      yield* server.request(1, "tools/call", plain("number"))
      yield* server.request("1", "tools/call", plain("string"))
      yield* server.notify("notifications/cancelled", { requestId: "1", reason: "The user left" })
      assert.deepStrictEqual(stopped, ["string"])
      yield* finish("string")
      assert.deepStrictEqual(yield* server.written, [])
      // The id is free again, and a late cancel of what has been answered does nothing.
      yield* server.request("1", "tools/call", plain("again"))
      yield* finish("again")
      yield* finish("number")
      assert.deepStrictEqual(ids(yield* server.written), ["1", 1])
      yield* server.notify("notifications/cancelled", { requestId: 1 })
      assert.deepStrictEqual(yield* server.written, [])
    }))

  it.effect("leave their task alone when they are cancelled [G2]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      yield* server.request(1, "tools/call", { name: "job", arguments: { text: "ask" } })
      const [created] = yield* server.written
      yield* server.notify("notifications/cancelled", { requestId: 1 })
      yield* server.request(2, "tasks/get", { taskId: created?.result?.["taskId"] })
      assert.strictEqual((yield* server.written)[0]?.result?.["status"], "input_required")
    }))

  it.effect("have ids of their own: one that is used again is refused without it, and the first is answered [C1]", () =>
    Effect.gen(function*() {
      const { finish, script } = yield* waiting
      const server = yield* start({}, { script })
      yield* server.request(1, "tools/call", plain("first"))
      yield* server.request(1, "server/discover")
      assert.deepStrictEqual(codes(yield* server.written), [[null, -32600]])
      yield* finish("first")
      assert.deepStrictEqual(codes(yield* server.written), [[1, undefined]])
    }))

  it.effect("are so many at most", () =>
    Effect.gen(function*() {
      const { finish, script } = yield* waiting
      const server = yield* start({ maxInFlight: 2 }, { script })
      for (const id of ["a", "b", "c"]) yield* server.request(id, "tools/call", plain(id))
      assert.deepStrictEqual(codes(yield* server.written), [["c", -32603]])
      yield* finish("a")
      yield* server.request("c", "server/discover")
      assert.deepStrictEqual(ids(yield* server.written), ["a", "c"])
    }))
})

describe("the end of the input", () => {
  it.effect("ends the server once what is in flight has been answered, the last line included [B6]", () =>
    Effect.gen(function*() {
      const { finish, script } = yield* waiting
      const server = yield* start({}, { script })
      yield* server.request("slow", "tools/call", plain("slow"))
      yield* server.send(message("server/discover", {}, { id: "no line feed" }))
      yield* server.close
      assert.deepStrictEqual(ids(yield* server.written), ["no line feed"])
      assert.isUndefined(server.serving.pollUnsafe())
      yield* finish("slow")
      assert.deepStrictEqual(ids(yield* server.written), ["slow"])
      assert.deepStrictEqual(server.serving.pollUnsafe(), Exit.void)
    }))

  it.effect("is waited out only so long [B6]", () =>
    Effect.gen(function*() {
      const { script, stopped } = yield* waiting
      const server = yield* start({ drainTimeout: "3 seconds" }, { script })
      yield* server.request("endless", "tools/call", plain("endless"))
      yield* server.close
      yield* TestClock.adjust("2999 millis")
      assert.isUndefined(server.serving.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(server.serving)
      assert.deepStrictEqual(stopped, ["endless"])
      const answers = yield* server.written
      assert.deepStrictEqual(answers.map(({ error, id }) => [id, error?.code]), [["endless", -32603]])
    }))

  it.effect("ends subscriptions in good order [G5, H6]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      yield* server.request("create", "tools/call", { name: "job", arguments: { text: "ask" } })
      const taskId = (yield* server.written)[0]?.result?.["taskId"]
      yield* server.request("listen", "subscriptions/listen", { notifications: { taskIds: [taskId] } })
      yield* server.written
      yield* server.close
      yield* Fiber.join(server.serving)
      const [graceful, tornDown, ...more] = yield* server.written
      assert.strictEqual(graceful?.id, "listen")
      assert.deepStrictEqual(tornDown, {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: "listen" }
      })
      assert.deepStrictEqual(more, [])
    }))
})

describe("subscriptions", () => {
  it.effect("share the output, each message under its subscription's id, until they are cancelled [B5, C11]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      yield* server.request("create", "tools/call", { name: "job", arguments: { text: "ask" } })
      const taskId = (yield* server.written)[0]?.result?.["taskId"]
      const notifications = { taskIds: [taskId] }
      yield* server.request(1, "subscriptions/listen", { notifications })
      yield* server.request("1", "subscriptions/listen", { notifications })
      const subscription = (params: (typeof Message.Type)["params"]) =>
        (params?.["_meta"] as Record<string, unknown> | undefined)?.[McpProtocol.MetaKey.subscriptionId]
      const opened = (yield* server.written).map(({ method, params }) => [subscription(params), method])
      for (const id of [1, "1"]) {
        assert.deepStrictEqual(opened.filter(([of]) => of === id).map(([, method]) => method), [
          "notifications/subscriptions/acknowledged",
          "notifications/tasks"
        ])
      }
      yield* server.notify("notifications/cancelled", { requestId: 1 })
      yield* server.request("cancel", "tasks/cancel", { taskId })
      const rest = (yield* server.written).filter(({ id }) => id !== "cancel")
      assert.deepStrictEqual(
        rest.map(({ id, method, params }) => id ?? [subscription(params) ?? params?.["requestId"], method]),
        [["1", "notifications/tasks"], "1", ["1", "notifications/cancelled"]]
      )
    }))
})

describe("a reader that is gone", () => {
  it.effect("ends the server, as a failure", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(Layer.fresh(dispatcher()))
      const broken = Sink.fail("EPIPE" as unknown as PlatformError.PlatformError)
      const stdin = Stream.concat(Stream.make(utf8.encode(`${message("server/discover")}\n`)), Stream.never)
      const gone = yield* StdioTransport.serve().pipe(
        Effect.provideService(TaskOwner.CurrentOwner, TaskOwner.anonymous),
        Effect.provide(Stdio.layerTest({ stdin, stdout: () => broken })),
        Effect.provideContext(context),
        Effect.flip
      )
      assert.strictEqual(gone._tag, "OutputGone")
    }))
})
