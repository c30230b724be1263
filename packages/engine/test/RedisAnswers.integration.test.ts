/** A client of Redis tells answers apart by their order alone: whose is which, and what if it has lost count. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe } from "@effect/vitest"
import { Array as Arr, Context, Effect, Fiber, Layer, Option } from "effect"
import { Redis } from "effect/persistence"
import * as clients from "./clients.ts"
import * as OwnServer from "./OwnServer.ts"
import { open, soon, test } from "./ServerStores.ts"
import * as services from "./services.ts"
import * as TcpProxy from "./TcpProxy.ts"

/** Asks for different texts at once, each of which is to come back as it is; says of each whether it did. */
const asking = (redis: Redis.Redis["Service"], round: string, size: number) =>
  Effect.forEach(Arr.range(1, 20), (n) => {
    const text = `${round}/${n}/`.padEnd(size, "x")
    return Effect.map(Effect.option(redis.send<string>("ECHO", text)), (heard) => {
      if (Option.isSome(heard)) assert.strictEqual(heard.value.slice(0, 20), text.slice(0, 20))
      return Option.isSome(heard)
    })
  }, { concurrency: "unbounded" })

/** The same Redis, which is asked about one task whenever `isAstray` and somebody asks about another. */
const astray = (redis: Redis.Redis["Service"], about: string, isAstray: () => boolean): Redis.Redis["Service"] => ({
  ...redis,
  send: (command, ...args) =>
    redis.send(command, ...(command === "HMGET" && isAstray() ? [about, ...args.slice(1)] : args))
})

services.withService(services.redisBinary, () => {
  describe("an answer of Redis", () => {
    test("that comes when nobody waits for it any more is given to nobody else", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis } = yield* open(server.url)
      yield* server.pause
      const waiting = yield* Effect.forkChild(asking(redis, "given up", 1_000))
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(Fiber.join(waiting), "100 millis")))
      yield* Fiber.interrupt(waiting)
      const later = yield* Effect.forkChild(asking(redis, "later", 1_000))
      yield* server.resume
      assert.notInclude(yield* Fiber.join(later), false)
    }))

    test("that is cut off in the middle is given to nobody, and what follows begins anew", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const proxy = yield* TcpProxy.make(server.port)
      const { redis } = yield* open(`redis://127.0.0.1:${proxy.port}`)
      let lost = 0
      for (const round of Arr.range(1, 5)) {
        const heard = yield* Effect.forkChild(asking(redis, `cut ${round}`, 2_000_000))
        yield* redis.send("PING")
        yield* proxy.cut
        lost += (yield* Fiber.join(heard)).filter((isHeard) => !isHeard).length
        yield* soon(redis.send("PING"))
        assert.notInclude(yield* asking(redis, `after ${round}`, 1_000), false)
      }
      assert.isAbove(lost, 0)
    }))

    test("about another task is no answer, and the connection is made anew", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis } = yield* open(server.url)
      let isAstray = false
      const context = yield* Layer.build(TaskStore.layerRedisWith({ prefix: "some" }).pipe(
        Layer.provide([Layer.succeed(Redis.Redis, astray(redis, "{some}:task:other", () => isAstray)), clients.quiet])
      ))
      const store = Context.get(context, TaskStore.TaskStore)
      const held = yield* store.create(working(), { maxLive: 10 })
      yield* store.create(working({ taskId: "other", statusMessage: `not "taskId":"task-1"` }), { maxLive: 10 })
      const connection = yield* redis.send<number>("CLIENT", "ID")
      isAstray = true
      const read = yield* Effect.flip(store.read("task-1"))
      const next = yield* soon(redis.send<number>("CLIENT", "ID"))
      assert.notStrictEqual(next, connection)
      const view = yield* Effect.flip(store.view("task-1"))
      for (const error of [read, view]) {
        assert.deepStrictEqual([error.reason, error.isPermanent], ["Unavailable", false])
        assert.match(String(error.cause), /answered with another task/)
      }
      isAstray = false
      assert.deepStrictEqual(yield* soon(store.read("task-1")), Option.some(held))
      assert.strictEqual(Option.getOrThrow(yield* store.view("task-1")).taskId, "task-1")
      assert.strictEqual(yield* redis.send<number>("CLIENT", "ID"), next)
    }))
  })
})
