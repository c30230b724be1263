/** What a process that ends cannot hand back is taken up when its lease is over, not when all tasks are looked at. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { call } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { inMemory } from "./FleetLayers.ts"

const { becomes, until } = FleetTime.of("test")
const options: Fleet.ProcessOptions = { lease: "3 seconds", grace: "1 second", scan: "1 hour" }

const onceOnly = (first: Effect.Effect<string>) => () =>
  Effect.flatMap(CurrentTask.CurrentTask, ({ attempt }) => attempt === 1 ? first : Effect.succeed("elsewhere"))

/** Ends the process that runs a task, in good order. Gives back for how many milliseconds the task then lay about. */
const laidFor = Effect.fnUntraced(function*(
  first: Effect.Effect<string>,
  prepare: (leaving: Fleet.Process) => void = () => undefined
) {
  const leaving = yield* Fleet.start({ resumable: onceOnly(first) }, options)
  const other = yield* Fleet.start({ resumable: onceOnly(first) }, { ...options, concurrency: 0 })
  yield* TestClock.adjust("5 seconds")
  const taskId = yield* call(other, "resumable")
  const { store } = yield* Fleet.Fleet
  const task = Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task)
  yield* until("it runs", Effect.map(task, ({ attempt }) => attempt === 1))
  yield* Fleet.start({ resumable: onceOnly(first) }, options)
  // Past the look that every process takes when it starts, and past the pause in which it may repeat it.
  yield* TestClock.adjust("10 seconds")
  prepare(leaving)
  const stopping = yield* Effect.forkChild(leaving.stop)
  yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
  const stoppedAt = yield* Clock.currentTimeMillis
  yield* becomes(other, taskId, "completed")
  return (yield* task).lastUpdatedAt - stoppedAt
})

describe("a process that ends", () => {
  it.effect("leaves a handler that cannot be interrupted to others within two leases", () =>
    Effect.gen(function*() {
      assert.isBelow(yield* laidFor(Effect.uninterruptible(Effect.never)), 6_000)
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("leaves what the store did not let it hand back to others within two leases", () =>
    Effect.gen(function*() {
      const isReplaced = (operation: string) => operation === "replace"
      const laid = laidFor(Effect.never, ({ link }) => {
        link.disturb = (operation, effect) => isReplaced(operation) ? link.fail(operation) : effect
      })
      assert.isBelow(yield* laid, 6_000)
    }).pipe(Effect.provide(inMemory, { local: true })))
})
