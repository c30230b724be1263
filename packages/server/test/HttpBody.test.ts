/** How long the endpoint waits for a body, over loopback HTTP and on the test's clock. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, Queue } from "effect"
import { HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { exchange, isListing, isRefusal, listing, message, type RawRequest, serve } from "./TestServer.ts"

const text = message("tools/list")

/** Serves, and gives back how to send a request whose body stops halfway: once sent, the server waits for the rest. */
const start = Effect.fnUntraced(function*() {
  const arrivals = yield* Queue.unbounded<void>()
  const announced = HttpRouter.middleware((serve) => Effect.andThen(Queue.offer(arrivals, undefined), serve)).layer
  const port = yield* serve({ bodyTimeout: "30 seconds" }, {}, (endpoint) =>
    endpoint.pipe(HttpRouter.provideRequest(TaskOwner.layerAnonymous), Layer.provide(announced)))
  const send = Effect.fnUntraced(function*(headers: RawRequest["headers"] = {}) {
    const held: Array<(rest: string) => void> = []
    const request = { port, headers: { ...listing.headers, ...headers }, chunks: [text.slice(0, 9)] }
    const asking = yield* Effect.forkChild(exchange({ ...request, unfinished: (finish) => held.push(finish) }))
    yield* Queue.take(arrivals)
    return { asking, finish: Effect.sync(() => held.forEach((finish) => finish(text.slice(9)))) }
  })
  return { port, send }
})

describe("a slow body", () => {
  it.effect("is refused when its time is up, and its connection is closed", () =>
    Effect.gen(function*() {
      const { port, send } = yield* start()
      for (const headers of [{}, { "content-length": String(text.length) }]) {
        const { asking } = yield* send(headers)
        yield* TestClock.adjust("30 seconds")
        const response = yield* Fiber.join(asking)
        isRefusal(response, 408)
        assert.strictEqual(response.headers.connection, "close")
      }
      isListing(yield* exchange({ port, ...listing }))
    }))

  it.effect("is read to its end as long as there is time, whatever becomes of others", () =>
    Effect.gen(function*() {
      const { send } = yield* start()
      const first = yield* send()
      yield* TestClock.adjust("10 seconds")
      const second = yield* send()
      const third = yield* send()
      yield* TestClock.adjust("19 seconds")
      yield* third.finish
      isListing(yield* Fiber.join(third.asking))
      yield* TestClock.adjust("1 second")
      isRefusal(yield* Fiber.join(first.asking), 408)
      yield* TestClock.adjust("9 seconds")
      yield* second.finish
      isListing(yield* Fiber.join(second.asking))
    }))

  it.effect("is waited for afresh after nobody was waited for", () =>
    Effect.gen(function*() {
      const { send } = yield* start()
      for (let round = 0; round < 3; round++) {
        const quick = yield* send()
        yield* quick.finish
        isListing(yield* Fiber.join(quick.asking))
        yield* TestClock.adjust("20 seconds")
        const slow = yield* send()
        yield* TestClock.adjust("29 seconds")
        const late = yield* send()
        yield* TestClock.adjust("1 second")
        isRefusal(yield* Fiber.join(slow.asking), 408)
        yield* late.finish
        isListing(yield* Fiber.join(late.asking))
        yield* TestClock.adjust("1 hour")
      }
    }))
})

describe("a request", () => {
  it.live("costs three fibers: its own, the platform's that reads, and ours that waits for it; none for the time", () =>
    Effect.gen(function*() {
      let started = 0
      const counting: Metric.FiberRuntimeMetricsService = {
        recordFiberStart: () => {
          started++
        },
        recordFiberEnd: () => undefined
      }
      const port = yield* Effect.provideService(serve(), Metric.FiberRuntimeMetrics, counting)
      isListing(yield* exchange({ port, ...listing }))
      const before = started
      for (let sent = 0; sent < 10; sent++) isListing(yield* exchange({ port, ...listing }))
      assert.strictEqual(started - before, 30)
    }))
})
