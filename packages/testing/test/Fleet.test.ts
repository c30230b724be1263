/** What becomes of the processes of a fleet once its test is over. */
import { TaskQueue, TaskSignal, TaskStore, TaskWorkers } from "@effect-mcp-tasks/engine"
import { Fleet } from "@effect-mcp-tasks/testing"
import { settle } from "@effect-mcp-tasks/testing/FleetTime"
import { call } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { PersistedQueue } from "effect/persistence"
import { TestClock } from "effect/testing"

const replicas = Layer.unwrap(Effect.map(PersistedQueue.PersistedQueueStore, (entries) =>
  Fleet.replicas({
    queue: Layer.provide(TaskQueue.layerStore, Layer.succeed(PersistedQueue.PersistedQueueStore, entries)),
    time: Effect.succeed(0)
  }))).pipe(Layer.provide([
    TaskStore.layerMemory,
    TaskWorkers.layerMemory,
    TaskSignal.layerMemory,
    PersistedQueue.layerStoreMemory
  ]))

const fleets: ReadonlyArray<readonly [name: string, fleet: Layer.Layer<Fleet.Fleet>]> = [
  ["one process", Layer.provide(Fleet.embedded, TaskStore.layerMemory)],
  ["replicas", replicas]
]

describe("a process that outlives its fleet", () => {
  for (const [name, fleet] of fleets) {
    const said: Array<unknown> = []
    it.effect(`says nothing more: ${name}`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(fleet, scope)
        const { link } = yield* Effect.provideContext(
          Effect.tap(Fleet.start({ once: () => Effect.never }, { lease: "1 second" }), (left) => call(left, "once")),
          context
        )
        yield* settle
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(link.isCut)
        said.length = 0
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(said, [])
      }).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => {
        said.push(message)
      })]))))
  }
})
