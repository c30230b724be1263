import { TaskQueue, TaskSignal, TaskStore, TaskWorkers } from "@effect-mcp-tasks/engine"
import { Clock, Effect, Layer } from "effect"
import { PersistedQueue } from "effect/persistence"
import * as Fleet from "./Fleet.ts"
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

suite("TaskRunner.layerQueue in memory", inMemory, { replicas: true, virtualTime })
