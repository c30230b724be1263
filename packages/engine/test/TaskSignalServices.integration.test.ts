import { TaskSignal } from "@effect-mcp-tasks/engine"
import { Effect, Layer } from "effect"
import * as clients from "./clients.ts"
import * as services from "./services.ts"
import { end, suite } from "./TaskSignalTest.ts"

services.withService(services.redis, (url) =>
  suite("TaskSignal.layerRedis", Effect.suspend(() => {
    const layer = Layer.provide(
      TaskSignal.layerRedisWith({ channel: services.uniqueName() }),
      clients.redis(url)
    )
    return Effect.all({ here: end(layer), there: end(layer) })
  })))

services.withService(services.postgres, (url) => {
  suite("TaskSignal.layerPostgres", Effect.suspend(() => {
    const layer = Layer.provide(
      TaskSignal.layerPostgresWith({ channel: services.uniqueName() }),
      clients.postgres(url, "public")
    )
    return Effect.all({ here: end(layer), there: end(layer) })
  }))

  suite("TaskSignal.layerPoll on Postgres", Effect.gen(function*() {
    const layer = TaskSignal.layerPollWith({ interval: "50 millis" })
    const client = yield* Layer.build(services.postgresClient(url))
    return yield* Effect.provide(Effect.all({ here: end(layer), there: end(layer) }), client)
  }))
})
