/** A process that starts over what an earlier one left. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { call, get, settle, start } from "./TestTools.ts"

/** How long a write takes: as long as a disk needs. */
const write = "10 millis"

const count = 250

describe("a process that takes up live tasks", () => {
  it.effect("does not wait for one before it writes the next: nobody is served meanwhile", () =>
    Effect.gen(function*() {
      const memory = Context.get(yield* Layer.build(Layer.fresh(TaskStore.layerMemory)), TaskStore.TaskStore)
      const slow: TaskStore.TaskStore["Service"] = {
        ...memory,
        replace: (stored, next) => Effect.andThen(Effect.sleep(write), memory.replace(stored, next))
      }
      const over = (store: TaskStore.TaskStore["Service"]) =>
        Effect.provideService(start({ resumable: () => Effect.never }), TaskStore.TaskStore, store)
      const first = yield* over(memory)
      const ids = yield* Effect.forEach(Arr.range(1, count), () => call(first, "resumable"))
      yield* first.kill
      const starting = yield* Effect.forkChild(over(slow))
      // Three pages of a hundred.
      for (const _ of [1, 2, 3]) yield* Effect.andThen(settle, TestClock.adjust(write))
      yield* settle
      assert.isDefined(starting.pollUnsafe())
      const second = yield* Fiber.join(starting)
      for (const id of ids) assert.strictEqual((yield* get(second, id)).status, "working")
    }))
})
