/**
 * What holds when the storage, the queue, a tool or a clock does not do as it should.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import { assert } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Fleet, type ProcessOptions, start } from "../Fleet.ts"
import { call, get, owner } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing("replicas")
const timed = needing("replicas", "virtualTime")
const quick: ProcessOptions = { lease: "1 second", grace: "0 seconds", scan: "2 seconds", heartbeat: "2 seconds" }
const idle: ProcessOptions = { ...quick, concurrency: 0 }

/** A later release, without `once` and with other arguments for `resumable`. */
const later = (() => {
  const kit = Toolkit.make(
    Tool.make("resumable", { parameters: Schema.Struct({ text: Schema.Literal("later") }), success: Schema.String })
      .annotate(TaskTool.Policy, {})
  )
  return Layer.provide(TaskTools.layer(kit), kit.toLayer({ resumable: () => Effect.succeed("ran") }))
})()

const newTask = {
  owner: TaskOwner.key(owner),
  tool: "once",
  arguments: {},
  capabilities: {},
  ttlMs: 600_000,
  pollIntervalMs: 1_000,
  policy: { recovery: "fail", resultTtlMs: 10_000, maxLostAttempts: 5, maxQuestions: 10, maxSteps: 10 }
} as const

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

const losses: ReadonlyArray<RunnerCase> = [
  test("a task that was created and never offered is found, and run", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({}, quick)
      const { task } = yield* process.engine.create(newTask, { started: false })
      yield* becomes(process, task.taskId, "completed")
    })),

  test("a task whose entry went down with the process that took it is run all the same", ({ becomes, until }) =>
    Effect.gen(function*() {
      const other = yield* start({}, idle)
      const dying = yield* start({}, quick)
      dying.link.disturb = (operation, effect) => {
        if (operation !== "read") return effect
        dying.link.cut()
        return Effect.never
      }
      const taskId = yield* call(other, "once")
      yield* until("it is down", Effect.sync(() => dying.link.isCut))
      yield* start({}, quick)
      yield* becomes(other, taskId, "completed")
      assert.strictEqual((yield* read(taskId)).attempt, 1)
    })),

  test("a worker whose every other write is applied and its reply lost does everything once", ({ becomes }) =>
    Effect.gen(function*() {
      const steps = yield* Ref.make(0)
      const runs = yield* Ref.make(0)
      const resumable = () =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          yield* Ref.update(runs, (count) => count + 1)
          for (const name of ["a", "b", "c"]) {
            yield* task.step(name, Schema.Int, Ref.updateAndGet(steps, (count) => count + 1))
            yield* task.report(name)
          }
          return "done"
        })
      const process = yield* start({ resumable }, quick)
      const other = yield* start({}, idle)
      let writes = 0
      process.link.disturb = (operation, effect) =>
        operation === "replace" && writes++ % 2 === 0
          ? Effect.flatMap(effect, () => process.link.fail(operation))
          : effect
      const taskId = yield* call(other, "resumable")
      yield* becomes(other, taskId, "completed")
      const { attempt, lostAttempts } = yield* read(taskId)
      assert.deepStrictEqual({ attempt, lostAttempts }, { attempt: 1, lostAttempts: 0 })
      assert.strictEqual(yield* Ref.get(runs), 1)
      assert.strictEqual(yield* Ref.get(steps), 3)
      assert.isAbove(writes, 6)
    })),

  test("a task that outgrows its store ends, whether with a step or with its result", ({ becomes }) =>
    Effect.gen(function*() {
      const goneOn = yield* Ref.make(false)
      const once = (text: string) =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          if (text === "step") yield* task.step("large", Schema.Int, Effect.succeed(1))
          if (text === "step") yield* Ref.set(goneOn, true)
          return "large"
        })
      const process = yield* start({ once }, quick)
      const other = yield* start({}, idle)
      for (const text of ["step", "result"]) {
        let writes = 0
        process.link.disturb = (operation, effect) =>
          operation === "replace" && ++writes === 2 ? process.link.fail(operation, "TooLarge") : effect
        const { error } = yield* becomes(other, yield* call(other, "once", text), "failed")
        assert.strictEqual(error.message, "The task has become larger than the store can keep")
      }
      assert.isFalse(yield* Ref.get(goneOn))
    })),

  test("a tool that is no more, and arguments that do not fit it any more, end their tasks in words", ({ becomes }) =>
    Effect.gen(function*() {
      const other = yield* start({}, idle)
      const gone = yield* call(other, "once")
      const changed = yield* call(other, "resumable", "earlier")
      yield* start({}, { ...quick, tools: later })
      assert.strictEqual((yield* becomes(other, gone, "failed")).error.message, "The tool once no longer exists")
      const { error } = yield* becomes(other, changed, "failed")
      assert.strictEqual(error.code, -32603)
      assert.match(error.message, /^Invalid arguments for tool resumable: .*text/s)
    })),

  test("a handler that takes down each process that runs it does not take down the fleet", ({ becomes, until }) =>
    Effect.gen(function*() {
      const other = yield* start({}, idle)
      const deadly = yield* call(other, "resumable")
      for (let round = 0; round < 3; round++) {
        const running = yield* Ref.make(false)
        const victim = yield* start({ resumable: () => Effect.andThen(Ref.set(running, true), Effect.never) }, quick)
        yield* until("it runs", Ref.get(running))
        yield* victim.kill
      }
      yield* start({}, quick)
      yield* becomes(other, deadly, "failed")
      yield* becomes(other, yield* call(other, "once"), "completed")
    }))
]

