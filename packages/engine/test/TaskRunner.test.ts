import { TaskQueue, TaskSignal, TaskStore, TaskWorkers } from "@effect-mcp-tasks/engine"
import { Clock, Effect, Layer } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import * as FaultsTest from "./FaultsTest.ts"
import * as Fleet from "./Fleet.ts"
import * as ReplicasTest from "./ReplicasTest.ts"
import * as ShutdownTest from "./ShutdownTest.ts"
import * as TaskDatabase from "./TaskDatabase.ts"
import { suite } from "./TaskRunnerTest.ts"

const virtualTime = true

suite("TaskRunner.layerFiber in memory", Layer.provide(Fleet.embedded, TaskStore.layerMemory), {
  replicas: false,
  virtualTime
})

/** Replicas whose queue is one object for all of them. */
const inMemory = Layer.unwrap(
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
const onSqlite = Layer.unwrap(
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

for (const [name, layer] of [["memory", inMemory], ["SQLite", onSqlite]] as const) {
  const capabilities = { replicas: true, virtualTime }
  suite(`TaskRunner.layerQueue on ${name}`, layer, capabilities)
  ReplicasTest.suite(`replicas on ${name}`, layer, capabilities)
  ShutdownTest.suite(`a replica that goes away, on ${name}`, layer, capabilities)
  FaultsTest.suite(`replicas in trouble, on ${name}`, layer, capabilities)
}
