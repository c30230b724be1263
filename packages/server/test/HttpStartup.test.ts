/** A server whose port is open before it is ready, and after it has ended. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { HttpStartup, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as TestServer from "./TestServer.ts"

const options = { host: "127.0.0.1", port: 0, disablePreemptiveShutdown: true }

/** A server with an open port, on which nothing is served yet, and what will be once it is ready. */
const opened = Effect.gen(function*() {
  const ports = yield* Layer.build(Layer.fresh(NodeHttpServer.layer(HttpStartup.answering(createServer), options)))
  const ready = yield* Deferred.make<void>()
  const served = HttpRouter.serve(HttpTransport.layer(), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide([TestServer.dispatcher(), TaskOwner.layerAnonymous]),
    // What takes its time: a store that is set up, tasks that are taken up.
    Layer.provide(Layer.effectDiscard(Deferred.await(ready))),
    Layer.provide(Layer.succeedContext(ports))
  )
  const scope = yield* Scope.make()
  const serving = yield* Effect.forkChild(Layer.buildWithScope(Layer.fresh(served), scope))
  const { address } = Context.get(ports, HttpServer.HttpServer)
  const port = Number(new URL(HttpServer.formatAddress(address)).port)
  return {
    answer: TestServer.exchange({ port, ...TestServer.listing }),
    becomeReady: Effect.andThen(Deferred.succeed(ready, undefined), Fiber.join(serving)),
    stop: Scope.close(scope, Exit.void)
  }
})

const isUnavailable = (response: TestServer.RawResponse) => {
  TestServer.isRefusal(response, 503, -32603)
  assert.strictEqual(response.headers["retry-after"], "1")
}

describe("a server that answers while it starts", () => {
  it.live("says that it is not ready, then serves, then says so again", () =>
    Effect.gen(function*() {
      const server = yield* opened
      for (let times = 0; times < 3; times++) isUnavailable(yield* server.answer)
      yield* server.becomeReady
      for (let times = 0; times < 3; times++) TestServer.isListing(yield* server.answer)
      yield* server.stop
      isUnavailable(yield* server.answer)
    }))
})
