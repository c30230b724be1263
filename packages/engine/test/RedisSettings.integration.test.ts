import { TaskStore } from "@effect-mcp-tasks/engine"
import { completed, createdAt, working } from "@effect-mcp-tasks/testing/StoredTasks"
import * as TaskStoreTest from "@effect-mcp-tasks/testing/TaskStoreTest"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Option } from "effect"
import { Redis } from "effect/persistence"
import * as clients from "./clients.ts"
import * as OwnServer from "./OwnServer.ts"
import { open, redisPlace, soon, test } from "./ServerStores.ts"
import * as services from "./services.ts"

const maxLive = 1_000_000

const durable = ["--appendonly", "yes", "--maxmemory-policy", "noeviction"]

/** What the log says while a store is built on a server. */
const warnings = Effect.fnUntraced(function*(...options: ReadonlyArray<string>) {
  const { url } = yield* OwnServer.redis(...options)
  return yield* logged(url)
})

const logged = Effect.fnUntraced(function*(url: string) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
  yield* Layer.build(Layer.fresh(TaskStore.layerRedis)).pipe(
    Effect.provide([Logger.layer([logger]), Layer.fresh(clients.redis(url))])
  )
  return lines
})

/** One node that has all slots refuses, as any does, a script whose keys are in several. */
const clusterUrl = await OwnServer.startRedisForFile("--cluster-enabled", "yes")

beforeAll(() =>
  clusterUrl === undefined ? undefined : Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const { redis } = yield* open(clusterUrl)
    yield* redis.send("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    yield* soon(Effect.filterOrFail(redis.send<string>("CLUSTER", "INFO"), (info) => info.includes("state:ok")))
    const scattered = yield* Effect.flip(redis.send("MGET", "a", "b"))
    assert.match(String(scattered.cause), /CROSSSLOT/)
  })))
)

const policies = ["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-ttl"]

