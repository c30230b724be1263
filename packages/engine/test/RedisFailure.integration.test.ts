import { TaskStore } from "@effect-mcp-tasks/engine"
import { working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe } from "@effect/vitest"
import { Array as Arr, Context, Effect, Fiber, Layer, Option, Schedule } from "effect"
import { Redis } from "effect/persistence"
import * as OwnServer from "./OwnServer.ts"
import { failing, failures, open, soon, test, warmUp } from "./ServerStores.ts"
import * as services from "./services.ts"
import * as TcpProxy from "./TcpProxy.ts"

const maxLive = 1_000_000

services.withService(services.redisBinary, () => {
  describe("a Redis server", () => {
    test("that forgets its scripts is sent them again, and each call counts once", Effect.gen(function*() {
      const { url } = yield* OwnServer.redis()
      const { redis, store } = yield* open(url)
      let held = yield* store.create(working(), { maxLive })
      const flushing = Effect.repeat(redis.send("SCRIPT", "FLUSH"), { times: 200 })
      const creating = Effect.forEach(
        Arr.range(1, 500),
        (n) => store.create(working({ taskId: `other-${n}` }), { maxLive }),
        { concurrency: 20 }
      )
      const replacing = Effect.gen(function*() {
        for (let n = 1; n <= 500; n++) held = yield* store.replace(held, working({ statusMessage: `${n}` }))
      })
      yield* Effect.all([flushing, creating, replacing], { concurrency: "unbounded" })
      assert.strictEqual(held.version, 501)
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
      assert.strictEqual(yield* store.countLive("ada"), 501)
    }))

    test("that is killed fails every operation at once, and is used again when it is back", Effect.gen(function*() {
      const server = yield* OwnServer.redis("--appendonly", "yes", "--appendfsync", "always")
      const { store } = yield* open(server.url)
      const held = yield* store.create(working(), { maxLive })
      yield* server.kill()
      assert.deepStrictEqual(yield* Effect.timeout(failures(store), "20 seconds"), failing("ConnectionLost"))
      yield* server.start
      assert.deepStrictEqual(yield* soon(store.read("task-1")), Option.some(held))
      assert.strictEqual((yield* store.replace(held, working({ statusMessage: "back" }))).version, 2)
    }))

    test("that is replaced by an empty one knows no task, and takes new ones", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { store } = yield* open(server.url)
      const held = yield* store.create(working(), { maxLive })
      yield* server.kill()
      yield* server.start
      assert.deepStrictEqual(yield* soon(store.read("task-1")), Option.none())
      assert.instanceOf(yield* Effect.flip(store.replace(held, working())), TaskStore.VersionConflict)
      assert.strictEqual(yield* store.countLive("ada"), 0)
      assert.deepStrictEqual(yield* store.create(working(), { maxLive: 1 }), held)
    }))

    test("whose connection goes silent without an end is connected to anew", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const proxy = yield* TcpProxy.make(server.port)
      const { redis, store } = yield* open(`redis://127.0.0.1:${proxy.port}`, { timeout: "500 millis" })
      const held = yield* store.create(working(), { maxLive })
      const connection = yield* redis.send<number>("CLIENT", "ID")
      // Twice, since what watches the first connection must watch the next one too.
      for (let round = 1; round <= 2; round++) {
        yield* proxy.silence
        const error = yield* Effect.flip(store.read("task-1"))
        assert.deepStrictEqual([error.reason, error.mayHaveHappened], ["Unavailable", true])
        const read = Effect.retry(store.read("task-1"), Schedule.spaced("100 millis"))
        assert.deepStrictEqual(yield* Effect.timeout(read, "30 seconds"), Option.some(held))
        assert.strictEqual(yield* proxy.connections, 1)
      }
      assert.notStrictEqual(yield* redis.send<number>("CLIENT", "ID"), connection)
    }))

    test("whose new connection goes silent before it is of use is connected to once more", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const proxy = yield* TcpProxy.make(server.port)
      const { redis, store } = yield* open(`redis://127.0.0.1:${proxy.port}`)
      const held = yield* store.create(working(), { maxLive })
      yield* proxy.loseReplies
      yield* proxy.cut
      yield* soon(Effect.filterOrFail(proxy.connections, (connections) => connections === 1))
      yield* Effect.sleep("500 millis")
      yield* proxy.silence
      yield* proxy.pass
      const read = Effect.retry(store.read("task-1"), Schedule.spaced("100 millis"))
      assert.deepStrictEqual(yield* Effect.timeout(read, "30 seconds"), Option.some(held))
      assert.strictEqual(yield* redis.send("PING"), "PONG")
    }))

    test("that is slow keeps its connection", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url, { timeout: "300 millis" })
      const connection = yield* redis.send<number>("CLIENT", "ID")
      for (let round = 1; round <= 3; round++) {
        yield* server.pause
        for (let n = 1; n <= 5; n++) yield* Effect.flip(store.read("task-1"))
        yield* server.resume
        assert.deepStrictEqual(yield* soon(store.read("task-1")), Option.none())
      }
      yield* Effect.sleep("5 seconds")
      assert.strictEqual(yield* redis.send<number>("CLIENT", "ID"), connection)
    }))

    test("that stands still fails in time, and may do later what it was asked", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      // Without the client, nobody can end the connection and make a new one.
      const { redis } = yield* open(server.url)
      const context = yield* Layer.build(
        Layer.fresh(TaskStore.layerRedisWith({ timeout: "900 millis" })).pipe(
          Layer.provide(Layer.succeed(Redis.Redis, redis))
        )
      )
      const store = Context.get(context, TaskStore.TaskStore)
      const held = yield* store.create(working(), { maxLive })
      yield* store.create(working({ taskId: "old" }), { maxLive })
      yield* warmUp(store)
      yield* server.pause
      assert.deepStrictEqual(yield* failures(store), failing("Unavailable"))
      const late = yield* Effect.flip(store.replace(held, working({ statusMessage: "late" })))
      assert.instanceOf(late, TaskStore.TaskStoreError)
      assert.isTrue(late.mayHaveHappened)
      assert.match(String(late.cause), /did not answer within 900ms/)
      yield* server.resume
      // All of it was on its way. The first replacement was carried out, the second found its version gone.
      const read = Option.getOrThrow(yield* soon(store.read("task-1")))
      assert.deepStrictEqual([read.version, read.task.statusMessage], [2, "replaced"])
      assert.deepStrictEqual((yield* store.list({ limit: 9 })).map(({ task }) => task.taskId), ["new", "task-1"])
    }))

    test("whose answer is lost may have written: a second try says that somebody wrote", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const proxy = yield* TcpProxy.make(server.port)
      const { store: witness } = yield* open(server.url)
      const { store } = yield* open(`redis://127.0.0.1:${proxy.port}`)
      const held = yield* store.create(working(), { maxLive })
      yield* warmUp(store)
      yield* proxy.loseReplies
      const next = working({ statusMessage: "mine" })
      const writing = yield* Effect.forkChild(Effect.flip(store.replace(held, next)))
      yield* soon(Effect.filterOrFail(witness.read("task-1"), (read) => Option.getOrThrow(read).version === 2))
      yield* proxy.pass
      yield* proxy.cut
      const error = yield* Fiber.join(writing)
      assert.instanceOf(error, TaskStore.TaskStoreError)
      assert.deepStrictEqual([error.reason, error.mayHaveHappened], ["ConnectionLost", true])
      const again = yield* soon(Effect.flip(store.replace(held, next)).pipe(
        Effect.filterOrFail((error) => error instanceof TaskStore.VersionConflict)
      ))
      assert.deepStrictEqual([again.taskId, again.version], ["task-1", 1])
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: next, version: 2 }))
    }))

    test("that is made a replica refuses to write, and writes again as a primary", Effect.gen(function*() {
      const primary = yield* OwnServer.redis()
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      const held = yield* store.create(working(), { maxLive })
      yield* store.create(working({ taskId: "old" }), { maxLive })
      // Nobody listens there: the replica goes on to serve what it has, for reading.
      yield* primary.kill()
      yield* redis.send("REPLICAOF", "127.0.0.1", String(primary.port))
      const refusal = yield* Effect.flip(store.replace(held, working()))
      assert.instanceOf(refusal, TaskStore.TaskStoreError)
      assert.strictEqual(refusal.reason, "ReadOnly")
      assert.isFalse(refusal.mayHaveHappened)
      assert.strictEqual(
        refusal.message,
        "The task store could not replace: it is read-only: a replica, or a primary that was demoted"
      )
      // The store has ended its connection, and does so again in 5 seconds at the earliest.
      yield* soon(redis.send("PING"))
      assert.deepStrictEqual(yield* failures(store), failing("ReadOnly", "writes"))
      yield* soon(redis.send("REPLICAOF", "NO", "ONE"))
      assert.strictEqual((yield* store.replace(held, working())).version, 2)
    }))

    test("that waits for its primary is not ready", Effect.gen(function*() {
      const primary = yield* OwnServer.redis()
      const server = yield* OwnServer.redis("--replica-serve-stale-data", "no")
      const { redis, store } = yield* open(server.url)
      yield* store.create(working(), { maxLive })
      yield* primary.kill()
      yield* redis.send("REPLICAOF", "127.0.0.1", String(primary.port))
      assert.deepStrictEqual(yield* failures(store), failing("NotReady"))
    }))

    test("fails over to its replica behind one address, and the store goes on", Effect.gen(function*() {
      const primary = yield* OwnServer.redis()
      const replica = yield* OwnServer.redis()
      const address = yield* TcpProxy.make(primary.port)
      const { redis: second, store: witness } = yield* open(replica.url)
      const { redis, store } = yield* open(`redis://127.0.0.1:${address.port}`)
      yield* second.send("REPLICAOF", "127.0.0.1", String(primary.port))
      const link = second.send<string>("INFO", "replication")
      yield* soon(Effect.filterOrFail(link, (info) => info.includes("master_link_status:up")))
      const held = yield* store.create(working(), { maxLive })
      assert.strictEqual(yield* redis.send("WAIT", "1", "5000"), 1)
      yield* primary.kill()
      assert.strictEqual((yield* failures(store)).create, "ConnectionLost")
      yield* second.send("REPLICAOF", "NO", "ONE")
      yield* address.redirect(replica.port)
      const replaced = yield* soon(store.replace(held, working({ statusMessage: "after" })))
      assert.deepStrictEqual(yield* witness.read("task-1"), Option.some(replaced))
      assert.deepStrictEqual(yield* store.due(Number.MAX_SAFE_INTEGER, 10), [
        { taskId: "task-1", version: 2, live: true }
      ])
    }))

    test("that is demoted and keeps its connections is left for the new primary", Effect.gen(function*() {
      const primary = yield* OwnServer.redis()
      const replica = yield* OwnServer.redis()
      const address = yield* TcpProxy.make(primary.port)
      const { redis: first } = yield* open(primary.url)
      const { redis: second, store: witness } = yield* open(replica.url)
      const { redis, store } = yield* open(`redis://127.0.0.1:${address.port}`)
      yield* second.send("REPLICAOF", "127.0.0.1", String(primary.port))
      const link = second.send<string>("INFO", "replication")
      yield* soon(Effect.filterOrFail(link, (info) => info.includes("master_link_status:up")))
      const held = yield* store.create(working(), { maxLive })
      // It waits for what its own connection has written.
      assert.strictEqual(yield* redis.send("WAIT", "1", "5000"), 1)
      yield* second.send("REPLICAOF", "NO", "ONE")
      yield* address.redirect(replica.port)
      yield* first.send("REPLICAOF", "127.0.0.1", String(replica.port))
      const replaced = yield* soon(store.replace(held, working({ statusMessage: "after" })))
      assert.deepStrictEqual(yield* witness.read("task-1"), Option.some(replaced))
    }))

    test("that is full refuses whole, lets tasks be removed, and takes new ones then", Effect.gen(function*() {
      const server = yield* OwnServer.redis("--maxmemory", "8mb", "--maxmemory-policy", "noeviction")
      const { redis, store } = yield* open(server.url)
      const held = yield* store.create(working({ taskId: "first" }), { maxLive })
      const big = (taskId: string) => working({ taskId, arguments: { blob: "x".repeat(64 * 1024) } })
      const created: Array<string> = []
      const filling = Effect.gen(function*() {
        while (created.length < 1_000) {
          const taskId = `task-${created.length}`
          yield* store.create(big(taskId), { maxLive })
          created.push(taskId)
        }
      })
      const refusal = yield* Effect.flip(filling)
      assert.instanceOf(refusal, TaskStore.TaskStoreError)
      assert.deepStrictEqual([refusal.reason, refusal.mayHaveHappened], ["Full", false])
      assert.isAbove(created.length, 10)
      const full = yield* Effect.flip(store.replace(held, big("first")))
      assert.strictEqual(full._tag === "TaskStoreError" && full.reason, "Full")
      // Reading goes on, and nothing is there by half.
      const listed = (yield* store.list({ limit: 1_000 })).map(({ task }) => task.taskId)
      assert.deepStrictEqual(listed, ["first", ...created].toSorted())
      assert.strictEqual(yield* store.countLive("ada"), listed.length)
      assert.strictEqual((yield* redis.send<ReadonlyArray<string>>("KEYS", "*:task:*")).length, listed.length)
      for (const taskId of created.splice(0, 20)) assert.isTrue(yield* store.remove(taskId, 1))
      yield* soon(store.create(big("new"), { maxLive }))
      assert.strictEqual((yield* store.replace(held, working({ taskId: "first" }))).version, 2)
    }))
  })
})
