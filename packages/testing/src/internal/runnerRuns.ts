/**
 * What becomes of a call in one process: the part of the runner suite that every runner passes.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Fleet, start } from "../Fleet.ts"
import { settle } from "../FleetTime.ts"
import { accept, asking, call, confirm, get, owner } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const timed = needing("virtualTime")

const runs: ReadonlyArray<RunnerCase> = [
  test("answers at once with a working task, and completes it", ({ becomes }) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const process = yield* start({ once: () => Deferred.await(gate) })
      const taskId = yield* call(process, "once")
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* Deferred.succeed(gate, "hello")
      const task = yield* becomes(process, taskId, "completed")
      assert.deepStrictEqual(task.result, { resultType: "complete", content: [{ type: "text", text: "hello" }] })
    })),

  test("runs a handler once for each call, with the arguments of that call", ({ becomes }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make<ReadonlyArray<string>>([])
      const once = (text: string) => Effect.as(Ref.update(runs, (before) => [...before, text]), text)
      const process = yield* start({ once })
      for (const text of ["a", "b", "c"]) {
        const task = yield* becomes(process, yield* call(process, "once", text), "completed")
        assert.strictEqual(task.result.content[0].text, text)
      }
      assert.deepStrictEqual(yield* Ref.get(runs), ["a", "b", "c"])
    })),

  test("completes with isError when the tool fails as it declared [E11]", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => Effect.fail("no such report") })
      const task = yield* becomes(process, yield* call(process, "once"), "completed")
      assert.deepStrictEqual(task.result, {
        resultType: "complete",
        content: [{ type: "text", text: "no such report" }],
        isError: true
      })
    })),

  test("fails with the tool's own JSON-RPC error [E12]", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({
        once: () => Effect.die(new TaskTool.ProtocolError({ code: -32603, message: "Upstream timed out", data: [1] }))
      })
      const task = yield* becomes(process, yield* call(process, "once"), "failed")
      assert.deepStrictEqual(task.error, { code: -32603, message: "Upstream timed out", data: [1] })
      assert.strictEqual(task.statusMessage, "Upstream timed out")
    })),

  test("fails in one short sentence whatever else a handler throws", ({ becomes }) =>
    Effect.gen(function*() {
      const secret = new Error("password hunter2 at /srv/app")
      const ends: ReadonlyArray<Effect.Effect<unknown, string>> = [
        Effect.die(secret),
        Effect.die(undefined),
        Effect.die("text"),
        Effect.suspend((): Effect.Effect<never> => {
          throw secret
        }),
        Effect.sync(() => {
          throw null
        })
      ]
      const process = yield* start({ once: (text) => ends[Number(text)] ?? Effect.void })
      for (const index of ends.keys()) {
        const task = yield* becomes(process, yield* call(process, "once", String(index)), "failed")
        assert.deepStrictEqual(task.error, { code: -32603, message: "The tool failed unexpectedly" })
      }
    })),

  test("fails a handler that interrupts itself", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => Effect.interrupt })
      yield* becomes(process, yield* call(process, "once"), "failed")
    })),

  test("asks, takes the answer, and goes on", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const taskId = yield* call(process, "once")
      const parked = yield* becomes(process, taskId, "input_required")
      assert.deepStrictEqual(Object.keys(parked.inputRequests), ["confirm"])
      const asked = parked.inputRequests["confirm"]?.params.requestedSchema.properties
      assert.strictEqual(asked?.["overwrite"]?.type, "boolean")
      yield* process.engine.answer(owner, taskId, accept)
      const done = yield* becomes(process, taskId, "completed")
      assert.strictEqual(
        done.result.content[0].text,
        "attempt 1: {\"action\":\"accept\",\"content\":{\"overwrite\":true}}"
      )
    })),

  test("refuses an answer that does not fit, and keeps the question [F10]", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const taskId = yield* call(process, "once")
      yield* becomes(process, taskId, "input_required")
      const bad: ReadonlyArray<Schema.Json> = [
        { action: "accept" },
        { action: "accept", content: null },
        { action: "accept", content: {} },
        { action: "accept", content: { overwrite: "yes" } },
        { action: "accept", content: [true] },
        { action: "maybe" },
        { role: "assistant", content: { type: "text", text: "x" }, model: "m" },
        "accept",
        null
      ]
      for (const response of bad) {
        const error = yield* Effect.flip(process.engine.answer(owner, taskId, { confirm: response }))
        assert.strictEqual(error._tag, "InvalidAnswer", JSON.stringify(response))
        assert.strictEqual((yield* get(process, taskId)).status, "input_required")
      }
      yield* process.engine.answer(owner, taskId, JSON.parse("{\"__proto__\":1,\"unknown\":{\"ignored\":true}}"))
      assert.strictEqual((yield* get(process, taskId)).status, "input_required")
    })),

  test("passes on declining and cancelling, whatever they carry [F10]", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      for (const action of ["decline", "cancel"]) {
        for (const extra of [{}, { content: null }, { content: { overwrite: 7 } }]) {
          const taskId = yield* call(process, "once")
          yield* becomes(process, taskId, "input_required")
          yield* process.engine.answer(owner, taskId, { confirm: { action, ...extra } })
          const done = yield* becomes(process, taskId, "completed")
          assert.strictEqual(done.result.content[0].text, `attempt 1: {"action":"${action}"}`)
        }
      }
    })),

  test("does not ask a client that did not declare that it can be asked [F5]", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      for (const capabilities of [{}, { elicitation: { url: {} } }, { elicitation: null }]) {
        yield* becomes(process, yield* call(process, "once", "", capabilities), "failed")
      }
    })),

  test("withdraws a question that its handler gave up [F3]", ({ becomes }) =>
    Effect.gen(function*() {
      const goOn = yield* Deferred.make<void>()
      const process = yield* start({
        once: (text) =>
          Effect.as(Effect.timeoutOption(asking(text), "2 seconds"), "gave up").pipe(
            Effect.tap(Deferred.await(goOn))
          )
      })
      const taskId = yield* call(process, "once")
      yield* becomes(process, taskId, "input_required")
      yield* becomes(process, taskId, "working")
      yield* process.engine.answer(owner, taskId, accept)
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual((yield* becomes(process, taskId, "completed")).result.content[0].text, "gave up")
    })),

  test("runs two questions side by side, answered one by one", ({ becomes, until }) =>
    Effect.gen(function*() {
      const process = yield* start({
        once: () =>
          Effect.gen(function*() {
            const task = yield* CurrentTask.CurrentTask
            return yield* Effect.all(
              [task.elicit("a", confirm), task.elicit("b", confirm), task.elicit("b", confirm)],
              { concurrency: "unbounded" }
            ).pipe(Effect.orDie)
          })
      })
      const taskId = yield* call(process, "once")
      // Asked side by side: where the store has several connections, either may be written first.
      const open = Effect.map(get(process, taskId), ({ inputRequests }) =>
        Object.keys(inputRequests ?? {}).toSorted().join())
      yield* until("both are asked", Effect.map(open, (keys) => keys === "a,b"))
      yield* process.engine.answer(owner, taskId, { a: accept.confirm })
      assert.strictEqual(yield* open, "b")
      yield* process.engine.answer(owner, taskId, { a: { action: "decline" }, b: { action: "decline" } })
      assert.deepStrictEqual((yield* becomes(process, taskId, "completed")).result.structuredContent, [
        { action: "accept", content: { overwrite: true } },
        { action: "decline" },
        { action: "decline" }
      ])
    })),

  test(
    "a cancel interrupts a running handler, whose finalizers run, and the task ends cancelled",
    ({ becomes, until }) =>
      Effect.gen(function*() {
        const released = yield* Ref.make(0)
        const isRunning = yield* Deferred.make<void>()
        const process = yield* start({
          once: () =>
            Effect.andThen(Deferred.succeed(isRunning, undefined), Effect.never).pipe(
              Effect.ensuring(Ref.update(released, (count) => count + 1))
            )
        })
        const taskId = yield* call(process, "once")
        yield* until("it runs", Deferred.isDone(isRunning))
        yield* process.engine.cancel(owner, taskId)
        yield* becomes(process, taskId, "cancelled")
        assert.strictEqual(yield* Ref.get(released), 1)
        yield* process.engine.cancel(owner, taskId)
      })
  ),

  test("a cancel waits for a handler that cannot be interrupted", ({ becomes, until }) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const isRunning = yield* Deferred.make<void>()
      const process = yield* start({
        once: () =>
          Deferred.succeed(isRunning, undefined).pipe(
            Effect.andThen(Deferred.await(gate)),
            Effect.uninterruptible,
            Effect.andThen(Effect.never)
          )
      })
      const taskId = yield* call(process, "once")
      yield* until("it runs", Deferred.isDone(isRunning))
      yield* process.engine.cancel(owner, taskId)
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* Deferred.succeed(gate, undefined)
      yield* becomes(process, taskId, "cancelled")
    })),

  test("a cancel ends a parked task at once, and interrupts its handler", ({ becomes, until }) =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(false)
      const process = yield* start({
        once: (text) => Effect.onInterrupt(asking(text), () => Ref.set(interrupted, true))
      })
      const taskId = yield* call(process, "once")
      yield* becomes(process, taskId, "input_required")
      yield* process.engine.cancel(owner, taskId)
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
      yield* until("the handler is interrupted", Ref.get(interrupted))
      yield* process.engine.answer(owner, taskId, accept)
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
    }))
]

/** Time that passes only as a test says. */
const time: ReadonlyArray<RunnerCase> = [
  timed("expires a live task, interrupts its handler, and forgets it in the end", () =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(false)
      const process = yield* start({
        once: () => Effect.onInterrupt(Effect.never, () => Ref.set(interrupted, true))
      })
      const taskId = yield* call(process, "once")
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* TestClock.adjust("3 seconds")
      yield* settle
      const task = yield* get(process, taskId)
      assert.strictEqual(task.status, "failed")
      assert.strictEqual(task.error.message, "The task has expired before it ended")
      assert.isTrue(yield* Ref.get(interrupted))
      yield* TestClock.adjust("12 seconds")
      assert.strictEqual((yield* Effect.flip(process.engine.view(owner, taskId)))._tag, "TaskNotFound")
      const { store } = yield* Fleet
      assert.isTrue(Option.isNone(yield* store.read(taskId)))
    })),

  timed("gives a task that asks for it a longer life", () =>
    Effect.gen(function*() {
      const process = yield* start({
        once: () =>
          Effect.gen(function*() {
            const task = yield* CurrentTask.CurrentTask
            yield* Effect.sleep("50 seconds")
            yield* task.extend("2 minutes")
            yield* Effect.sleep("100 seconds")
            return "late"
          })
      })
      const taskId = yield* call(process, "once")
      yield* TestClock.adjust("160 seconds")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [...runs, ...time]
