/** A worker that was offered what a dead one had, and has not yet seen for itself that it is dead. */
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { call } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { inMemory } from "./FleetLayers.ts"

const { becomes, until } = FleetTime.of("test")
const quick: Fleet.ProcessOptions = { lease: "1 second", grace: "0 seconds", scan: "1 hour" }

describe("a worker that has only begun to watch", () => {
  // Whose turn it is to look for the dead goes by the names of the workers, which are drawn.
  for (const round of Arr.range(1, 8)) {
    it.effect(`takes up what was offered to it, once it sees that its worker is dead (${round})`, () =>
      Effect.gen(function*() {
        const watching = yield* Fleet.start({}, { ...quick, concurrency: 0 })
        const dying = yield* Fleet.start({ resumable: () => Effect.never }, quick)
        yield* TestClock.adjust("3 seconds")
        const taskId = yield* call(watching, "resumable")
        const { store } = yield* Fleet.Fleet
        const task = Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task)
        yield* until("it runs", Effect.map(task, ({ attempt }) => attempt === 1))
        yield* dying.kill
        yield* TestClock.adjust("600 millis")
        yield* Fleet.start({}, quick)
        yield* TestClock.adjust("5 seconds")
        yield* becomes(watching, taskId, "completed")
        assert.strictEqual((yield* task).attempt, 2)
        assert.isBelow((yield* task).lastUpdatedAt, 10_000)
      }).pipe(Effect.provide(inMemory, { local: true })))
  }
})
