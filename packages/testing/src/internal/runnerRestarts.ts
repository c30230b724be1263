/**
 * What becomes of tasks when one process ends, in any way, and another begins.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { start } from "../Fleet.ts"
import { accept, asking, call, get, owner } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const quick = { lease: "1 second", grace: "0 seconds" } as const

/** A handler that does one step before it asks. */
const counting = (steps: Ref.Ref<number>) => (text: string) =>
  Effect.gen(function*() {
    const task = yield* CurrentTask.CurrentTask
    const rows = yield* task.step("query", Schema.Int, Ref.updateAndGet(steps, (count) => count + 1))
    return `${rows} ${yield* asking(text)}`
  })

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  ...(["kill", "stop"] as const).flatMap((how) => [
    test(
      `after a ${how}, a parked resumable task keeps its question and its steps, and goes on`,
      ({ becomes, until }) =>
        Effect.gen(function*() {
          const steps = yield* Ref.make(0)
          const runs = yield* Ref.make(0)
          const resumable = (text: string) =>
            Effect.andThen(Ref.update(runs, (count) => count + 1), counting(steps)(text))
          const first = yield* start({ resumable }, quick)
          const taskId = yield* call(first, "resumable")
          const before = yield* becomes(first, taskId, "input_required")
          yield* first[how]
          const second = yield* start({ resumable }, quick)
          yield* until("it was taken up", Effect.map(Ref.get(runs), (count) => count === 2))
          assert.deepStrictEqual(yield* get(second, taskId), before)
          yield* second.engine.answer(owner, taskId, accept)
          const done = yield* becomes(second, taskId, "completed")
          assert.match(done.result.content[0].text, /^1 attempt 2: .*"overwrite":true/)
          assert.strictEqual(yield* Ref.get(steps), 1)
        })
    ),

    test(`after a ${how}, a task that must not be run twice has failed`, ({ becomes, until }) =>
      Effect.gen(function*() {
        const runs = yield* Ref.make(0)
        const once = () => Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never)
        const first = yield* start({ once }, quick)
        const taskId = yield* call(first, "once")
        yield* until("it runs", Effect.map(Ref.get(runs), (count) => count === 1))
        yield* first[how]
        const second = yield* start({ once }, quick)
        const task = yield* becomes(second, taskId, "failed")
        assert.strictEqual(task.error.code, -32603)
        assert.strictEqual(yield* Ref.get(runs), 1)
      }))
  ]),

  test("an answer given while no process ran is used by the next", ({ becomes }) =>
    Effect.gen(function*() {
      const first = yield* start({ resumable: asking }, quick)
      const taskId = yield* call(first, "resumable")
      yield* becomes(first, taskId, "input_required")
      first.link.isDeaf = true
      yield* first.engine.answer(owner, taskId, accept)
      yield* first.kill
      const second = yield* start({ resumable: asking }, quick)
      yield* becomes(second, taskId, "completed")
    })),

  test("a stop is never a cancel, and stops in good order cost no attempt", ({ becomes, until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const resumable = (text: string) => Effect.andThen(Ref.update(runs, (count) => count + 1), asking(text))
      let process = yield* start({ resumable }, quick)
      const taskId = yield* call(process, "resumable")
      for (let round = 1; round <= 6; round++) {
        yield* until("it runs", Effect.map(Ref.get(runs), (count) => count === round))
        yield* becomes(process, taskId, "input_required")
        yield* process.stop
        process = yield* start({ resumable }, quick)
      }
      yield* until("it runs", Effect.map(Ref.get(runs), (count) => count === 7))
      yield* becomes(process, taskId, "input_required")
    })),

  test("a handler that takes its process down each time ends failed", ({ becomes, until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const resumable = () => Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never)
      let process = yield* start({ resumable }, quick)
      const taskId = yield* call(process, "resumable")
      for (let round = 1; round <= 3; round++) {
        yield* until("it runs", Effect.map(Ref.get(runs), (count) => count === round))
        assert.strictEqual((yield* get(process, taskId)).status, "working")
        yield* process.kill
        process = yield* start({ resumable }, quick)
      }
      const task = yield* becomes(process, taskId, "failed")
      assert.strictEqual(task.error.message, "The server stopped too often while the tool was running")
      assert.strictEqual(yield* Ref.get(runs), 3)
    })),

  test("a task cancelled while its process was dying is cancelled, not run", ({ becomes, until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const resumable = () => Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never)
      const first = yield* start({ resumable }, quick)
      const taskId = yield* call(first, "resumable")
      yield* until("it runs", Effect.map(Ref.get(runs), (count) => count === 1))
      first.link.isDeaf = true
      yield* first.engine.cancel(owner, taskId)
      yield* first.kill
      const second = yield* start({ resumable }, quick)
      yield* becomes(second, taskId, "cancelled")
      assert.strictEqual(yield* Ref.get(runs), 1)
    }))
]
