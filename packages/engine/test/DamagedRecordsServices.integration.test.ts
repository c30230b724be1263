/** Damage done to one task on a server must not keep a process from the tasks beside it. */
import { TaskEngine, TaskLimits, TaskSignal, TaskStore, TaskSweeper } from "@effect-mcp-tasks/engine"
import { completed, working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { Redis } from "effect/persistence"
import * as SqlClient from "effect/sql/SqlClient"
import * as clients from "./clients.ts"
import { test } from "./ServerStores.ts"
import * as services from "./services.ts"

const maxLive = 10

const engine = TaskEngine.layer.pipe(
  Layer.provide([TaskSignal.layerMemory, SecureRandom.layerWebCrypto, TaskLimits.layer({})])
)

const old = (taskId: string) => working({ taskId, createdAt: 0, lastUpdatedAt: 0, ttlMs: taskId.length })

/**
 * One task of three is damaged, the first in every order: the others are listed, found when due, expired and removed.
 */
const leavesOthers = Effect.fnUntraced(function*<E, R>(damage: Effect.Effect<unknown, E, R>, isSeenByPolls = true) {
  const store = yield* TaskStore.TaskStore
  for (const taskId of ["bad", "live", "over-1"]) {
    const stored = yield* store.create(old(taskId), { maxLive })
    if (taskId.startsWith("over")) yield* store.replace(stored, { ...completed(old(taskId)), ttlMs: 9 })
  }
  yield* damage
  const polled = Effect.flip(store.view("bad"))
  if (isSeenByPolls) assert.strictEqual((yield* polled).reason, "Corrupt")
  for (const options of [{ limit: 1, live: true }, { limit: 5, live: true }, { limit: 5, live: true, owner: "ada" }]) {
    assert.deepStrictEqual((yield* store.list(options)).map(({ task }) => task.taskId), ["live"])
  }
  assert.deepStrictEqual((yield* store.list({ limit: 2 })).map(({ task }) => task.taskId), ["live", "over-1"])
  assert.strictEqual((yield* polled).reason, "Corrupt")
  assert.strictEqual((yield* Effect.flip(store.read("bad"))).reason, "Corrupt")
  const sweep = TaskSweeper.sweep(1)
  yield* Effect.provide(Effect.repeat(sweep, { times: 6 }), engine)
  const left = yield* store.list({ limit: 5 })
  assert.deepStrictEqual(left.map(({ task }) => [task.taskId, task.status]), [["live", "failed"]])
})

const redisDamages: ReadonlyArray<readonly [name: string, ...command: ReadonlyArray<string>]> = [
  ["version", "HSET", "version", "two"], ["version", "HSET", "version", "9007199254740993"],
  ["version", "HSET", "version", "-1"], ["version", "HDEL", "version"],
  ["owner", "HDEL", "owner"], ["owner", "HSET", "owner", "bob"],
  ["life", "HDEL", "live"], ["life", "HSET", "live", "yes"],
  ["deadline", "HSET", "due", "soon", "body", ""],
  ["body", "HDEL", "body"], ["body", "HSET", "body", "{"], ["body", "HSET", "body", "null"],
  ["head", "HDEL", "head", "body"], ["head", "HSET", "head", "{}", "body", ""],
  ["all but texts", "HDEL", "version", "owner", "live", "due"]
]

services.withService(services.redis, (url) => {
  describe("a damaged task in Redis", () => {
    for (const [name, command = "", ...args] of redisDamages) {
      test(`leaves the others alone: ${name}, ${command} ${args.join(" ")}`, Effect.gen(function*() {
        const prefix = services.uniqueName()
        const layer = TaskStore.layerRedisWith({ prefix }).pipe(
          Layer.provideMerge(clients.redis(url)),
          Layer.provide(clients.quiet)
        )
        const damage = Effect.flatMap(Redis.Redis, ({ send }) => send(command, `{${prefix}}:task:bad`, ...args))
        yield* Effect.provide(
          leavesOthers(damage, name !== "body").pipe(
            Effect.ensuring(Effect.scoped(Layer.build(services.dropKeysAfter(`{${prefix}}*`))))
          ),
          [layer, clients.quiet]
        )
      }))
    }

    for (const [kind, ...command] of [["text", "SET", "x"], ["a list", "RPUSH", "x"]] as const) {
      test(`leaves the others alone: its key is ${kind}`, Effect.gen(function*() {
        const prefix = services.uniqueName()
        const layer = TaskStore.layerRedisWith({ prefix }).pipe(
          Layer.provideMerge(clients.redis(url)),
          Layer.provide(clients.quiet)
        )
        const key = `{${prefix}}:task:bad`
        const damage = Effect.flatMap(Redis.Redis, ({ send }) =>
          Effect.andThen(send("DEL", key), send(command[0], key, command[1])))
        yield* Effect.provide(
          leavesOthers(damage).pipe(
            Effect.ensuring(Effect.scoped(Layer.build(services.dropKeysAfter(`{${prefix}}*`))))
          ),
          [layer, clients.quiet]
        )
      }))
    }
  })
})

const postgresDamages = [
  "version = -1", "version = 0", "version = 2147483647", "live = 7, body = '{'", "owner = 'bob'",
  "due_at = -9223372036854775808, body = ''", "due_at = 1, body = 'null'", "body = ''", "body = '{'",
  "head = '', body = ''", "head = '{', result = '}', body = '[]'"
]

services.withService(services.postgres, (url) => {
  describe("a damaged task in Postgres", () => {
    for (const damage of postgresDamages) {
      test(`leaves the others alone: ${damage}`, Effect.gen(function*() {
        const schema = yield* services.postgresNewSchema(url)
        const layer = TaskStore.layerSql.pipe(Layer.provideMerge(clients.postgres(url, schema)))
        const broken = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE mcp_tasks SET ${sql.literal(damage)} WHERE task_id = 'bad'`
        )
        const isSeenByPolls = ["version", "owner", "live", "head"].some((column) => damage.startsWith(column))
        yield* Effect.provide(leavesOthers(broken, isSeenByPolls), [layer, clients.quiet])
      }))
    }
  })
})
