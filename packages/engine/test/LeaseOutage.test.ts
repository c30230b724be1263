/** Workers that are alive, and whose storage was away for longer, or hardly less, than a lease. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { call } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Layer, Logger, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inMemory } from "./FleetLayers.ts"

const { becomes, until } = FleetTime.of("test")
const quick: Fleet.ProcessOptions = { lease: "3 seconds", grace: "0 seconds", scan: "2 seconds", concurrency: 1 }

/** Lets time pass in steps that are small beside a beat. */
const pass = (millis: number) =>
  Effect.forEach(Arr.range(1, millis / 100), () =>
    Effect.andThen(TestClock.adjust("100 millis"), FleetTime.settle), { discard: true })

describe("an outage of the storage", () => {
  // Workers begin to count half a beat apart, so that each length finds them in other moments of their pauses.
  for (const length of [...Arr.range(1, 15).map((n) => n * 200), ...Arr.range(28, 64).map((n) => n * 200)]) {
    it.effect(`of ${length} ms takes nothing away from workers that are alive`, () =>
      Effect.gen(function*() {
        const steps: Array<string> = []
        const resumable = (name: string) =>
          Effect.gen(function*() {
            const task = yield* CurrentTask.CurrentTask
            return yield* task.step("long", Schema.String, Effect.gen(function*() {
              steps.push(name)
              yield* Effect.sleep("25 seconds")
              return name
            }))
          })
        const one = yield* Fleet.start({ resumable }, quick)
        yield* TestClock.adjust("500 millis")
        const other = yield* Fleet.start({ resumable }, quick)
        const taskIds = [
          yield* call(one, "resumable", "first"),
          yield* call(other, "resumable", "second")
        ]
        yield* until("both run", Effect.sync(() => steps.length === 2))
        const free = yield* Fleet.start({ resumable }, quick)
        yield* pass(3_200)
        for (const { link } of [one, other, free]) link.disturb = (operation) => link.fail(operation)
        yield* pass(length)
        for (const { link } of [one, other, free]) link.disturb = (_operation, effect) => effect
        for (const taskId of taskIds) yield* becomes(free, taskId, "completed")
        assert.deepStrictEqual(steps.toSorted(), ["first", "second"])
      }).pipe(Effect.provide(Layer.merge(inMemory, Logger.layer([])), { local: true })))
  }
})
