/** Event streams over loopback HTTP: headers and frames, slow and dead readers, clients and servers that leave. */
import { CurrentTask, TaskOwner } from "@effect-mcp-tasks/engine"
import { HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer, type IncomingHttpHeaders, request } from "node:http"
import { readMessage } from "./TestListener.ts"
import { dispatcher, exchange, mcpHeaders, message, type Options, read, type Script, serve } from "./TestServer.ts"

/** An event stream as it comes. */
interface Events {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Everything that has come so far. */
  readonly text: () => string
  readonly ended: Effect.Effect<"complete" | "aborted">
  readonly close: () => void
}

/** Opens a stream. With `isDeaf`, nothing of its body is ever read. */
const open = (port: number, body: string, headers: Record<string, string>, isDeaf = false) =>
  Effect.acquireRelease(
    Effect.callback<Events>((resume) => {
      const ended = Deferred.makeUnsafe<"complete" | "aborted">()
      const end = (how: "complete" | "aborted") => Deferred.doneUnsafe(ended, Effect.succeed(how))
      const options = { host: "127.0.0.1", port, path: "/mcp", method: "POST", agent: false, headers }
      const outgoing = request(options, (incoming) => {
        let text = ""
        if (!isDeaf) incoming.on("data", (chunk: Buffer) => text += chunk.toString("utf8"))
        incoming.on("end", () => end("complete"))
        incoming.on("error", () => end("aborted"))
        resume(Effect.succeed({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: () => text,
          ended: Deferred.await(ended),
          close: () => outgoing.destroy()
        }))
      })
      outgoing.on("error", () => end("aborted"))
      outgoing.end(body)
    }),
    (events) => Effect.sync(events.close)
  )

const json = { "content-type": "application/json" }

const listen = (port: number, taskIds: ReadonlyArray<string>, isDeaf?: boolean) =>
  open(port, message("subscriptions/listen", { notifications: { taskIds } }), {
    ...json,
    ...mcpHeaders("subscriptions/listen")
  }, isDeaf)

const calling = (name: string, text: string, _meta = {}) => ({
  headers: mcpHeaders("tools/call", name),
  chunks: [message("tools/call", { name, arguments: { text }, _meta })]
})

const create = Effect.fnUntraced(function*(port: number, text: string) {
  return String(read((yield* exchange({ port, ...calling("job", text) })).text).result?.["taskId"])
})

const cancel = (port: number, taskId: string) =>
  exchange({ port, headers: mcpHeaders("tasks/cancel", taskId), chunks: [message("tasks/cancel", { taskId })] })

/** The messages of a stream; fails on anything but events of one `data` line, and comments. */
const messagesOf = (text: string) => {
  assert.match(text, /^(?:data: [^\n]+\n\n|:\n\n)*$/)
  return text.split("\n\n").filter((event) => event.startsWith("data: ")).map((event) => readMessage(event.slice(6)))
}

const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(
    Effect.tap(Effect.sleep("5 millis")),
    Effect.repeat({ until: (is) => is }),
    Effect.timeout("1 minute")
  )

/** Listens as soon as there is a place: the server learns a moment later that a client has gone away. */
const admitted = (port: number, taskIds: ReadonlyArray<string>) =>
  listen(port, taskIds).pipe(
    Effect.repeat({ until: ({ headers }) => headers["content-type"] === "text/event-stream" }),
    Effect.timeout("1 minute")
  )

