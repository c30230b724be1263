/** What is under way when an HTTP server stops, and takes longer than it has. */
import { CurrentTask, TaskOwner } from "@effect-mcp-tasks/engine"
import { HttpStartup, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { readMessage } from "./TestListener.ts"
import { calling, dispatcher, exchange, isRefusal, listing, mcpHeaders, message, type Script } from "./TestServer.ts"

/** A server whose handlers wait for ever, and that a test stops once one of them does; or who asks who is calling. */
const stoppable = Effect.fnUntraced(function*(waitsFor: "handler" | "owner" = "handler") {
  const begun = yield* Deferred.make<void>()
  const stopped = yield* Deferred.make<void>()
  const script: Script = Effect.fnUntraced(function*(text) {
    const { report } = yield* CurrentTask.CurrentTask
    if (text === "reports") yield* report("half", { done: 1, total: 2 })
    yield* Deferred.succeed(begun, undefined)
    return yield* Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
  })
  const scope = yield* Scope.make()
  const begin = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
  const authenticated = HttpRouter.middleware<{ provides: TaskOwner.CurrentOwner }>()((endpoint) =>
    Effect.flatMap(waitsFor === "owner" ? begin : Effect.succeed(TaskOwner.anonymous), (owner) =>
      Effect.provideService(endpoint, TaskOwner.CurrentOwner, owner))
  )
  const served = HttpTransport.layer().pipe(Layer.provide(authenticated.layer))
  const listen = { host: "127.0.0.1", port: 0, gracefulShutdownTimeout: "20 millis" } as const
  const context = yield* Layer.buildWithScope(
    Layer.fresh(
      HttpTransport.layerEndSubscriptions.pipe(
        Layer.provideMerge(HttpRouter.serve(served, { disableLogger: true, disableListenLog: true })),
        Layer.provide(dispatcher({ script })),
        Layer.provideMerge(HttpStartup.layer(NodeHttpServer.layer, createServer, listen))
      )
    ),
    scope
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  return {
    port: Number(new URL(HttpServer.formatAddress(address)).port),
    begun: Deferred.await(begun),
    stopped: Deferred.await(stopped),
    stop: Scope.close(scope, Exit.void)
  }
})

const isStopping = (text: string, id: string) =>
  assert.deepStrictEqual(readMessage(text), {
    jsonrpc: "2.0",
    id,
    error: { code: -32603, message: "The server is stopping, and did not finish this request" }
  })

describe("a request that the end of the server interrupts", () => {
  for (const tool of ["plain", "quick"]) {
    it.live(`is answered under its id: ${tool}`, () =>
      Effect.gen(function*() {
        const server = yield* stoppable()
        const pending = yield* Effect.forkChild(exchange({ port: server.port, ...calling(tool, "", "mine") }))
        yield* server.begun
        yield* server.stop
        const { headers, status, text } = yield* Fiber.join(pending)
        assert.strictEqual(status, 200)
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(headers["connection"], "close")
        isStopping(text, "mine")
        yield* server.stopped
      }))
  }

  it.live("is answered by the last message of its event stream", () =>
    Effect.gen(function*() {
      const server = yield* stoppable()
      const params = { name: "plain", arguments: { text: "reports" }, _meta: { progressToken: 1 } }
      const pending = yield* Effect.forkChild(exchange({
        port: server.port,
        headers: mcpHeaders("tools/call", "plain"),
        chunks: [message("tools/call", params, { id: "mine" })]
      }))
      yield* server.begun
      yield* server.stop
      const { text } = yield* Fiber.join(pending)
      const [progress, last, ...more] = text.split("\n\n").filter((event) => event.startsWith("data: "))
      assert.include(progress, "notifications/progress")
      isStopping(last?.slice("data: ".length) ?? "", "mine")
      assert.deepStrictEqual(more, [])
      yield* server.stopped
    }))

  it.live("is answered without an id if it has not been read", () =>
    Effect.gen(function*() {
      const server = yield* stoppable()
      const isOpen = yield* Deferred.make<void>()
      const pending = yield* Effect.forkChild(exchange({
        port: server.port,
        ...listing,
        chunks: ["{"],
        unfinished: () => Deferred.doneUnsafe(isOpen, Exit.void)
      }))
      yield* Deferred.await(isOpen)
      // Another request shows that the one before it has come.
      yield* exchange({ port: server.port, ...listing })
      yield* server.stop
      isRefusal(yield* Fiber.join(pending), 503, -32603)
    }))

  it.live("is answered without an id while it is asked who is calling", () =>
    Effect.gen(function*() {
      const server = yield* stoppable("owner")
      const pending = yield* Effect.forkChild(exchange({ port: server.port, ...listing }))
      yield* server.begun
      yield* server.stop
      isRefusal(yield* Fiber.join(pending), 503, -32603)
    }))
})
