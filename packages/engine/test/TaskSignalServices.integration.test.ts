import { TaskSignal } from "@effect-mcp-tasks/engine"
import { suite } from "@effect-mcp-tasks/testing/TaskSignalTest"
import { Effect, Layer } from "effect"
import * as clients from "./clients.ts"
import * as services from "./services.ts"

services.withService(services.redis, (url) =>
  suite("TaskSignal.layerRedis", Effect.sync(() =>
    Layer.provide(TaskSignal.layerRedisWith({ channel: services.uniqueName() }), clients.redis(url)))))

services.withService(services.postgres, (url) => {
  suite("TaskSignal.layerPostgres", Effect.sync(() =>
    Layer.provide(TaskSignal.layerPostgresWith({ channel: services.uniqueName() }), clients.postgres(url, "public"))))

  suite("TaskSignal.layerPoll on Postgres", Effect.map(services.postgresNewSchema(url), (schema) =>
    Layer.provide(TaskSignal.layerPollWith({ interval: "50 millis" }), clients.postgres(url, schema))))
})
