import { TaskMachine } from "@effect-mcp-tasks/core"
import { TaskSignal, TaskStore } from "@effect-mcp-tasks/engine"
import { Fault, FaultyClock, FaultySignal, FaultyStore, TaskSpec } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option, PubSub, Result } from "effect"
import { TestClock } from "effect/testing"

const faulty = FaultyStore.layer.pipe(Layer.provideMerge(Layer.fresh(TaskStore.layerMemory)))

const noLimit = { maxLive: 10 }
const task = (taskId: string) => TaskMachine.create({ ...TaskSpec.newTask, taskId })

const services = Effect.all({ store: TaskStore.TaskStore, faults: FaultyStore.FaultyStore })

/** Whether an effect has ended after all that can go on has gone on. */
const isPending = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.as(TestClock.adjust(0), fiber.pollUnsafe() === undefined)

describe("FaultyStore", () => {
  it.effect("lets everything through that nothing was said of", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      const stored = yield* store.create(task("a"), noLimit)
      yield* store.replace(stored, { ...stored.task, pollIntervalMs: 1 })
      assert.strictEqual((yield* store.list({ limit: 5 })).length, 1)
      assert.strictEqual(yield* store.countLive("alice"), 1)
      assert.isTrue(Option.isSome(yield* store.view("a")))
      assert.deepStrictEqual((yield* store.due(Number.MAX_SAFE_INTEGER, 5)).map(({ version }) => version), [2])
      assert.isTrue(yield* store.remove("a", 2))
      assert.deepStrictEqual((yield* faults.calls).map(({ operation, taskId }) => `${operation} ${taskId}`), [
        "create a",
        "replace a",
        "list undefined",
        "countLive undefined",
        "view a",
        "due undefined",
        "remove a"
      ])
    }).pipe(Effect.provide(faulty)))

  it.effect("fails the next call of an operation, once, and does nothing", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      yield* faults.next("create", Fault.fail)
      const error = yield* Effect.flip(store.create(task("a"), noLimit))
      assert.instanceOf(error, TaskStore.TaskStoreError)
      assert.deepStrictEqual([error.operation, error.reason], ["create", "Unavailable"])
      assert.deepStrictEqual(yield* store.read("a"), Option.none())
      yield* store.create(task("a"), noLimit)
    }).pipe(Effect.provide(faulty)))

  it.effect("counts the calls that pass before the one that is meant", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      yield* faults.next("writes", Fault.none, Fault.fail)
      const stored = yield* store.create(task("a"), noLimit)
      yield* store.read("a")
      assert.isTrue(Result.isFailure(yield* Effect.result(store.replace(stored, stored.task))))
      yield* faults.next("any", Fault.fail)
      yield* faults.next("view", Fault.none)
      yield* store.view("a")
      assert.isTrue(Result.isFailure(yield* Effect.result(store.read("a"))))
    }).pipe(Effect.provide(faulty)))

  it.effect("loses a reply after doing what was asked", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      yield* faults.next("create", Fault.loseReply)
      assert.isTrue(Result.isFailure(yield* Effect.result(store.create(task("a"), noLimit))))
      assert.isTrue(Option.isSome(yield* store.read("a")))
    }).pipe(Effect.provide(faulty)))

  it.effect("does a call twice", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      const stored = yield* store.create(task("a"), noLimit)
      yield* faults.next("replace", Fault.duplicate)
      const error = yield* Effect.flip(store.replace(stored, { ...stored.task, pollIntervalMs: 1 }))
      assert.instanceOf(error, TaskStore.VersionConflict)
      assert.strictEqual(Option.getOrThrow(yield* store.read("a")).version, 2)
    }).pipe(Effect.provide(faulty)))

  it.effect("delays a call", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      yield* faults.next("create", Fault.delay("1 minute"))
      const creating = yield* Effect.forkChild(store.create(task("a"), noLimit))
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* store.read("a"), Option.none())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(creating)
    }).pipe(Effect.provide(faulty)))

  it.effect("does a call after the next one", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      yield* faults.next("create", Fault.reorder)
      const first = yield* Effect.forkChild(store.create(task("a"), { maxLive: 1 }))
      assert.isTrue(yield* isPending(first))
      yield* store.create(task("b"), { maxLive: 1 })
      assert.instanceOf(yield* Effect.flip(Fiber.join(first)), TaskStore.TooManyTasks)
    }).pipe(Effect.provide(faulty)))

  it.effect("neither does nor answers what is dropped", () =>
    Effect.gen(function*() {
      const { faults, store } = yield* services
      yield* faults.next("create", Fault.drop)
      const creating = yield* Effect.forkChild(store.create(task("a"), noLimit))
      assert.isTrue(yield* isPending(creating))
      assert.deepStrictEqual(yield* store.read("a"), Option.none())
      yield* Fiber.interrupt(creating)
    }).pipe(Effect.provide(faulty)))

  for (const [when, fault, kept] of [["before", Fault.crashBefore, 1], ["after", Fault.crashAfter, 2]] as const) {
    it.effect(`crashes ${when} a write, and answers nothing until the process is started again`, () =>
      Effect.gen(function*() {
        const { faults, store } = yield* services
        yield* faults.next("writes", Fault.none, fault)
        const stored = yield* store.create(task("a"), noLimit)
        const dead = yield* Effect.forkChild(Effect.andThen(store.replace(stored, stored.task), store.read("a")))
        const late = yield* Effect.forkChild(store.create(task("b"), noLimit))
        assert.deepStrictEqual([yield* isPending(dead), yield* isPending(late)], [true, true])
        assert.isTrue(yield* faults.hasCrashed)
        yield* faults.restart
        assert.isFalse(yield* faults.hasCrashed)
        assert.strictEqual(Option.getOrThrow(yield* store.read("a")).version, kept)
        assert.deepStrictEqual(yield* store.read("b"), Option.none())
        assert.deepStrictEqual([yield* isPending(dead), yield* isPending(late)], [true, true])
      }).pipe(Effect.provide(faulty)))
  }
})

