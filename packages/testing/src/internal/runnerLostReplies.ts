/**
 * What holds when a worker does not hear what became of its claim, or of its handler.
 *
 * @since 0.2.0
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { Fleet, type ProcessOptions, start } from "../Fleet.ts"
import { call } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing("replicas")
const quick: ProcessOptions = { lease: "1 second", grace: "0 seconds", scan: "2 seconds", heartbeat: "2 seconds" }
const idle: ProcessOptions = { ...quick, concurrency: 0 }

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  test(
    "a claim that was granted, and whose answer is lost, runs a tool that must not be repeated, once",
    ({ becomes }) =>
      Effect.gen(function*() {
        const runs = yield* Ref.make(0)
        const claimant = yield* start({ once: () => Ref.updateAndGet(runs, (count) => count + 1) }, quick)
        const other = yield* start({}, idle)
        let lost = 0
        claimant.link.disturb = (operation, effect) =>
          operation === "replace" && lost < 1
            ? Effect.flatMap(effect, () => {
              lost++
              return claimant.link.fail(operation)
            })
            : effect
        const taskId = yield* call(other, "once")
        yield* becomes(other, taskId, "completed")
        const { attempt, lostAttempts } = yield* read(taskId)
        assert.deepStrictEqual({ attempt, lost, lostAttempts }, { attempt: 1, lost: 1, lostAttempts: 0 })
        assert.strictEqual(yield* Ref.get(runs), 1)
      })
  ),

  test("so it does when the storage is away for a while after the claim", ({ becomes }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const claimant = yield* start({ once: () => Ref.updateAndGet(runs, (count) => count + 1) }, quick)
      const other = yield* start({}, idle)
      let failures = 0
      let isGranted = false
      claimant.link.disturb = (operation, effect) => {
        if (isGranted && failures < 5) {
          failures++
          return claimant.link.fail(operation)
        }
        if (operation !== "replace" || isGranted) return effect
        return Effect.flatMap(effect, () => {
          isGranted = true
          return claimant.link.fail(operation)
        })
      }
      const taskId = yield* call(other, "once")
      yield* becomes(other, taskId, "completed")
      const { attempt, lostAttempts } = yield* read(taskId)
      assert.deepStrictEqual({ attempt, lostAttempts, failures }, { attempt: 1, lostAttempts: 0, failures: 5 })
      assert.strictEqual(yield* Ref.get(runs), 1)
    })),

  test("a handler that ended and could not say so is a lost attempt, though its worker lives", ({ becomes, until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const worker = yield* start({ once: () => Ref.updateAndGet(runs, (count) => count + 1) }, quick)
      const other = yield* start({}, idle)
      let writes = 0
      worker.link.disturb = (operation, effect) =>
        // The claim is written; neither the result nor that it is too large.
        operation === "replace" && ++writes > 1 && writes <= 3 ? worker.link.fail(operation, "TooLarge") : effect
      const taskId = yield* call(other, "once")
      yield* until("the result is refused", Effect.sync(() => writes >= 3))
      const { error } = yield* becomes(other, taskId, "failed")
      assert.match(error.message, /must not be run twice$/)
      assert.strictEqual(yield* Ref.get(runs), 1)
    }))
]
