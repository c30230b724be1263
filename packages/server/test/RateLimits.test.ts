/** How often one owner may call, and that nobody else notices when it calls more often. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import type { Dispatcher } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import { ada, exchange, mcpHeaders, message, read, serve, settle, start } from "./TestServer.ts"

const bob = TaskOwner.principal({ issuer: "https://issuer.example", subject: "bob" })

type Server = Effect.Success<ReturnType<typeof start>>

const call = (server: Server, name: string, text = "hello", owner = ada) =>
  server.ask("tools/call", { name, arguments: { text } }, { owner })

const isServed = ({ body, httpStatus }: Dispatcher.Reply) => {
  assert.strictEqual(httpStatus, 200, body)
  assert.isDefined(read(body).result, body)
}

/** Expects a refusal to the letter. */
const isRefused = ({ body, httpStatus }: Dispatcher.Reply, words: string, retryAfterMs: number) => {
  assert.strictEqual(httpStatus, 429)
  assert.deepStrictEqual(JSON.parse(body ?? ""), {
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32603, message: words, data: { retryAfterMs } }
  })
}

describe("calls", () => {
  it.effect("beyond the rate are refused before anything is done, and told when to come back [D6]", () =>
    Effect.gen(function*() {
      let runs = 0
      const script = () => Effect.sync(() => String(++runs))
      const server = yield* start({ script, rates: { calls: { limit: 3, window: "1 minute" } } })
      yield* TestClock.adjust("1 hour")
      for (let time = 0; time < 3; time++) isServed(yield* call(server, "plain"))
      const words = "Too many calls: 3 in 1m are allowed. Try again in 20s"
      for (const name of ["plain", "job", "absent"]) isRefused(yield* call(server, name), words, 20_000)
      assert.deepStrictEqual([runs, (yield* server.store.list({ limit: 10 })).length], [3, 0])
      yield* TestClock.adjust("20 seconds")
      isServed(yield* call(server, "plain"))
      isRefused(yield* call(server, "plain"), words, 20_000)
      yield* TestClock.adjust("19999 millis")
      isRefused(yield* call(server, "plain"), "Too many calls: 3 in 1m are allowed. Try again in 1ms", 1)
      assert.strictEqual(runs, 4)
    }))

  it.effect("of one owner do not count against another, and other methods do not count", () =>
    Effect.gen(function*() {
      const server = yield* start({ rates: { calls: { limit: 1, window: "1 minute" } } })
      isServed(yield* call(server, "job", "wait"))
      for (const method of ["tools/list", "server/discover"]) isServed(yield* server.ask(method))
      assert.strictEqual((yield* call(server, "plain")).httpStatus, 429)
      const others = [
        bob,
        TaskOwner.anonymous,
        TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada", tenant: "t" }),
        TaskOwner.principal({ issuer: "https://other.example", subject: "ada" })
      ]
      for (const owner of others) isServed(yield* call(server, "plain", "hello", owner))
    }))

  it.effect("are not limited unless that was asked for", () =>
    Effect.gen(function*() {
      const server = yield* start()
      for (let time = 0; time < 500; time++) isServed(yield* call(server, "plain"))
    }))

  it.live("are refused over HTTP with 429 and Retry-After in seconds", () =>
    Effect.gen(function*() {
      const port = yield* serve({}, { rates: { calls: { limit: 1, window: "1 hour" } } })
      const request = {
        headers: mcpHeaders("tools/call", "plain"),
        chunks: [message("tools/call", { name: "plain", arguments: { text: "" } }, { id: "mine" })]
      }
      const first = yield* exchange({ port, ...request })
      assert.strictEqual(first.status, 200)
      assert.isUndefined(first.headers["retry-after"])
      const second = yield* exchange({ port, ...request })
      const { error, id } = read(second.text)
      assert.deepStrictEqual([second.status, error?.code, id], [429, -32603, "mine"])
      assert.strictEqual(second.headers["content-type"], "application/json")
      const seconds = Number(second.headers["retry-after"])
      assert.isTrue(seconds > 3590 && seconds <= 3600, second.headers["retry-after"])
    }))
})