describe("a subscription", () => {
  it.live("is an event stream that no proxy holds back or keeps, and ends with the reply [A6, A8, A9]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const taskId = yield* create(port, "ask")
      const events = yield* listen(port, [taskId])
      assert.strictEqual(events.status, 200)
      assert.strictEqual(events.headers["content-type"], "text/event-stream")
      assert.strictEqual(events.headers["cache-control"], "no-store")
      assert.strictEqual(events.headers["x-accel-buffering"], "no")
      yield* until(() => messagesOf(events.text()).length === 2)
      yield* cancel(port, taskId)
      assert.strictEqual(yield* events.ended, "complete")
      const [acknowledged, asked, cancelled, reply, ...more] = messagesOf(events.text())
      assert.strictEqual(acknowledged?.method, "notifications/subscriptions/acknowledged")
      assert.deepStrictEqual([asked, cancelled].map((it) => it?.params?.["status"]), ["input_required", "cancelled"])
      assert.deepStrictEqual([reply?.id, reply?.result?.["resultType"]], [1, "complete"])
      assert.deepStrictEqual(more, [])
    }))

  it.live("sends comments while nothing happens [A9]", () =>
    Effect.gen(function*() {
      const port = yield* serve({ keepAlive: "20 millis" })
      const events = yield* listen(port, [yield* create(port, "wait")])
      yield* until(() => events.text().split(":\n\n").length > 4)
      assert.strictEqual(messagesOf(events.text()).length, 2)
    }))

  it.live("that is refused is answered as any other request is", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const response = yield* exchange({
        port,
        headers: mcpHeaders("subscriptions/listen"),
        chunks: [message("subscriptions/listen", { notifications: { taskIds: [] } }, { capabilities: {} })]
      })
      assert.strictEqual(response.status, 400)
      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.strictEqual(read(response.text).error?.code, -32021)
    }))

  it.live("gives its place back when its client goes away [A10]", () =>
    Effect.gen(function*() {
      const port = yield* serve({}, { limits: { maxListeners: 1 } })
      const taskId = yield* create(port, "wait")
      for (let again = 0; again < 6; again++) {
        const events = yield* admitted(port, [taskId])
        const refused = yield* listen(port, [taskId])
        assert.strictEqual(refused.headers["content-type"], "application/json")
        events.close()
        yield* events.ended
      }
    }))

  it.live("whose client does not read is dropped, and its connection with it", () =>
    Effect.gen(function*() {
      const size = 7 * 1024 * 1024
      const script: Script = () => Effect.succeed("x".repeat(size))
      const port = yield* serve({ readTimeout: "200 millis" }, { script, limits: { maxListeners: 1 } })
      const taskIds: Array<string> = []
      for (let count = 0; count < 3; count++) taskIds.push(yield* create(port, ""))
      const deaf = yield* listen(port, taskIds, true)
      const [waited] = yield* Effect.timed(admitted(port, taskIds))
      assert.isAtLeast(Duration.toMillis(waited), 100)
      deaf.close()
    }))
})

describe("a call with a progress token", () => {
  const script: Script = Effect.fnUntraced(function*(text) {
    const { report } = yield* CurrentTask.CurrentTask
    if (text === "reports") yield* report("half", { done: 50, total: 100 })
    return text
  })
  const _meta = { progressToken: "token" }

  it.live("is answered with an event stream if there is progress, and with one document if not [A6, A7]", () =>
    Effect.gen(function*() {
      const port = yield* serve({}, { script })
      const streamed = yield* exchange({ port, ...calling("plain", "reports", _meta) })
      assert.strictEqual(streamed.headers["content-type"], "text/event-stream")
      const [progress, reply, ...more] = messagesOf(streamed.text)
      const params = { progressToken: "token", progress: 50, total: 100, message: "half" }
      assert.deepStrictEqual(progress, { jsonrpc: "2.0", method: "notifications/progress", params })
      assert.deepStrictEqual(reply?.result?.["content"], [{ type: "text", text: "reports" }])
      assert.deepStrictEqual(more, [])
      const silent = [
        calling("plain", "silent", _meta),
        calling("plain", "reports"),
        calling("job", "reports", _meta)
      ]
      for (const request of silent) {
        const response = yield* exchange({ port, ...request })
        assert.strictEqual(response.headers["content-type"], "application/json")
        assert.isUndefined(read(response.text).error)
      }
    }))
})

/** A server that the test stops. */
const stoppable = Effect.fnUntraced(function*(options: Options = {}, grace: Duration.Input = "5 seconds") {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    Layer.fresh(
      HttpTransport.layerEndSubscriptions.pipe(
        Layer.provideMerge(HttpRouter.serve(HttpTransport.layer(), { disableLogger: true, disableListenLog: true })),
        Layer.provide(dispatcher(options)),
        Layer.provide(TaskOwner.layerAnonymous),
        Layer.provideMerge(NodeHttpServer.layer(createServer, {
          host: "127.0.0.1",
          port: 0,
          gracefulShutdownTimeout: grace
        }))
      )
    ),
    scope
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  return {
    port: Number(new URL(HttpServer.formatAddress(address)).port),
    stop: Effect.map(Effect.timed(Scope.close(scope, Exit.void)), ([took]) => Duration.toMillis(took))
  }
})

describe("a server that goes away", () => {
  it.live("ends its streams in good order, at once [H6]", () =>
    Effect.gen(function*() {
      const { port, stop } = yield* stoppable()
      const taskId = yield* create(port, "wait")
      const all = yield* Effect.forEach(Array.from({ length: 10 }), () => listen(port, [taskId]))
      for (const events of all) yield* until(() => messagesOf(events.text()).length === 2)
      assert.isBelow(yield* stop, 2_000)
      for (const events of all) {
        assert.strictEqual(yield* events.ended, "complete")
        assert.strictEqual(messagesOf(events.text()).at(-1)?.result?.["resultType"], "complete")
      }
    }))

  it.live("waits for streams that nobody reads no longer than for anything else", () =>
    Effect.gen(function*() {
      const script: Script = () => Effect.succeed("x".repeat(7 * 1024 * 1024))
      const { port, stop } = yield* stoppable({ script }, "200 millis")
      const taskIds = [yield* create(port, ""), yield* create(port, "")]
      yield* listen(port, taskIds, true)
      assert.isBelow(yield* stop, 2_000)
    }))
})
