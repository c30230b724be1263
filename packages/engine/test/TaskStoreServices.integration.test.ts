import { TaskStore } from "@effect-mcp-tasks/engine"
import { Effect, Layer } from "effect"
import * as services from "./services.ts"
import { suite } from "./TaskStoreTest.ts"

/** A store under keys of its own, which go with the scope. */
const redisStore = (url: string) =>
  Layer.unwrap(Effect.sync(() => {
    const prefix = services.uniqueName()
    return Layer.merge(TaskStore.layerRedisWith({ prefix }), services.dropKeysAfter(`{${prefix}}*`)).pipe(
      Layer.provide(services.redisClient(url))
    )
  }))

/** The suite keeps records larger than the client reads by default. */
const postgresStore = (url: string) =>
  Layer.provide(TaskStore.layerSql, services.postgresClient(url, { maxMessageSize: 64 * 1024 * 1024 }))

services.withService(services.redis, (url) => suite("TaskStore.layerRedis", redisStore(url)))

services.withService(services.postgres, (url) =>
  suite("TaskStore.layerSql on Postgres", postgresStore(url), { countsExactly: false }))
