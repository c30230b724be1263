import { CurrentTask, TaskLimits, TaskStore } from "@effect-mcp-tasks/engine"
import { accept, asking } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { call, get, owner, settle, start } from "./TestTools.ts"

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

  it.effect("an answer that it has no room to remember is refused, and the question stays", () =>
    Effect.gen(function*() {
      const told = { message: "Why?", schema: Schema.Struct({ why: Schema.String }) }
      const process = yield* start({
        once: () => Effect.flatMap(CurrentTask.CurrentTask, (task) => Effect.orDie(task.elicit("why", told)))
      })
      const answer = (taskId: string, length: number) =>
        process.engine.answer(owner, taskId, { why: { action: "accept", content: { why: "x".repeat(length) } } })
      const taskId = yield* call(process, "once")
      yield* settle
      const refused = yield* Effect.flip(answer(taskId, 900))
      assert.strictEqual(refused._tag === "InvalidAnswer" && refused.key, "why")
      assert.match(refused.message, /more than 900 characters \(maxJournalLength\)/)
      assert.strictEqual((yield* get(process, taskId)).status, "input_required")
      yield* answer(taskId, 400)
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
    }).pipe(Effect.provide([
      Layer.fresh(TaskStore.layerMemory),
      TaskLimits.layer({ maxJournalLength: 900, maxEntryLength: 500 })
    ])))

  it.effect("an answer no longer than a step may be is taken, although nothing more can be remembered", () =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => asking("") })
      const taskId = yield* call(process, "once")
      yield* settle
      yield* process.engine.answer(owner, taskId, accept)
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
    }).pipe(Effect.provide([Layer.fresh(TaskStore.layerMemory), TaskLimits.layer({ maxJournalLength: 300 })])))
})
