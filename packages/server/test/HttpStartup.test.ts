/** A server whose port is open before it is ready, and until everything behind it has ended. */
import { Health, TaskOwner } from "@effect-mcp-tasks/engine"
import { HealthRoutes, HttpStartup, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import * as TestServer from "./TestServer.ts"

const options = { host: "127.0.0.1", port: 0 }

/**
 * A server with an open port, on which nothing is served yet, and what will be once it is ready. What is behind the
 * routes ends when the test says so, as handlers do in their time of grace.
 */
const opened = Effect.fnUntraced(function*(extra: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.empty) {
  const ready = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<void>()
  const port = yield* Deferred.make<number>()
  const open = Layer.effectDiscard(Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Deferred.succeed(port, Number(new URL(HttpServer.formatAddress(address)).port))))
  // What takes its time: a store that is set up, tasks that are taken up, handlers that come to their end.
  const slow = Layer.effectDiscard(
    Effect.andThen(Deferred.await(ready), Effect.addFinalizer(() => Deferred.await(ended)))
  )
  const routes = Layer.mergeAll(HttpTransport.layer(), HealthRoutes.layer, extra)
  const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide([TestServer.dispatcher(), TaskOwner.layerAnonymous, Health.layer]),
    Layer.provide(slow),
    Layer.provide(open),
    Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, options))
  )
  const scope = yield* Scope.make()
  const serving = yield* Effect.forkChild(Layer.buildWithScope(Layer.fresh(served), scope))
  const at = yield* Deferred.await(port)
  yield* Effect.addFinalizer(() => Deferred.succeed(ended, undefined))
  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    TestServer.exchange({ port: at, method: "GET", path, headers })
  return {
    answer: TestServer.exchange({ port: at, ...TestServer.listing }),
    ask,
    live: ask("/health/live"),
    readiness: ask("/health/ready"),
    becomeReady: Effect.andThen(Deferred.succeed(ready, undefined), Fiber.join(serving)),
    /** Begins to stop, and waits until nothing is served any more. */
    stop: Effect.forkChild(Scope.close(scope, Exit.void)),
    end: Deferred.succeed(ended, undefined)
  }
})

const isUnavailable = (response: TestServer.RawResponse) => {
  TestServer.isRefusal(response, 503, -32603)
  assert.strictEqual(response.headers["retry-after"], "1")
  assert.strictEqual(response.headers["connection"], "close")
}

const says = (status: number, body: unknown) => (response: TestServer.RawResponse) => {
  assert.strictEqual(response.status, status)
  assert.deepStrictEqual(JSON.parse(response.text), body)
}

describe("a server that answers for as long as its port is open", () => {
  it.live("says that it is not ready, then serves, then says so again until all has ended", () =>
    Effect.gen(function*() {
      const server = yield* opened()
      for (let times = 0; times < 3; times++) isUnavailable(yield* server.answer)
      says(200, { live: true })(yield* server.live)
      says(503, { ready: false, stopping: false, loops: {} })(yield* server.readiness)
      yield* server.becomeReady
      for (let times = 0; times < 3; times++) TestServer.isListing(yield* server.answer)
      says(200, { live: true })(yield* server.live)
      const stopping = yield* server.stop
      yield* Effect.yieldNow
      for (let times = 0; times < 3; times++) {
        isUnavailable(yield* server.answer)
        says(200, { live: true })(yield* server.live)
        says(503, { ready: false, stopping: true, loops: {} })(yield* server.readiness)
      }
      yield* server.end
      yield* Fiber.join(stopping)
      assert.match(String((yield* Effect.flip(server.answer)).cause), /ECONNREFUSED/)
    }))

  const ways: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
    ["what is under way", {}],
    ["what waits to be asked for its body", { expect: "100-continue" }],
    ["what would rather speak HTTP/2", { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "A" }]
  ]
  for (const [what, headers] of ways) {
    it.live(`lets ${what} come to its end, and takes nothing more`, () =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const slow = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate))
        const server = yield* opened(HttpRouter.add("GET", "/slow", Effect.as(slow, HttpServerResponse.text("done"))))
        yield* server.becomeReady
        const pending = yield* Effect.forkChild(server.ask("/slow", headers))
        yield* Deferred.await(begun)
        const stopping = yield* server.stop
        // Long enough for what is not waited for to be interrupted.
        yield* Effect.sleep("50 millis")
        isUnavailable(yield* server.answer)
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* Fiber.join(pending)).text, "done")
        yield* server.end
        yield* Fiber.join(stopping)
      }))
  }

  it.live("does not wait for a request that cannot be interrupted", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const stuck = Effect.uninterruptible(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      const server = yield* opened(HttpRouter.add("GET", "/stuck", stuck))
      yield* server.becomeReady
      yield* server.end
      const pending = yield* Effect.forkChild(Effect.flip(server.ask("/stuck")))
      yield* Deferred.await(begun)
      // Two seconds for the request, one for its interruption, half a one for the last answers; more on a busy machine.
      yield* Effect.timeout(Effect.flatMap(server.stop, Fiber.join), "20 seconds")
      assert.match(String((yield* Fiber.join(pending)).cause), /ECONNRESET|socket hang up/)
    }))
})
