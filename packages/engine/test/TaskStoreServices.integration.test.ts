import { TaskStore } from "@effect-mcp-tasks/engine"
import { Layer } from "effect"
import { redisStore } from "./ServerStores.ts"
import * as services from "./services.ts"
import { suite } from "./TaskStoreTest.ts"

/** The suite keeps records larger than the client reads by default. */
const postgresStore = (url: string) =>
  Layer.provide(TaskStore.layerSql, services.postgresClient(url, { maxMessageSize: 64 * 1024 * 1024 }))

services.withService(services.redis, (url) => suite("TaskStore.layerRedis", redisStore(url)))

services.withService(services.postgres, (url) =>
  suite("TaskStore.layerSql on Postgres", postgresStore(url), { countsExactly: false }))
