/**
 * What becomes of tasks when one of several processes goes away in good order.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as FleetTime from "../FleetTime.ts"
import { Fleet, start } from "../Fleet.ts"
import { accept, asking, call, get, owner } from "../FleetTools.ts"
import { idle, needing, quick, type RunnerCase } from "./runnerCase.ts"

const test = needing("replicas")

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

const started = (until: FleetTime.Waiting["until"], taskId: string) =>
  until("it runs", Effect.map(read(taskId), ({ attempt }) => attempt === 1))

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  test("a handler that ends within the grace period has ended, and the process with it", ({ becomes, until }) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const leaving = yield* start({ once: () => Deferred.await(gate) }, quick)
      const other = yield* start({}, idle)
      const taskId = yield* call(other, "once")
      yield* started(until, taskId)
      const stopping = yield* Effect.forkChild(leaving.stop)
      yield* until("it is not ready", Effect.map(leaving.health.ready, ({ isReady, isStopping }) =>
        !isReady && isStopping))
      yield* Deferred.succeed(gate, "in time")
      assert.strictEqual((yield* becomes(other, taskId, "completed")).result.content[0].text, "in time")
      yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
      assert.strictEqual((yield* read(taskId)).attempt, 1)
    })),

  test("a handler that outlasts the grace period goes on elsewhere, without a lost attempt", ({ becomes, until }) =>
    Effect.gen(function*() {
      const steps = yield* Ref.make(0)
      const resumable = () =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          yield* task.step("one", Schema.Int, Ref.updateAndGet(steps, (count) => count + 1))
          return yield* task.attempt === 1 ? Effect.never : Effect.succeed("elsewhere")
        })
      const leaving = yield* start({ resumable, once: () => Effect.never }, quick)
      const other = yield* start({}, idle)
      const taskId = yield* call(other, "resumable")
      const unrepeatable = yield* call(other, "once")
      yield* started(until, taskId)
      yield* started(until, unrepeatable)
      yield* start({ resumable }, { ...quick, lease: "10 minutes", scan: "10 minutes" })
      const stopping = yield* Effect.forkChild(leaving.stop)
      assert.strictEqual((yield* becomes(other, taskId, "completed")).result.content[0].text, "elsewhere")
      assert.strictEqual((yield* becomes(other, unrepeatable, "failed")).error.code, -32603)
      yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
      const { attempt, lostAttempts } = yield* read(taskId)
      assert.deepStrictEqual({ attempt, lostAttempts }, { attempt: 2, lostAttempts: 0 })
      assert.strictEqual(yield* Ref.get(steps), 1)
    })),

  test(
    "what waits, for input or for its turn, is handed over unharmed, and nothing more is begun",
    ({ becomes, until }) =>
      Effect.gen(function*() {
        const runs = yield* Ref.make(0)
        const gate = yield* Deferred.make<string>()
        const resumable = (text: string) =>
          Effect.andThen(Ref.update(runs, (count) => count + 1), text === "ask" ? asking(text) : Effect.succeed("ran"))
        const leaving = yield* start({ once: () => Deferred.await(gate), resumable }, { ...quick, concurrency: 1 })
        const other = yield* start({}, idle)
        const parked = yield* call(other, "resumable", "ask")
        const before = yield* becomes(other, parked, "input_required")
        const busy = yield* call(other, "once")
        yield* started(until, busy)
        const queued = yield* call(leaving, "resumable")
        const stopping = yield* Effect.forkChild(leaving.stop)
        yield* until("handed back", Effect.map(read(parked), (task) => "running" in task && !task.running))
        yield* Deferred.succeed(gate, "in time")
        yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
        assert.strictEqual((yield* get(other, busy)).status, "completed")
        assert.strictEqual((yield* get(other, queued)).status, "working")
        assert.strictEqual(yield* Ref.get(runs), 1)
        yield* start({ resumable }, quick)
        yield* becomes(other, queued, "completed")
        yield* until("asked again", Effect.map(read(parked), (task) => task.attempt === 2))
        assert.deepStrictEqual(yield* get(other, parked), before)
        yield* other.engine.answer(owner, parked, accept)
        yield* becomes(other, parked, "completed")
        assert.strictEqual((yield* read(parked)).lostAttempts, 0)
      })
  ),

  test(
    "a handler that cannot be interrupted does not hold up the end, and is taken up by others",
    ({ becomes, until }) =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<string>()
        const resumable = () =>
          Effect.flatMap(CurrentTask.CurrentTask, ({ attempt }) =>
            attempt === 1 ? Effect.uninterruptible(Deferred.await(gate)) : Effect.succeed("elsewhere"))
        const leaving = yield* start({ resumable }, quick)
        const other = yield* start({}, idle)
        const taskId = yield* call(other, "resumable")
        yield* started(until, taskId)
        const stopping = yield* Effect.forkChild(leaving.stop)
        yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
        yield* start({ resumable }, quick)
        yield* becomes(other, taskId, "completed")
        yield* Deferred.succeed(gate, "too late")
        assert.strictEqual((yield* get(other, taskId)).result.content[0].text, "elsewhere")
      })
  ),

  test("a store that is away does not hold up the end either", ({ becomes, until }) =>
    Effect.gen(function*() {
      const leaving = yield* start({ resumable: () => Effect.never }, quick)
      const other = yield* start({}, idle)
      const taskId = yield* call(other, "resumable")
      yield* started(until, taskId)
      leaving.link.disturb = (operation) => leaving.link.fail(operation)
      const stopping = yield* Effect.forkChild(leaving.stop)
      yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
      yield* Fiber.join(stopping)
      yield* start({ resumable: () => Effect.succeed("elsewhere") }, quick)
      yield* becomes(other, taskId, "completed")
    }))
]
