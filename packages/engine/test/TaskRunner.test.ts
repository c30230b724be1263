import { CurrentTask, TaskStore, TaskTool } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Option, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import { call, get, owner, settle, start } from "./TestTools.ts"

const store = Effect.provide(Layer.fresh(TaskStore.layerMemory))

const confirm = { message: "Overwrite?", schema: Schema.Struct({ overwrite: Schema.Boolean }) }

const asking = (_text: string) =>
  Effect.gen(function*() {
    const task = yield* CurrentTask.CurrentTask
    const answer = yield* Effect.orDie(task.elicit("confirm", confirm))
    return `attempt ${task.attempt}: ${JSON.stringify(answer)}`
  })

const accept = { confirm: { action: "accept", content: { overwrite: true } } }

describe("TaskRunner.layerFiber", () => {
  it.effect("answers at once with a working task, and completes it", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const process = yield* start({ once: () => Deferred.await(gate) })
      const taskId = yield* call(process, "once")
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* Deferred.succeed(gate, "hello")
      yield* settle
      const task = yield* get(process, taskId)
      assert.strictEqual(task.status, "completed")
      assert.deepStrictEqual(task.result, { resultType: "complete", content: [{ type: "text", text: "hello" }] })
    }).pipe(store))

  it.effect("completes with isError when the tool fails as it declared [E11]", () =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => Effect.fail("no such report") })
      const taskId = yield* call(process, "once")
      yield* settle
      const task = yield* get(process, taskId)
      assert.strictEqual(task.status, "completed")
      assert.deepStrictEqual(task.result, {
        resultType: "complete",
        content: [{ type: "text", text: "no such report" }],
        isError: true
      })
    }).pipe(store))

  it.effect("fails with the tool's own JSON-RPC error [E12]", () =>
    Effect.gen(function*() {
      const process = yield* start({
        once: () => Effect.die(new TaskTool.ProtocolError({ code: -32603, message: "Upstream timed out", data: [1] }))
      })
      const taskId = yield* call(process, "once")
      yield* settle
      const task = yield* get(process, taskId)
      assert.strictEqual(task.status, "failed")
      assert.deepStrictEqual(task.error, { code: -32603, message: "Upstream timed out", data: [1] })
      assert.strictEqual(task.statusMessage, "Upstream timed out")
    }).pipe(store))

  it.effect("fails in one short sentence whatever else a handler throws", () =>
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
      for (const end of ends) {
        const process = yield* start({ once: () => end })
        const taskId = yield* call(process, "once")
        yield* settle
        const task = yield* get(process, taskId)
        assert.deepStrictEqual(task.error, { code: -32603, message: "The tool failed unexpectedly" })
      }
    }).pipe(store))

  it.effect("fails a handler that interrupts itself", () =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => Effect.interrupt })
      const taskId = yield* call(process, "once")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "failed")
    }).pipe(store))

  it.effect("asks, takes the answer, and goes on", () =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const taskId = yield* call(process, "once")
      yield* settle
      const parked = yield* get(process, taskId)
      assert.strictEqual(parked.status, "input_required")
      assert.deepStrictEqual(Object.keys(parked.inputRequests), ["confirm"])
      const asked = parked.inputRequests["confirm"]?.params.requestedSchema.properties
      assert.strictEqual(asked?.["overwrite"]?.type, "boolean")
      yield* process.engine.answer(owner, taskId, accept)
      yield* settle
      const done = yield* get(process, taskId)
      assert.strictEqual(
        done.result.content[0].text,
        "attempt 1: {\"action\":\"accept\",\"content\":{\"overwrite\":true}}"
      )
    }).pipe(store))

  it.effect("refuses an answer that does not fit, and keeps the question [F10]", () =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const taskId = yield* call(process, "once")
      yield* settle
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
    }).pipe(store))

  it.effect("passes on declining and cancelling, whatever they carry [F10]", () =>
    Effect.gen(function*() {
      for (const action of ["decline", "cancel"]) {
        for (const extra of [{}, { content: null }, { content: { overwrite: 7 } }]) {
          const process = yield* start({ once: asking })
          const taskId = yield* call(process, "once")
          yield* settle
          yield* process.engine.answer(owner, taskId, { confirm: { action, ...extra } })
          yield* settle
          assert.strictEqual(
            (yield* get(process, taskId)).result.content[0].text,
            `attempt 1: {"action":"${action}"}`
          )
        }
      }
    }).pipe(store))

  it.effect("does not ask a client that did not declare that it can be asked [F5]", () =>
    Effect.gen(function*() {
      for (const capabilities of [{}, { elicitation: { url: {} } }, { elicitation: null }]) {
        const process = yield* start({ once: asking })
        const taskId = yield* call(process, "once", "", capabilities)
        yield* settle
        assert.strictEqual((yield* get(process, taskId)).status, "failed")
      }
    }).pipe(store))

  it.effect("withdraws a question that its handler gave up [F3]", () =>
    Effect.gen(function*() {
      const process = yield* start({
        once: (text) =>
          Effect.as(Effect.timeoutOption(asking(text), "5 seconds"), "gave up").pipe(
            Effect.tap(Effect.sleep("5 seconds"))
          )
      })
      const taskId = yield* call(process, "once")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "input_required")
      yield* TestClock.adjust("6 seconds")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* process.engine.answer(owner, taskId, accept)
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).result.content[0].text, "gave up")
    }).pipe(store))

  it.effect("runs two questions side by side, answered one by one", () =>
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
      yield* settle
      assert.deepStrictEqual(Object.keys((yield* get(process, taskId)).inputRequests), ["a", "b"])
      yield* process.engine.answer(owner, taskId, { a: accept.confirm })
      assert.deepStrictEqual(Object.keys((yield* get(process, taskId)).inputRequests), ["b"])
      yield* process.engine.answer(owner, taskId, { a: { action: "decline" }, b: { action: "decline" } })
      yield* settle
      assert.deepStrictEqual((yield* get(process, taskId)).result.structuredContent, [
        { action: "accept", content: { overwrite: true } },
        { action: "decline" },
        { action: "decline" }
      ])
    }).pipe(store))
})

