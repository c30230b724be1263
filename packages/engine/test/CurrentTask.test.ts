import { CurrentTask, TaskLimits, TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { call, get, settle, start } from "./TestTools.ts"

const form = { message: "Overwrite?", schema: Schema.Struct({ overwrite: Schema.Boolean }) }

const careless: Record<string, Effect.Effect<unknown>> = {
  "a question without a key": Effect.flatMap(CurrentTask.CurrentTask, (task) => Effect.orDie(task.elicit("", form))),
  "a question with an endless key": Effect.flatMap(
    CurrentTask.CurrentTask,
    (task) => Effect.orDie(task.elicit("k".repeat(257), form))
  ),
  "a step without a name": Effect.flatMap(
    CurrentTask.CurrentTask,
    (task) => task.step("", Schema.Int, Effect.succeed(1))
  )
}

describe("CurrentTask", () => {
  for (const [name, once] of Object.entries(careless)) {
    it.effect(`${name} fails the task, which can still be read`, () =>
      Effect.gen(function*() {
        const process = yield* start({ once: () => once })
        const taskId = yield* call(process, "once")
        yield* settle
        assert.strictEqual((yield* get(process, taskId)).status, "failed")
      }).pipe(Effect.provide(Layer.fresh(TaskStore.layerMemory))))
  }

  it.effect("what earlier runs and the client have added counts in what a task may remember", () =>
    Effect.gen(function*() {
      const remember = (name: string, length: number) =>
        Effect.flatMap(CurrentTask.CurrentTask, (task) =>
          task.step(name, Schema.String, Effect.succeed("x".repeat(length))))
      const first = yield* start({ resumable: () => Effect.andThen(remember("one", 500), Effect.never) })
      const taskId = yield* call(first, "resumable")
      yield* settle
      yield* first.kill
      const second = yield* start({ resumable: () => Effect.andThen(remember("one", 500), remember("two", 400)) })
      yield* settle
      const failed = yield* get(second, taskId)
      assert.strictEqual(failed.status, "failed")
      assert.match(JSON.stringify(failed), /The step two was refused: .* 900 characters \(maxJournalLength\)/)
    }).pipe(Effect.provide([Layer.fresh(TaskStore.layerMemory), TaskLimits.layer({ maxJournalLength: 900 })])))
})
