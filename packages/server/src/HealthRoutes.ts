/**
 * What a load balancer and an operator ask a process: does it run, and should it get requests?
 *
 * The answers name background loops and nothing else: no address, no error, no task.
 *
 * @since 0.2.0
 */
import * as Health from "@effect-mcp-tasks/engine/Health"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"

/** Nobody may remember what was true a moment ago. */
const answer = (isWell: boolean, body: unknown): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify(body), {
    status: isWell ? 200 : 503,
    contentType: "application/json",
    headers: { "cache-control": "no-store" }
  })

/**
 * Serves `GET /health/live` and `GET /health/ready` on a router: 200, or 503 when the answer is no.
 *
 * **Details**
 *
 * `ready` is no while the process starts or stops, and while a background loop does not turn: from the round that fails
 * to one that succeeds, or once it has taken 30 seconds. A storage that fails, or refuses to be written, shows within
 * seconds; one that hangs within 31.
 *
 * **Gotchas**
 *
 * Both are open to whoever can reach them. Restart a process that is not live; one that is not ready mends itself.
 *
 * @category layers
 * @since 0.2.0
 */
export const layer: Layer.Layer<never, never, Health.Health | HttpRouter.HttpRouter> = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const health = yield* Health.Health
    yield* router.add("GET", "/health/live", Effect.map(health.live, (isLive) => answer(isLive, { live: isLive })))
    yield* router.add(
      "GET",
      "/health/ready",
      Effect.map(health.ready, ({ isReady, isStopping, loops }) =>
        answer(isReady, { ready: isReady, stopping: isStopping, loops }))
    )
  })
)