services.withService(services.redisBinary, () => {
  describe("the settings of Redis are looked at when a store is built", () => {
    test("and are in order", Effect.map(warnings(...durable), (lines) => assert.deepStrictEqual(lines, [])))

    test("or snapshots are in order", Effect.map(warnings("--save", "60 1"), (lines) =>
      assert.deepStrictEqual(lines, [])))

    test("or nothing is kept on disk", Effect.map(warnings("--save", ""), (lines) =>
      assert.deepStrictEqual(lines, [
        "Warn Redis keeps nothing on disk: every task is lost when it restarts. Set appendonly to yes"
      ])))

    for (const policy of policies) {
      test(`or something may be evicted: ${policy}`, Effect.gen(function*() {
        const [line = "", ...others] = yield* warnings(...durable, "--maxmemory-policy", policy)
        assert.deepStrictEqual(others, [])
        assert.match(line, policy.startsWith("allkeys") ? /^Warn Redis may evict tasks/ : /^Warn Redis may evict keys/)
        assert.include(line, policy)
      }))
    }

    test("or it is a replica", Effect.gen(function*() {
      const primary = yield* OwnServer.redis()
      const [line = ""] = yield* warnings(...durable, "--replicaof", `127.0.0.1 ${primary.port}`)
      assert.match(line, /^Warn Redis is a read-only replica/)
    }))

    test("or may not be asked for, which keeps nobody from starting", Effect.gen(function*() {
      const [line = "", ...others] = yield* warnings("--rename-command", "CONFIG", "")
      assert.deepStrictEqual(others, [])
      assert.match(line, /^Info Redis was not checked for settings that lose tasks/)
    }))

    test("or cannot be asked for, which keeps nobody from starting either", Effect.gen(function*() {
      const server = yield* OwnServer.redis(...durable)
      const { redis } = yield* open(server.url)
      yield* server.kill()
      const built = Layer.build(Layer.fresh(TaskStore.layerRedis)).pipe(
        Effect.provideService(Redis.Redis, redis),
        Effect.provide(clients.quiet)
      )
      yield* Effect.timeout(built, "4 seconds")
    }))
  })

  describe("a Redis store", () => {
    test("gives no key a time to live", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      yield* store.replace(yield* store.create(working(), { maxLive }), completed(working()))
      yield* store.replace(
        yield* store.create(working({ taskId: "b" }), { maxLive }),
        working({ taskId: "b", statusMessage: "half-way" })
      )
      const keys = yield* redis.send<ReadonlyArray<string>>("KEYS", "*")
      assert.sameMembers([...keys], [
        "{mcp_tasks}:task:task-1", "{mcp_tasks}:task:b", "{mcp_tasks}:due", "{mcp_tasks}:ids", "{mcp_tasks}:live",
        "{mcp_tasks}:owned"
      ])
      for (const key of keys) assert.strictEqual(yield* redis.send("TTL", key), -1, key)
    }))

    test("leaves nothing behind of a task that was removed", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      for (const taskId of ["a", "b"]) {
        const held = yield* store.create(working({ taskId }), { maxLive })
        const ended = taskId === "a" ? yield* store.replace(held, completed(working({ taskId }))) : held
        assert.isTrue(yield* store.remove(taskId, ended.version))
      }
      assert.deepStrictEqual(yield* redis.send("KEYS", "*"), [])
    }))

    test("keeps stores of different prefixes apart", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { store: one } = yield* open(server.url)
      const { store: two } = yield* open(server.url, { prefix: "other" })
      const held = yield* one.create(working(), { maxLive: 1 })
      yield* two.create(working({ statusMessage: "other" }), { maxLive: 1 })
      yield* one.remove("task-1", held.version)
      assert.strictEqual(yield* two.countLive("ada"), 1)
      assert.strictEqual((yield* two.list({ limit: 10 })).length, 1)
    }))

    for (const prefix of ["", "{", "}", "a{b}c"]) {
      test(`refuses a prefix that would scatter its keys: "${prefix}"`, Effect.gen(function*() {
        const server = yield* OwnServer.redis()
        const exit = yield* Effect.exit(open(server.url, { prefix }))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }))
    }

    test("calls a record damaged that it did not write, and lists past it", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      const reason = <A>(effect: Effect.Effect<A, TaskStore.TaskStoreError>) =>
        Effect.map(Effect.flip(effect), ({ reason }) => reason)
      yield* store.create(working(), { maxLive })
      yield* redis.send("HSET", "{mcp_tasks}:task:task-1", "body", "{")
      assert.strictEqual(yield* reason(store.read("task-1")), "Corrupt")
      assert.isTrue(Option.isSome(yield* store.view("task-1")))
      assert.deepStrictEqual(yield* store.list({ limit: 1 }), [])
      assert.strictEqual(yield* reason(store.view("task-1")), "Corrupt")
      yield* redis.send("HDEL", "{mcp_tasks}:task:task-1", "head")
      assert.strictEqual(yield* reason(store.view("task-1")), "Corrupt")
      assert.isTrue(yield* store.remove("task-1", 1))
      yield* redis.send("SET", "{mcp_tasks}:task:task-2", "text")
      assert.strictEqual(yield* reason(store.read("task-2")), "Corrupt")
    }))

    test("changes nothing where one of its keys is used by something else, and says so", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      const held = yield* store.create(working(), { maxLive })
      const tasks = redis.send<ReadonlyArray<string>>("KEYS", "*:task:*")
      const cases: ReadonlyArray<readonly [index: string, refused: ReadonlyArray<string>]> = [
        ["due", ["create", "replace", "remove", "due"]],
        ["ids", ["create", "replace", "remove", "due", "list"]],
        ["live", ["create", "replace", "remove", "due"]],
        ["owned", ["create", "replace", "remove", "countLive"]]
      ]
      for (const [index, refused] of cases) {
        const key = `{mcp_tasks}:${index}`
        yield* redis.send("RENAME", key, "{mcp_tasks}:kept")
        yield* redis.send("SET", key, "foreign")
        const tries = {
          create: store.create(working({ taskId: "task-2" }), { maxLive }),
          replace: store.replace(held, completed(working())),
          remove: store.remove("task-1", 1),
          due: store.due(0, 1),
          list: store.list({ limit: 1 }),
          countLive: store.countLive("ada")
        }
        for (const [operation, effect] of Object.entries<Effect.Effect<unknown, unknown>>(tries)) {
          if (!refused.includes(operation)) continue
          const error = yield* Effect.flip(effect)
          assert.instanceOf(error, TaskStore.TaskStoreError)
          assert.strictEqual(error.reason, "Misused", `${operation} without ${index}`)
          assert.match(error.message, /: one of its keys is used by something else$/)
          if (operation !== "countLive") assert.include(String(error.cause), `${key} is a string`)
        }
        yield* redis.send("RENAME", "{mcp_tasks}:kept", key)
        assert.deepStrictEqual(yield* store.list({ limit: 10, owner: "ada", live: true }), [held])
        assert.deepStrictEqual(yield* tasks, ["{mcp_tasks}:task:task-1"])
      }
      assert.deepStrictEqual(yield* store.due(Number.MAX_SAFE_INTEGER, 10), [
        { taskId: "task-1", version: 1, live: true }
      ])
      assert.strictEqual((yield* store.replace(held, completed(working()))).version, 2)
    }))

    test("drops from its index what Redis was told to evict, or it would come up for ever", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      for (const taskId of ["a", "b"]) yield* store.create(working({ taskId }), { maxLive })
      yield* redis.send("DEL", "{mcp_tasks}:task:a")
      const due = [{ taskId: "b", version: 1, live: true }]
      assert.deepStrictEqual(yield* store.due(createdAt + 60_000, 1), [])
      assert.deepStrictEqual(yield* store.due(createdAt + 60_000, 1), due)
      assert.deepStrictEqual(yield* store.read("a"), Option.none())
      assert.deepStrictEqual((yield* store.list({ limit: 10, live: true })).map(({ task }) => task.taskId), ["b"])
    }))

    test("finds few of many in strides that keep nobody waiting", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const { redis, store } = yield* open(server.url)
      const id = (n: number) => `task-${String(n).padStart(5, "0")}`
      const numbers = Array.from({ length: 3_000 }, (_, n) => n)
      yield* Effect.forEach(
        numbers,
        (n) => store.create(working({ taskId: id(n), owner: n % 1_000 === 999 ? "rare" : "ada" }), { maxLive }),
        { concurrency: 100, discard: true }
      )
      const ids = (options: Parameters<typeof store.list>[0]) =>
        Effect.map(store.list(options), (page) => page.map(({ task }) => task.taskId))
      const rare = [999, 1_999, 2_999].map(id)
      assert.deepStrictEqual(yield* ids({ owner: "rare", limit: 10 }), rare)
      assert.deepStrictEqual(yield* ids({ owner: "rare", live: true, limit: 10 }), rare)
      assert.deepStrictEqual(yield* ids({ owner: "rare", limit: 2 }), rare.slice(0, 2))
      assert.deepStrictEqual(yield* ids({ owner: "rare", live: true, limit: 2, after: rare[0] }), rare.slice(1))
      assert.deepStrictEqual(yield* ids({ live: false, limit: 10 }), [])
      assert.deepStrictEqual(yield* ids({ limit: 3_000 }), numbers.map(id))
      yield* redis.send("CONFIG", "RESETSTAT")
      yield* ids({ owner: "rare", limit: 10 })
      const stats = yield* redis.send<string>("INFO", "commandstats")
      assert.strictEqual(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1], "7")
    }))
  })

  describe("on a cluster", () => {
    TaskStoreTest.suite("TaskStore.layerRedis", redisPlace(clusterUrl ?? ""), { time: "real" })
  })
})

describe("TaskStore.layerRedisWith", () => {
  it("asks for nothing but Redis", () => {
    const layer: Layer.Layer<TaskStore.TaskStore, never, Redis.Redis> = TaskStore.layerRedisWith({})
    assert.isTrue(Layer.isLayer(layer))
  })
})