describe("FaultySignal", () => {
  const faultySignal = FaultySignal.layer.pipe(Layer.provide(Layer.fresh(TaskSignal.layerMemory)))

  const heard = (subscription: PubSub.Subscription<string>) =>
    Effect.andThen(TestClock.adjust(0), PubSub.takeUpTo(subscription, 100))

  it.effect("drops, doubles, delays and reorders", () =>
    Effect.gen(function*() {
      const faults = yield* FaultySignal.FaultySignal
      const signal = yield* TaskSignal.TaskSignal
      const subscription = yield* signal.subscribe
      const { delay, drop, duplicate, none, reorder } = Fault
      yield* faults.next(none, drop, duplicate, reorder, none, delay("1 second"))
      for (const taskId of ["a", "b", "c", "d", "e", "f", "g"]) yield* signal.publish(taskId)
      assert.deepStrictEqual(yield* heard(subscription), ["a", "c", "c", "e", "d", "g"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* heard(subscription), ["f"])
      assert.deepStrictEqual(yield* faults.published, ["a", "b", "c", "d", "e", "f", "g"])
    }).pipe(Effect.provide(faultySignal), Effect.scoped))

  it.effect("suffers one fault always, but for what is said of the next", () =>
    Effect.gen(function*() {
      const faults = yield* FaultySignal.FaultySignal
      const signal = yield* TaskSignal.TaskSignal
      const subscription = yield* signal.subscribe
      yield* faults.always(Fault.drop)
      yield* faults.next(Fault.none)
      for (const taskId of ["a", "b", "c"]) yield* signal.publish(taskId)
      assert.deepStrictEqual(yield* heard(subscription), ["a"])
    }).pipe(Effect.provide(faultySignal), Effect.scoped))
})

describe("FaultyClock", () => {
  it.effect("is ahead, jumps, and sleeps as long as the clock below", () =>
    Effect.gen(function*() {
      const below = yield* Clock.currentTimeMillis
      const there = Effect.provide(
        Effect.gen(function*() {
          const clock = yield* FaultyClock.FaultyClock
          const first = yield* Clock.currentTimeMillis
          yield* clock.jump(-7_000)
          const second = yield* Clock.currentTimeMillis
          yield* Effect.sleep("1 second")
          return [first, second, yield* Clock.currentTimeMillis].map((at) => at - below)
        }),
        FaultyClock.layer(5_000)
      )
      const fiber = yield* Effect.forkChild(there)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [5_000, -2_000, -1_000])
    }))
})
