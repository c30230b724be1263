/**
 * However long a handler works or waits, it is left alone, and costs the others nothing.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { start } from "../Fleet.ts"
import { settle } from "../FleetTime.ts"
import { accept, asking, call, get, owner } from "../FleetTools.ts"
import { needing, quick, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const timed = needing("virtualTime")

/** Handlers that work for so long, or wait for their user; each says when it begins and when it is cut off. */
const patient = (works: Duration.Input) => {
  const begun: Array<string> = []
  const cutOff: Array<string> = []
  const run = (tool: string) => (text: string) =>
    Effect.gen(function*() {
      begun.push(`${tool} ${text}`)
      yield* (yield* CurrentTask.CurrentTask).extend("7 days")
      if (text === "ask") return yield* asking(text)
      yield* Effect.sleep(works)
      return "worked"
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => cutOff.push(`${tool} ${text}`))))
  return { begun, cutOff, script: { once: run("once"), resumable: run("resumable") } }
}

const calls = [["once", "work"], ["resumable", "work"], ["once", "ask"], ["resumable", "ask"]] as const

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  timed("leaves a handler alone that works for hours, and one that waits for its user overnight", ({ becomes }) =>
    Effect.gen(function*() {
      const { begun, cutOff, script } = patient("13 hours")
      const process = yield* start(script)
      const ids: Array<string> = []
      for (const [tool, text] of calls) ids.push(yield* call(process, tool, text))
      yield* TestClock.adjust("10 minutes")
      // While the storage stands still, nobody looks at it each second, and hours take little of real time.
      process.link.cut()
      yield* TestClock.adjust(Duration.minutes(765))
      process.link.mend()
      yield* TestClock.adjust("4 minutes")
      yield* settle
      const status = (taskId: string) => Effect.map(get(process, taskId), (task) => task.status)
      const statuses = ["working", "working", "input_required", "input_required"]
      assert.deepStrictEqual(yield* Effect.forEach(ids, status), statuses)
      yield* TestClock.adjust("30 seconds")
      for (const taskId of ids.slice(0, 2)) yield* becomes(process, taskId, "completed")
      for (const taskId of ids.slice(2)) {
        yield* process.engine.answer(owner, taskId, accept)
        yield* becomes(process, taskId, "completed")
      }
      assert.deepStrictEqual(cutOff, [])
      assert.deepStrictEqual(begun.toSorted(), calls.map((names) => names.join(" ")).toSorted())
    })),

  test("leaves a handler alone that works for longer than a dead worker is waited for", ({ becomes }) =>
    Effect.gen(function*() {
      const { begun, cutOff, script } = patient("3 seconds")
      const process = yield* start(script, quick)
      const ids = [yield* call(process, "once", "work"), yield* call(process, "resumable", "work")]
      for (const taskId of ids) yield* becomes(process, taskId, "completed")
      assert.deepStrictEqual([begun.toSorted(), cutOff], [["once work", "resumable work"], []])
    })),

  test("runs what is called though a hundred handlers wait for their users", ({ becomes }) =>
    Effect.gen(function*() {
      const resumable = (text: string) => text === "ask" ? asking(text) : Effect.succeed(text)
      const process = yield* start({ once: asking, resumable }, quick)
      const parked = yield* Effect.forEach(Arr.range(1, 100), (number) =>
        call(process, number % 2 === 0 ? "once" : "resumable", "ask"))
      for (const taskId of parked) yield* becomes(process, taskId, "input_required")
      yield* becomes(process, yield* call(process, "resumable", "next"), "completed")
      for (const taskId of parked) yield* process.engine.answer(owner, taskId, accept)
      for (const taskId of parked) yield* becomes(process, taskId, "completed")
    }))
]
