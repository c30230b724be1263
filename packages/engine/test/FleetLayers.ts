/** Fleets on storage of this process. */
import { TaskQueue, TaskSignal, TaskStore, TaskWorkers } from "@effect-mcp-tasks/engine"
import { Fleet } from "@effect-mcp-tasks/testing"
import { Clock, Effect, Layer } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import * as TaskDatabase from "./TaskDatabase.ts"

/** One process at a time, with its handlers as fibers. */
export const embedded = Layer.provide(Fleet.embedded, TaskStore.layerMemory)

/** Replicas whose queue is one object for all of them. */
export const inMemory = Layer.unwrap(
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const queue = Layer.provide(
      TaskQueue.layerStore,
      Layer.succeed(PersistedQueue.PersistedQueueStore, yield* PersistedQueue.PersistedQueueStore)
    )
    return Fleet.replicas({ queue, time: Effect.sync(() => clock.currentTimeMillisUnsafe()) })
  })
).pipe(
  Layer.provide([
    TaskStore.layerMemory,
    TaskWorkers.layerMemory,
    TaskSignal.layerMemory,
    PersistedQueue.layerStoreMemory
  ])
)

/** Replicas over one SQLite file, each with a queue of its own in it. */
export const onSqlite = Layer.unwrap(
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const sql = Layer.succeed(SqlClient.SqlClient, yield* SqlClient.SqlClient)
    return Fleet.replicas({
      queue: Layer.provide(TaskQueue.layerSql, sql),
      time: Effect.sync(() => clock.currentTimeMillisUnsafe())
    })
  })
).pipe(
  Layer.provide([TaskWorkers.layerSql, TaskSignal.layerMemory]),
  Layer.provide(TaskDatabase.layer)
)
