/**
 * What becomes of a task whose processes die one after another: one that only waits for its user goes on, one that gets
 * no further does not.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { Fleet, start } from "../Fleet.ts"
import { accept, asking, call, get, owner } from "../FleetTools.ts"
import { idle, needing, quick, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const timed = needing("virtualTime")
const shared = needing("replicas")

/** How many processes die: more than a tool of this suite may lose, which is two attempts in a row. */
const crashes = Arr.range(1, 5)

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

/** Whether a task waits for its client, in this attempt of it and not only in one before. */
const waits = (taskId: string, attempt: number) =>
  Effect.map(
    read(taskId),
    (task) => task.status === "input_required" && task.attempt === attempt && task.lostAttempts === 0
  )

/** So long a life that no test sees its end, asked for once. */
const long = Effect.flatMap(CurrentTask.CurrentTask, (task) =>
  task.attempt === 1 ? task.extend("30 minutes") : Effect.void)

/** A handler that asks, but in its later attempts only if it comes that far. */
const askingAfter = (later: Effect.Effect<unknown>) => (text: string) =>
  Effect.gen(function*() {
    yield* long
    const task = yield* CurrentTask.CurrentTask
    if (task.attempt > 1) yield* later
    return yield* asking(text)
  })

const tooOften = "The server stopped too often while the tool was running"

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  timed("a parked task outlives any number of crashes, and completes once answered", ({ becomes, until }) =>
    Effect.gen(function*() {
      const resumable = askingAfter(Effect.void)
      let process = yield* start({ resumable }, quick)
      const taskId = yield* call(process, "resumable")
      const before = yield* becomes(process, taskId, "input_required")
      for (const attempt of Arr.range(1, 10)) {
        yield* until(`it waits for the ${attempt}. time`, waits(taskId, attempt))
        yield* process.kill
        process = yield* start({ resumable }, quick)
      }
      yield* until("it waits for the last time", waits(taskId, 11))
      assert.deepStrictEqual(yield* get(process, taskId), before)
      yield* process.engine.answer(owner, taskId, accept)
      const done = yield* becomes(process, taskId, "completed")
      assert.match(done.result.content[0].text, /^attempt 11: .*"overwrite":true/)
    })),

  test("a handler that remembers one more step in each process comes to its end", ({ becomes, until }) =>
    Effect.gen(function*() {
      const resumable = () =>
        Effect.gen(function*() {
          yield* long
          const task = yield* CurrentTask.CurrentTask
          yield* task.step(`step ${task.attempt}`, Schema.Int, Effect.succeed(task.attempt))
          return yield* task.attempt > crashes.length ? Effect.succeed("done") : Effect.never
        })
      let process = yield* start({ resumable }, quick)
      const taskId = yield* call(process, "resumable")
      for (const attempt of crashes) {
        yield* until(`it did step ${attempt}`, Effect.map(read(taskId), ({ steps }) => steps.length === attempt))
        yield* process.kill
        process = yield* start({ resumable }, quick)
      }
      yield* becomes(process, taskId, "completed")
    })),

  test("a handler that dies before it comes to its open question again ends failed", ({ becomes, until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const resumable = askingAfter(Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never))
      let process = yield* start({ resumable }, quick)
      const taskId = yield* call(process, "resumable")
      yield* becomes(process, taskId, "input_required")
      for (const round of [1, 2, 3]) {
        yield* process.kill
        process = yield* start({ resumable }, quick)
        yield* until("it runs again", Effect.map(Ref.get(runs), (count) => count === round))
      }
      yield* process.kill
      process = yield* start({ resumable }, quick)
      assert.strictEqual((yield* becomes(process, taskId, "failed")).error.message, tooOften)
      assert.strictEqual(yield* Ref.get(runs), 3)
    })),

  test("a handler that dies of its answer each time ends failed", ({ becomes, until }) =>
    Effect.gen(function*() {
      const answers = yield* Ref.make(0)
      const resumable = (text: string) =>
        Effect.andThen(asking(text), Effect.andThen(Ref.update(answers, (count) => count + 1), Effect.never))
      let process = yield* start({ resumable }, quick)
      const taskId = yield* call(process, "resumable")
      yield* becomes(process, taskId, "input_required")
      yield* process.engine.answer(owner, taskId, accept)
      for (const round of [1, 2, 3]) {
        yield* until("it has its answer", Effect.map(Ref.get(answers), (count) => count === round))
        yield* process.kill
        process = yield* start({ resumable }, quick)
      }
      assert.strictEqual((yield* becomes(process, taskId, "failed")).error.message, tooOften)
      assert.strictEqual(yield* Ref.get(answers), 3)
    })),

  shared("a parked task goes from each process that stands still to the next", ({ becomes, until }) =>
    Effect.gen(function*() {
      const resumable = askingAfter(Effect.void)
      const watching = yield* start({}, idle)
      let holder = yield* start({ resumable }, quick)
      const taskId = yield* call(watching, "resumable")
      for (const attempt of crashes) {
        yield* until(`it waits for the ${attempt}. time`, waits(taskId, attempt))
        const other = yield* start({ resumable }, quick)
        holder.link.cut()
        yield* until("others have it", waits(taskId, attempt + 1))
        holder.link.mend()
        yield* holder.stop
        holder = other
      }
      yield* watching.engine.answer(owner, taskId, accept)
      yield* becomes(watching, taskId, "completed")
    }))
]