describe("cancel", () => {
  it.effect("interrupts a running handler, whose finalizers run, and ends cancelled", () =>
    Effect.gen(function*() {
      const released = yield* Ref.make(0)
      const process = yield* start({
        once: () => Effect.ensuring(Effect.never, Ref.update(released, (count) => count + 1))
      })
      const taskId = yield* call(process, "once")
      yield* settle
      yield* process.engine.cancel(owner, taskId)
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
      assert.strictEqual(yield* Ref.get(released), 1)
      yield* process.engine.cancel(owner, taskId)
    }).pipe(store))

  it.effect("waits for a handler that cannot be interrupted, and does not say before that it has ended [G3]", () =>
    Effect.gen(function*() {
      const ended = yield* Ref.make(false)
      const process = yield* start({
        once: () => Effect.uninterruptible(Effect.andThen(Effect.sleep("3 seconds"), Ref.set(ended, true)))
      })
      const taskId = yield* call(process, "once")
      yield* settle
      yield* process.engine.cancel(owner, taskId)
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* TestClock.adjust("3 seconds")
      yield* settle
      assert.isTrue(yield* Ref.get(ended))
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
    }).pipe(store))

  it.effect("cancels a parked task at once and interrupts its handler", () =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(false)
      const process = yield* start({
        once: (text) => Effect.onInterrupt(asking(text), () => Ref.set(interrupted, true))
      })
      const taskId = yield* call(process, "once")
      yield* settle
      yield* process.engine.cancel(owner, taskId)
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
      yield* settle
      assert.isTrue(yield* Ref.get(interrupted))
      yield* process.engine.answer(owner, taskId, accept)
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
    }).pipe(store))
})

