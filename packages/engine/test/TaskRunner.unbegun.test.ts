/** A handler that is stopped before its first step: its task must hear of it all the same. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { call, get, settle, start } from "./TestTools.ts"

describe("a handler that has not begun", () => {
  it.effect("is handed back when its process ends in good order, and costs no attempt however often", () =>
    Effect.gen(function*() {
      let process = yield* start({ resumable: () => Effect.never })
      const taskId = yield* call(process, "resumable")
      for (let round = 0; round < 5; round++) {
        yield* process.stop
        process = yield* start({ resumable: () => Effect.never })
      }
      yield* process.stop
      process = yield* start({ resumable: () => Effect.succeed("done") })
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
    }).pipe(Effect.provide(Layer.fresh(TaskStore.layerMemory))))
})
