import { TaskStore } from "@effect-mcp-tasks/engine"
import { suite } from "@effect-mcp-tasks/testing/TaskStoreTest"
import { Effect, Layer } from "effect"
import * as clients from "./clients.ts"
import { redisPlace } from "./ServerStores.ts"
import * as services from "./services.ts"

/** The suite keeps records larger than the client reads by default. */
const maxMessageSize = 64 * 1024 * 1024

/** A new schema, and the store that a process has in it. */
const postgresPlace = (url: string) =>
  Effect.map(
    services.postgresNewSchema(url),
    (schema) => Layer.provide(TaskStore.layerSql, clients.postgres(url, schema, { maxMessageSize }))
  )

services.withService(services.redis, (url) => suite("TaskStore.layerRedis", redisPlace(url), { time: "real" }))

services.withService(services.postgres, (url) =>
  suite("TaskStore.layerSql on Postgres", postgresPlace(url), {
    lacks: { exactLimit: "creates that run at the same moment do not see each other" },
    time: "real"
  }))
