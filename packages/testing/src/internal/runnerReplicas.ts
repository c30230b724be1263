/**
 * What holds when several processes share the work.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { Fleet, start } from "../Fleet.ts"
import { accept, asking, call, get, owner } from "../FleetTools.ts"
import { idle, needing, quick, type RunnerCase } from "./runnerCase.ts"

const test = needing("replicas")

/** Says how many handlers run at the moment, and how many did at the most. */
const gauge = Effect.gen(function*() {
  const now = yield* Ref.make(0)
  const most = yield* Ref.make(0)
  const measure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Ref.updateAndGet(now, (count) => count + 1).pipe(
      Effect.tap((count) => Ref.update(most, (before) => Math.max(before, count))),
      Effect.andThen(effect),
      Effect.ensuring(Ref.update(now, (count) => count - 1))
    )
  return { now: Ref.get(now), most: Ref.get(most), measure }
})

const is = (count: number) => (ref: Ref.Ref<number>) => Effect.map(Ref.get(ref), (value) => value === count)

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  test("one replica takes the call, another one runs it, a third shows it", ({ becomes }) =>
    Effect.gen(function*() {
      const taking = yield* start({}, idle)
      const showing = yield* start({}, idle)
      const taskId = yield* call(taking, "once")
      assert.strictEqual((yield* get(showing, taskId)).status, "working")
      yield* start({ once: () => Effect.succeed("elsewhere") }, quick)
      assert.strictEqual((yield* becomes(showing, taskId, "completed")).result.content[0].text, "elsewhere")
    })),

  test("five workers run each of twenty tasks once", ({ becomes }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make<ReadonlyArray<string>>([])
      const once = (text: string) => Ref.update(runs, (before) => [...before, text])
      const processes = yield* Effect.forEach(Arr.range(1, 5), () => start({ once }, quick))
      const [first] = processes
      if (first === undefined) return
      const names = Arr.range(1, 20).map(String)
      const ids = yield* Effect.forEach(names, (text, index) => call(processes[index % 5] ?? first, "once", text))
      for (const taskId of ids) yield* becomes(first, taskId, "completed")
      assert.deepStrictEqual((yield* Ref.get(runs)).toSorted(), names.toSorted())
    })),

  test("runs as many handlers at a time as it has slots, and all of them in the end", ({ becomes, until }) =>
    Effect.gen(function*() {
      const { measure, most } = yield* gauge
      const both = until("two run", Effect.map(most, (count) => count === 2))
      const process = yield* start({ once: () => measure(both) }, { ...quick, concurrency: 2 })
      const ids = yield* Effect.forEach(Arr.range(1, 6), () => call(process, "once"))
      for (const taskId of ids) yield* becomes(process, taskId, "completed")
      assert.strictEqual(yield* most, 2)
    })),

  test(
    "a handler that waits for input leaves its slot to others, and has one again when it goes on",
    ({ becomes, until }) =>
      Effect.gen(function*() {
        const { measure, most } = yield* gauge
        const gate = yield* Deferred.make<void>()
        const process = yield* start({
          once: (text) => Effect.tap(asking(text), measure(Effect.void)),
          resumable: () => measure(Deferred.await(gate))
        }, { ...quick, concurrency: 1 })
        const asked = yield* Effect.forEach(Arr.range(1, 20), () => call(process, "once"))
        for (const taskId of asked) yield* becomes(process, taskId, "input_required")
        const busy = yield* call(process, "resumable")
        yield* until("the slot is taken", Effect.map(most, (count) => count === 1))
        for (const taskId of asked) yield* process.engine.answer(owner, taskId, accept)
        for (const taskId of asked) assert.strictEqual((yield* get(process, taskId)).status, "working")
        yield* Deferred.succeed(gate, undefined)
        for (const taskId of [busy, ...asked]) yield* becomes(process, taskId, "completed")
        assert.strictEqual(yield* most, 1)
      })
  ),

  test("an answer and a cancel given to one replica reach the handler on another", ({ becomes, until }) =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(0)
      const running = yield* start({
        once: asking,
        resumable: () => Effect.onInterrupt(Effect.never, () => Ref.update(interrupted, (count) => count + 1))
      }, { ...quick, heartbeat: "10 minutes" })
      const other = yield* start({}, idle)
      const asked = yield* call(other, "once")
      yield* becomes(other, asked, "input_required")
      yield* other.engine.answer(owner, asked, accept)
      yield* becomes(other, asked, "completed")
      const endless = yield* call(other, "resumable")
      yield* until("it runs", Effect.map((yield* Fleet).store.list({ live: true, limit: 9 }), ([first]) =>
        first !== undefined && first.task.attempt === 1))
      yield* other.engine.cancel(owner, endless)
      yield* becomes(running, endless, "cancelled")
      assert.strictEqual(yield* Ref.get(interrupted), 1)
    })),

  test("they reach it within a heartbeat when every signal is lost", ({ becomes }) =>
    Effect.gen(function*() {
      const interrupted = yield* Ref.make(0)
      const running = yield* start({
        once: asking,
        resumable: () => Effect.onInterrupt(Effect.never, () => Ref.update(interrupted, (count) => count + 1))
      }, quick)
      const other = yield* start({}, idle)
      other.link.isDeaf = true
      const asked = yield* call(other, "once")
      const endless = yield* call(other, "resumable")
      yield* becomes(other, asked, "input_required")
      yield* other.engine.answer(owner, asked, accept)
      yield* other.engine.cancel(owner, endless)
      yield* becomes(running, asked, "completed")
      yield* becomes(running, endless, "cancelled")
    })),

  test("a task that was cancelled while it waited for a slot is never run", ({ becomes }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const gate = yield* Deferred.make<void>()
      const process = yield* start({
        once: () => Deferred.await(gate),
        resumable: () => Ref.update(runs, (count) => count + 1)
      }, { ...quick, concurrency: 1 })
      const busy = yield* call(process, "once")
      const cancelled = yield* call(process, "resumable")
      yield* process.engine.cancel(owner, cancelled)
      assert.strictEqual((yield* get(process, cancelled)).status, "cancelled")
      yield* Deferred.succeed(gate, undefined)
      yield* becomes(process, busy, "completed")
      yield* becomes(process, yield* call(process, "once"), "completed")
      assert.strictEqual(yield* Ref.get(runs), 0)
    })),

  test("what a dead worker had goes on elsewhere, with the steps that it had finished", ({ becomes, until }) =>
    Effect.gen(function*() {
      const steps = yield* Ref.make(0)
      const runs = yield* Ref.make(0)
      const resumable = (text: string) =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          yield* task.step("count", Schema.Int, Ref.updateAndGet(steps, (count) => count + 1))
          const run = yield* Ref.updateAndGet(runs, (count) => count + 1)
          return yield* text === "ask" ? asking(text) : run <= 1 ? Effect.never : Effect.succeed(run)
        })
      const first = yield* start({ resumable, once: asking }, quick)
      const second = yield* start({ resumable }, idle)
      const working = yield* call(second, "resumable")
      yield* until("it works", is(1)(runs))
      const parked = yield* call(second, "resumable", "ask")
      const unrepeatable = yield* call(second, "once")
      yield* becomes(second, parked, "input_required")
      yield* becomes(second, unrepeatable, "input_required")
      yield* first.kill
      const third = yield* start({ resumable, once: asking }, quick)
      yield* becomes(second, working, "completed")
      yield* becomes(second, unrepeatable, "failed")
      yield* until("both run again", is(4)(runs))
      yield* second.engine.answer(owner, parked, accept)
      assert.match((yield* becomes(third, parked, "completed")).result.content[0].text, /^attempt 2/)
      assert.strictEqual(yield* Ref.get(steps), 2)
    })),

  test(
    "a worker that wakes after its lease is refused everything, and its handler is interrupted",
    ({ becomes, until }) =>
      Effect.gen(function*() {
        const gates = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
        const interrupted = yield* Ref.make(0)
        const handler = (gate: Deferred.Deferred<void>, name: string) => () =>
          Effect.gen(function*() {
            const task = yield* CurrentTask.CurrentTask
            yield* task.report(`${name} began`)
            yield* Deferred.await(gate)
            yield* task.report(`${name} goes on`)
            return name
          }).pipe(Effect.onInterrupt(() => Ref.update(interrupted, (count) => count + 1)))
        const first = yield* start({ resumable: handler(gates[0], "first") }, quick)
        const taskId = yield* call(first, "resumable")
        yield* until("it runs", Effect.map(get(first, taskId), (task) => task.statusMessage === "first began"))
        const second = yield* start({ resumable: handler(gates[1], "second") }, quick)
        first.link.cut()
        yield* until("taken up", Effect.map(get(second, taskId), (task) => task.statusMessage === "second began"))
        first.link.mend()
        yield* until("the late handler is interrupted", is(1)(interrupted))
        yield* Deferred.succeed(gates[0], undefined)
        yield* Deferred.succeed(gates[1], undefined)
        const done = yield* becomes(first, taskId, "completed")
        assert.strictEqual(done.result.content[0].text, "second")
        assert.strictEqual(done.statusMessage, undefined)
      })
  ),

  test("a worker that was away, and whose tasks nobody took up, keeps them", ({ becomes, until }) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const only = yield* start({ once: () => Effect.as(Deferred.await(gate), "kept") }, quick)
      const other = yield* start({}, idle)
      const taskId = yield* call(other, "once")
      const { store } = yield* Fleet
      const attempt = Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task.attempt)
      yield* until("it runs", Effect.map(attempt, (number) => number === 1))
      only.link.cut()
      yield* Effect.forkChild(Effect.andThen(Effect.sleep("4 seconds"), Effect.sync(only.link.mend)))
      yield* Deferred.succeed(gate, undefined)
      const done = yield* becomes(other, taskId, "completed")
      assert.strictEqual(done.result.content[0].text, "kept")
      assert.strictEqual(yield* attempt, 1)
    }))
]