describe("time", () => {
  it.effect("expires a live task, interrupts its handler, and forgets it in the end", () =>
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
      assert.isTrue(Option.isNone(yield* (yield* TaskStore.TaskStore).read(taskId)))
    }).pipe(store))

  it.effect("gives a task that asks for it a longer life", () =>
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
    }).pipe(store))
})

describe("restart", () => {
  const counting = (steps: Ref.Ref<number>) => (text: string) =>
    Effect.gen(function*() {
      const task = yield* CurrentTask.CurrentTask
      const rows = yield* task.step("query", Schema.Int, Ref.updateAndGet(steps, (count) => count + 1))
      const answer = yield* asking(text)
      return `${rows} ${answer}`
    })

  for (const how of ["kill", "stop"] as const) {
    it.effect(`after a ${how}, a parked resumable task keeps its question and its steps, and goes on`, () =>
      Effect.gen(function*() {
        const steps = yield* Ref.make(0)
        const first = yield* start({ resumable: counting(steps) })
        const taskId = yield* call(first, "resumable")
        yield* settle
        const before = yield* get(first, taskId)
        yield* first[how]
        const second = yield* start({ resumable: counting(steps) })
        yield* settle
        assert.deepStrictEqual(yield* get(second, taskId), before)
        yield* second.engine.answer(owner, taskId, accept)
        yield* settle
        assert.match((yield* get(second, taskId)).result.content[0].text, /^1 attempt 2: .*"overwrite":true/)
        assert.strictEqual(yield* Ref.get(steps), 1)
      }).pipe(store))

    it.effect(`after a ${how}, a task that must not be run twice has failed`, () =>
      Effect.gen(function*() {
        const runs = yield* Ref.make(0)
        const once = () => Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never)
        const first = yield* start({ once })
        const taskId = yield* call(first, "once")
        yield* settle
        yield* first[how]
        const second = yield* start({ once })
        yield* settle
        const task = yield* get(second, taskId)
        assert.strictEqual(task.status, "failed")
        assert.strictEqual(task.error.code, -32603)
        assert.strictEqual(yield* Ref.get(runs), 1)
      }).pipe(store))
  }

  it.effect("an answer given while no process ran is used by the next", () =>
    Effect.gen(function*() {
      const first = yield* start({ resumable: asking })
      const taskId = yield* call(first, "resumable")
      yield* settle
      yield* first.engine.answer(owner, taskId, accept)
      yield* first.kill
      const second = yield* start({ resumable: asking })
      yield* settle
      assert.strictEqual((yield* get(second, taskId)).status, "completed")
    }).pipe(store))

  it.effect("a stop is never a cancel, and stops in good order cost no attempt", () =>
    Effect.gen(function*() {
      let process = yield* start({ resumable: asking })
      const taskId = yield* call(process, "resumable")
      yield* settle
      for (let round = 0; round < 10; round++) {
        yield* process.stop
        process = yield* start({ resumable: asking })
        yield* settle
        assert.strictEqual((yield* get(process, taskId)).status, "input_required")
      }
    }).pipe(store))

  it.effect("a handler that takes its process down each time ends failed", () =>
    Effect.gen(function*() {
      let process = yield* start({ resumable: () => Effect.never })
      const taskId = yield* call(process, "resumable")
      for (let round = 0; round < 2; round++) {
        yield* settle
        yield* process.kill
        process = yield* start({ resumable: () => Effect.never })
        assert.strictEqual((yield* get(process, taskId)).status, "working")
      }
      yield* process.kill
      process = yield* start({ resumable: () => Effect.never })
      assert.strictEqual((yield* get(process, taskId)).status, "failed")
    }).pipe(store))

  it.effect("a task cancelled while its process was dying is cancelled, not run", () =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const resumable = () => Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never)
      const first = yield* start({ resumable })
      const taskId = yield* call(first, "resumable")
      yield* settle
      yield* first.engine.cancel(owner, taskId)
      yield* first.kill
      const second = yield* start({ resumable })
      yield* settle
      assert.strictEqual((yield* get(second, taskId)).status, "cancelled")
      assert.strictEqual(yield* Ref.get(runs), 1)
    }).pipe(store))
})