describe("creates", () => {
  it.effect("beyond the rate are refused, and calls that become no task do not count", () =>
    Effect.gen(function*() {
      const server = yield* start({ rates: { creates: { limit: 2, window: "10 seconds" } } })
      for (let time = 0; time < 9; time++) isServed(yield* call(server, "plain"))
      for (let time = 0; time < 9; time++) {
        const unfit = yield* server.ask("tools/call", { name: "job", arguments: { text: 1 } })
        assert.strictEqual(read(unfit.body).result?.["isError"], true)
      }
      isServed(yield* call(server, "job"))
      isServed(yield* call(server, "job"))
      isRefused(yield* call(server, "job"), "Too many tasks: 2 in 10s are allowed. Try again in 5s", 5_000)
      isServed(yield* call(server, "plain"))
      isServed(yield* server.ask("tools/call", { name: "job", arguments: { text: "hi" } }, { capabilities: {} }))
      assert.strictEqual((yield* server.store.list({ limit: 10 })).length, 2)
      isServed(yield* call(server, "job", "hello", bob))
      yield* TestClock.adjust("5 seconds")
      isServed(yield* call(server, "job"))
    }))
})

describe("polls", () => {
  it.effect("beyond the rate are answered, only later, and nobody else's are [E16]", () =>
    Effect.gen(function*() {
      const server = yield* start({ rates: { polls: { limit: 5, window: "1 minute" } } })
      const hers = yield* server.create("job", "wait")
      const his = yield* server.create("job", "wait", bob)
      const poll = (taskId: string, owner = ada) => server.ask("tasks/get", { taskId }, { owner })
      for (let time = 0; time < 5; time++) isServed(yield* poll(hers))
      const flood = yield* Effect.forEach(Array.from({ length: 1_000 }), () => Effect.forkChild(poll(hers)))
      yield* settle
      assert.isTrue(flood.every((fiber) => fiber.pollUnsafe() === undefined))
      // While a thousand polls wait, another owner is served at once, and so is everything else of the first.
      isServed(yield* poll(his, bob))
      isServed(yield* call(server, "plain"))
      isServed(yield* server.ask("tasks/cancel", { taskId: hers }))
      yield* TestClock.adjust("999 millis")
      assert.isTrue(flood.every((fiber) => fiber.pollUnsafe() === undefined))
      yield* TestClock.adjust("1 millis")
      for (const fiber of flood) {
        const reply = yield* Fiber.join(fiber)
        isServed(reply)
        // What a late answer says is not what was when it was asked for, but what is.
        assert.include(reply.body, `"status":"cancelled"`)
      }
    }))

  it.effect("are slowed alike for a task of somebody else and for none [I2]", () =>
    Effect.gen(function*() {
      const server = yield* start({ rates: { polls: { limit: 1, window: "1 minute" } } })
      const his = yield* server.create("job", "wait", bob)
      isServed(yield* server.ask("tasks/get", { taskId: his }, { owner: bob }))
      const replies = []
      for (const taskId of ["unknown", his, "unknown", his]) {
        const polling = yield* Effect.forkChild(server.ask("tasks/get", { taskId }))
        yield* settle
        const isWaiting = polling.pollUnsafe() === undefined
        yield* TestClock.adjust("1 second")
        replies.push([isWaiting, (yield* Fiber.join(polling)).body])
      }
      assert.deepStrictEqual(replies.map(([isWaiting]) => isWaiting), [false, true, true, true])
      assert.strictEqual(new Set(replies.map(([, body]) => body)).size, 1)
    }))
})

describe("the store of the rates", () => {
  it.effect("is the one that is provided, so that replicas share it", () =>
    Effect.gen(function*() {
      const store = yield* Layer.build(RateLimiter.layerStoreMemory)
      const options = {
        rates: { calls: { limit: 1, window: "1 minute" } },
        rateStore: Layer.succeedContext(store)
      } as const
      const one = yield* start(options)
      const two = yield* start(options)
      isServed(yield* call(one, "plain"))
      assert.strictEqual((yield* call(two, "plain")).httpStatus, 429)
    }))

  it.effect("limits nobody while it is away, and says so", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const away = Effect.fail(
        new RateLimiter.RateLimiterError({ reason: new RateLimiter.RateLimitStoreError({ message: "away" }) })
      )
      const rateStore = Layer.succeed(RateLimiter.RateLimiterStore, {
        fixedWindow: () => away,
        tokenBucket: () => away,
        adaptiveConsume: () => away,
        adaptiveFeedback: () => away
      })
      const rate = { limit: 1, window: "1 minute" } as const
      const server = yield* start({ logs, rateStore, rates: { calls: rate, creates: rate, polls: rate } })
      const taskId = yield* server.create("job", "wait")
      for (let time = 0; time < 3; time++) isServed(yield* server.ask("tasks/get", { taskId }))
      assert.strictEqual(logs.filter((line) => line.includes("Rates cannot be counted")).length, 1)
    }))
})
