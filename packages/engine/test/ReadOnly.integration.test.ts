/** Storages that can be read and not written for a while: whether a process notices, says so, and comes back. */
import { Embedded, Health, Replicated, Storage, TaskStore } from "@effect-mcp-tasks/engine"
import { working } from "@effect-mcp-tasks/testing/StoredTasks"
import { PgClient } from "@effect/sql-pg"
import { assert, describe } from "@effect/vitest"
import { Array as Arr, Context, Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import * as clients from "./clients.ts"
import * as OwnServer from "./OwnServer.ts"
import { test } from "./ServerStores.ts"
import * as services from "./services.ts"
import { toolsOf } from "./TestTools.ts"

/** A storage, and what makes it read-only and takes that back. */
interface Place<E> {
  readonly one: Layer.Layer<TaskStore.TaskStore, E>
  readonly many: Layer.Layer<Storage.Storage, E>
  readonly forbid: Effect.Effect<unknown, unknown>
  readonly allow: Effect.Effect<unknown, unknown>
}

const redisPlace = Effect.gen(function*() {
  const { url } = yield* OwnServer.redis()
  const send = (...words: [string, ...ReadonlyArray<string>]) =>
    Effect.flatMap(Layer.build(Layer.fresh(clients.redis(url))), (context) => {
      const redis = Context.get(context, Redis.Redis)
      return redis.send(...words)
    }).pipe(Effect.scoped)
  return {
    one: Layer.provide(TaskStore.layerRedis, clients.redis(url)),
    many: Layer.provide(Storage.layerRedis, clients.redis(url)),
    // Nobody listens there: the replica goes on to serve what it has, for reading.
    forbid: send("REPLICAOF", "127.0.0.1", "1"),
    allow: send("REPLICAOF", "NO", "ONE")
  }
})

const postgresClient = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 6 })

/** Sessions keep the setting with which they began. */
const postgresSwitch = ({ administer, name }: Effect.Success<ReturnType<typeof services.postgresNewDatabase>>) => ({
  forbid: Effect.andThen(
    administer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`),
    administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  ),
  allow: administer(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
})

const postgresPlace = (url: string) =>
  Effect.map(services.postgresNewDatabase(url), (database) => ({
    one: Layer.provide(TaskStore.layerSql, postgresClient(database.url)),
    many: Layer.provide(Storage.layerPostgres, postgresClient(database.url)),
    ...postgresSwitch(database)
  }))

/** How long it is watched: longer than the longest pause of a loop, and than its rests. */
const watched = { schedule: Schedule.spaced("20 millis"), times: 400 }

const noticed = Effect.fnUntraced(function*<E, E2>(
  engine: Layer.Layer<Health.Health, E>,
  { allow, forbid }: Pick<Place<E2>, "allow" | "forbid">
) {
  const health = Context.get(yield* Layer.build(Layer.provide(engine, clients.quiet)), Health.Health)
  const until = (isSo: (readiness: Health.Readiness) => boolean) =>
    Effect.repeat(health.ready, { until: isSo, schedule: Schedule.spaced("20 millis") }).pipe(
      Effect.timeout("1 minute")
    )
  yield* until(({ isReady }) => isReady)
  yield* forbid
  yield* until(({ loops }) => loops["sweep"] === "failing")
  yield* Effect.repeat(
    Effect.map(health.ready, ({ isReady, loops }) => assert.isFalse(isReady, JSON.stringify(loops))),
    watched
  )
  yield* allow
  yield* until(({ isReady }) => isReady)
})

const suite = <E, E2>(place: Effect.Effect<Place<E>, E2, Scope.Scope>) => {
  test("is not served by a process that has nothing to do, until it may be written", Effect.gen(function*() {
    const where = yield* place
    yield* noticed(Embedded.layer.pipe(Layer.provide([where.one, toolsOf({})])), where)
  }))

  test("is not served by an idle replica, until it may be written", Effect.gen(function*() {
    const where = yield* place
    yield* noticed(Replicated.layerWith({ lease: "15 seconds" }).pipe(Layer.provide([where.many, toolsOf({})])), where)
  }))
}

services.withService(services.redisBinary, () => {
  describe("a Redis that is read-only", () => {
    suite(redisPlace)
  })
})

services.withService(services.postgres, (url) => {
  describe("a Postgres that is read-only", () => {
    suite(postgresPlace(url))

    test("has its sessions ended, all of them, so that the next ones may write", Effect.gen(function*() {
      const database = yield* services.postgresNewDatabase(url)
      const { allow, forbid } = postgresSwitch(database)
      const context = yield* Layer.build(Layer.provideMerge(TaskStore.layerSql, postgresClient(database.url)))
      const store = Context.get(context, TaskStore.TaskStore)
      const sql = Context.get(context, SqlClient.SqlClient)
      let made = 0
      const create = Effect.suspend(() => store.create(working({ taskId: `task-${made++}` }), { maxLive: 1_000 }))
      const crowd = <A, E>(each: Effect.Effect<A, E>) =>
        Effect.all(Arr.replicate(each, 6), { concurrency: "unbounded" })
      yield* forbid
      const refused = yield* crowd(Effect.flip(create))
      assert.isTrue(refused.some((error) => error._tag === "TaskStoreError" && error.reason === "ReadOnly"))
      yield* allow
      // As a transaction of its caller's, which holds its connection, and on connections of its own.
      yield* Effect.retry(sql.withTransaction(create), { schedule: Schedule.spaced("100 millis"), times: 600 })
      yield* Effect.retry(crowd(create), { schedule: Schedule.spaced("100 millis"), times: 600 })
      yield* crowd(create)
    }))
  })
})
