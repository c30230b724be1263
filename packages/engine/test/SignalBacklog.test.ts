/** A handler that writes more often than its task can be read. */
import { CurrentTask, TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Context, Deferred, Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { call, owner, settle, start } from "./TestTools.ts"

/** How long it takes to read a task. */
const long = "1 second"

const remember = Effect.flatMap(CurrentTask.CurrentTask, (task) =>
  Effect.forEach(Arr.range(1, 100), (n) => task.step(`step ${n}`, Schema.Int, Effect.succeed(n))))

describe("a task that takes long to read, and changes often", () => {
  it.effect("is not read once for each change: the cancel of another one does not wait behind that", () =>
    Effect.gen(function*() {
      const memory = Context.get(yield* Layer.build(Layer.fresh(TaskStore.layerMemory)), TaskStore.TaskStore)
      const slow = { ...memory, read: (taskId: string) => Effect.delay(memory.read(taskId), long) }
      const interrupted = yield* Deferred.make<void>()
      const process = yield* Effect.provideService(
        start({
          resumable: () => Effect.andThen(remember, Effect.never),
          once: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
        }),
        TaskStore.TaskStore,
        slow
      )
      const busy = yield* call(process, "resumable")
      const other = yield* call(process, "once")
      const stepped = Effect.map(memory.read(busy), (stored) => Option.getOrThrow(stored).task.steps.length)
      while ((yield* stepped) < 100) yield* settle
      yield* Effect.forkChild(process.engine.cancel(owner, other))
      // One read to cancel it, one that was under way, and one for each of the two.
      for (const _ of [1, 2, 3, 4]) yield* Effect.andThen(TestClock.adjust(long), settle)
      assert.isTrue(yield* Deferred.isDone(interrupted))
    }))
})
