import { Health } from "@effect-mcp-tasks/engine"
import { HealthRoutes } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpRouter } from "effect/http"

const server = HttpRouter.serve(HealthRoutes.layer, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layerTest),
  Layer.provideMerge(Layer.fresh(Health.layer))
)

const get = Effect.fnUntraced(function*(path: string) {
  const response = yield* HttpClient.get(path)
  return { status: response.status, headers: response.headers, body: yield* response.json }
})

describe("HealthRoutes", () => {
  it.live("live is yes; ready follows the loops, and names the one that does not turn", () =>
    Effect.gen(function*() {
      const { board } = yield* Health.Health
      const live = yield* get("/health/live")
      assert.deepStrictEqual([live.status, live.body], [200, { live: true }])
      assert.strictEqual(live.headers["cache-control"], "no-store")

      const starting = yield* get("/health/ready")
      assert.deepStrictEqual([starting.status, starting.body], [503, { ready: false, stopping: false, loops: {} }])

      const claim = board.join("claim", 60_000)
      const sweep = board.join("sweep", 0)
      const ready = yield* get("/health/ready")
      assert.deepStrictEqual([ready.status, ready.body], [
        200,
        { ready: true, stopping: false, loops: { claim: "turning", sweep: "turning" } }
      ])

      yield* claim.begin
      yield* sweep.begin
      const stuck = yield* get("/health/ready")
      assert.deepStrictEqual([stuck.status, stuck.body], [
        503,
        { ready: false, stopping: false, loops: { claim: "turning", sweep: "stuck" } }
      ])

      yield* sweep.rest
      yield* claim.fail
      const failing = yield* get("/health/ready")
      assert.deepStrictEqual([failing.status, failing.body], [
        503,
        { ready: false, stopping: false, loops: { claim: "failing", sweep: "turning" } }
      ])

      yield* claim.rest
      yield* sweep.leave
      assert.strictEqual((yield* get("/health/ready")).status, 200)
      yield* board.stop
      const stopping = yield* get("/health/ready")
      assert.deepStrictEqual([stopping.status, stopping.body], [
        503,
        { ready: false, stopping: true, loops: { claim: "turning" } }
      ])
      assert.strictEqual((yield* get("/health/live")).status, 200)
    }).pipe(Effect.provide(server)))
})
