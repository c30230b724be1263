/** Replicas that share a server. Time passes by itself here. */
import { TaskQueue, TaskSignal, TaskStore, TaskWorkers } from "@effect-mcp-tasks/engine"
import { Fleet } from "@effect-mcp-tasks/testing"
import { suite } from "@effect-mcp-tasks/testing/TaskRunnerTest"
import { Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import * as clients from "./clients.ts"
import * as OutagesTest from "./OutagesTest.ts"
import * as services from "./services.ts"

const pollInterval = "50 millis"

/** Replicas under keys of their own, each with a queue client of its own. */
const onRedis = (url: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const prefix = services.uniqueName()
    const redis = yield* Redis.Redis
    return Fleet.replicas({
      queue: Layer.provide(
        TaskQueue.layerRedisWith({ prefix, pollInterval, lockExpiration: "1 second" }),
        Layer.succeed(Redis.Redis, redis)
      ),
      time: Effect.map(
        Effect.orDie(redis.send<ReadonlyArray<string>>("TIME")),
        ([seconds, micros]) => Number(seconds) * 1_000 + Number(micros) / 1_000
      )
    }).pipe(
      Layer.provide([
        TaskStore.layerRedisWith({ prefix }),
        TaskWorkers.layerRedisWith({ prefix }),
        TaskSignal.layerRedisWith({ channel: prefix }),
        services.dropKeysAfter(`{${prefix}}*`)
      ])
    )
  })).pipe(Layer.provide(clients.redis(url)))

/** Replicas in a schema of their own. */
const onPostgres = (url: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const now = sql<{ readonly now: number }>`SELECT
      CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS now`
    return Fleet.replicas({
      queue: Layer.provide(
        TaskQueue.layerSqlWith({ pollInterval, lockExpiration: "1 second" }),
        Layer.succeed(SqlClient.SqlClient, sql)
      ),
      time: Effect.map(Effect.orDie(now), ([row]) => row?.now ?? Number.NaN)
    }).pipe(
      Layer.provide([
        TaskStore.layerSql,
        TaskWorkers.layerSql,
        TaskSignal.layerPostgresWith({ channel: services.uniqueName() })
      ])
    )
  })).pipe(Layer.provide(services.postgresClient(url, { maxConnections: 8 })))

const lacks = { virtualTime: "the server's clock goes by itself" }

const declare = <E>(name: string, fleet: Layer.Layer<Fleet.Fleet, E>) => {
  suite(`TaskRunner.layerQueue on ${name}`, fleet, { lacks })
  OutagesTest.suite(`an outage of ${name}`, fleet, "real")
}

services.withService(services.redis, (url) => declare("Redis", onRedis(url)))
services.withService(services.postgres, (url) => declare("Postgres", onPostgres(url)))
