import { TaskClock } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** A store whose clock is an hour ahead, and which takes its time: before it looks at its clock, and after. */
const store = (beforeMs: number, afterMs: number) =>
  Effect.sleep(beforeMs).pipe(
    Effect.andThen(Effect.map(Clock.currentTimeMillis, (now) => now + 3_600_000)),
    Effect.tap(Effect.sleep(afterMs))
  )

/** By how many milliseconds the clock of a replica is ahead of the store's, some time after it has started. */
const aheadAfter = (ms: number, read: Effect.Effect<number>) =>
  Effect.gen(function*() {
    const ahead = Effect.gen(function*() {
      yield* Effect.sleep(ms)
      return (yield* yield* TaskClock.TaskClock) - (yield* Clock.currentTimeMillis) - 3_600_000
    })
    const fiber = yield* Effect.forkChild(Effect.provide(ahead, TaskClock.layerReading(read)))
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

describe("TaskClock.layerReading", () => {
  it.effect("goes by the store's clock, as exactly as it can be read", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* aheadAfter(5, store(0, 0)), 0)
      assert.strictEqual(yield* aheadAfter(60_000, store(10, 10)), 0)
      assert.strictEqual(yield* aheadAfter(5, store(500, 0)), 250)
      assert.strictEqual(yield* aheadAfter(5, store(0, 500)), -250)
    }))

  it.effect("is late rather than early when already the first reading is slow", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* aheadAfter(5, store(8_000, 0)), 0)
      assert.strictEqual(yield* aheadAfter(5, store(0, 8_000)), -8_000)
    }))
})