const outages: ReadonlyArray<RunnerCase> = [
  test("a storage that is away for a while makes its process not ready, and loses nothing", ({ becomes, until }) =>
    Effect.gen(function*() {
      const isRunning = yield* Ref.make(false)
      const once = () =>
        Effect.gen(function*() {
          yield* Ref.set(isRunning, true)
          yield* Effect.sleep("1 second")
          yield* (yield* CurrentTask.CurrentTask).report("on")
          return "through"
        })
      const process = yield* start({ once }, quick)
      const other = yield* start({}, idle)
      const isReady = Effect.map(process.health.ready, (readiness) => readiness.isReady)
      yield* until("it is ready", isReady)
      const taskId = yield* call(other, "once")
      yield* until("it runs", Ref.get(isRunning))
      const waiting = yield* Effect.forEach([1, 2, 3], () => call(other, "resumable"))
      process.link.disturb = (operation) => process.link.fail(operation)
      yield* until("it is not ready", Effect.map(isReady, (ready) => !ready))
      yield* Effect.forkChild(
        Effect.andThen(Effect.sleep("4 seconds"), Effect.sync(() => {
          process.link.disturb = (_operation, effect) => effect
        }))
      )
      for (const id of [taskId, ...waiting]) yield* becomes(other, id, "completed")
      yield* until("it is ready again", isReady)
    }))
]

const minutes = (count: number) => count * 60_000

const clocks: ReadonlyArray<RunnerCase> = [
  timed("replicas whose clocks are five minutes apart expire a task at its time, and keep their leases", () =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const once = () => Effect.andThen(Ref.update(runs, (count) => count + 1), Effect.never)
      const early = yield* start({ once }, { ...quick, ahead: () => minutes(-5) })
      const late = yield* start({ once }, { ...quick, ahead: () => minutes(5) })
      const right = yield* start({ once }, quick)
      const ids = [yield* call(early, "once"), yield* call(late, "once"), yield* call(right, "once")]
      yield* TestClock.adjust("59 seconds")
      for (const taskId of ids) {
        for (const process of [early, late, right]) assert.strictEqual((yield* get(process, taskId)).status, "working")
        const { attempt, lostAttempts } = yield* read(taskId)
        assert.deepStrictEqual({ attempt, lostAttempts }, { attempt: 1, lostAttempts: 0 })
      }
      yield* TestClock.adjust("2 seconds")
      for (const taskId of ids) {
        for (const process of [early, late, right]) assert.strictEqual((yield* get(process, taskId)).status, "failed")
      }
      assert.strictEqual(yield* Ref.get(runs), 3)
      yield* TestClock.adjust("12 seconds")
      for (const taskId of ids) {
        assert.isTrue(Option.isNone(yield* (yield* Fleet).store.read(taskId)))
      }
    })),

  timed("a dead worker is found out whatever the clocks say", ({ becomes, until }) =>
    Effect.gen(function*() {
      const first = yield* start({ resumable: () => Effect.never }, { ...quick, ahead: () => minutes(5) })
      const taskId = yield* call(first, "resumable")
      yield* until("it runs", Effect.map(read(taskId), ({ attempt }) => attempt === 1))
      const second = yield* start({}, { ...quick, ahead: () => minutes(-5) })
      yield* first.kill
      yield* becomes(second, taskId, "completed")
    })),

  timed("a machine whose clock steps back an hour goes on as if it had not", ({ becomes, until }) =>
    Effect.gen(function*() {
      let ahead = 0
      const gate = yield* Ref.make(false)
      const resumable = (text: string) =>
        text === "short" ? Effect.never : Effect.repeat(Ref.get(gate), { until: (isOpen) => isOpen })
      const stepping = yield* start({ once: () => Effect.never, resumable }, { ...quick, ahead: () => ahead })
      const other = yield* start({}, idle)
      const expiring = yield* call(stepping, "once")
      yield* until("it runs", Effect.map(read(expiring), ({ attempt }) => attempt === 1))
      ahead = minutes(-60)
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual((yield* read(expiring)).attempt, 1)
      assert.isTrue((yield* stepping.health.ready).isReady)
      const queued = yield* call(stepping, "once")
      assert.strictEqual((yield* get(stepping, expiring)).status, "working")
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual((yield* get(other, expiring)).status, "failed")
      assert.strictEqual((yield* get(stepping, queued)).status, "working")
      yield* stepping.kill
      yield* start({}, quick)
      yield* becomes(other, queued, "failed")
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [...losses, ...outages, ...clocks]
