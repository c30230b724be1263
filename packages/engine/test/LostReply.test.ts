/**
 * What the engine answers when a write was applied and its answer lost, or the store is slow.
 *
 * What holds: an error then means "perhaps". It is never told as a lost race, since the engine gives that error at once
 * and reads before it decides again. Every command may be given again: the machine finds its effect there, and
 * acknowledges it.
 */
import { Task } from "@effect-mcp-tasks/core"
import { TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Deferred, Effect, Exit, Fiber, Layer, Logger, Option, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CurrentTask } from "../src/CurrentTask.ts"
import * as LossyStore from "./LossyStore.ts"
import { call, get, owner, settle, start } from "./TestTools.ts"

const quiet = Effect.provide(Logger.layer([]))

/** Loses the answer of every write while it is on. */
const makeSwitch = () => {
  const state = { isOn: false }
  const decide: LossyStore.Decide = (operation) =>
    state.isOn && ["create", "replace", "remove"].includes(operation) ? "loses its answer" : "works"
  return { state, decide }
}

const asks = (ran: Array<string>) => () =>
  Effect.gen(function*() {
    const task = yield* CurrentTask
    yield* task.step("look", Schema.String, Effect.sync(() => {
      ran.push("look")
      return "seen"
    }))
    yield* task.extend("1 hour")
    yield* task.report("asking")
    const answer = yield* Effect.orDie(task.elicit("name", {
      message: "?",
      schema: Schema.Struct({ name: Schema.String })
    }))
    yield* task.step("write", Schema.String, Effect.sync(() => {
      ran.push("write")
      return "written"
    }))
    return answer.action === "accept" ? answer.content.name : answer.action
  })

const ada = { name: { action: "accept", content: { name: "Ada" } } }

describe("a write whose answer is lost", () => {
  it.effect("is told as an error, and has happened; to say it again is acknowledged", () => {
    const { decide, state } = makeSwitch()
    return Effect.gen(function*() {
      const ran: Array<string> = []
      const process = yield* start({ resumable: asks(ran) })
      const taskId = yield* call(process, "resumable")
      yield* settle
      state.isOn = true
      const error = yield* Effect.flip(process.engine.answer(owner, taskId, ada))
      state.isOn = false
      assert.strictEqual(error._tag === "TaskStoreError" && error.mayHaveHappened, true)
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      yield* process.engine.answer(owner, taskId, ada)
      yield* TestClock.adjust("1 second")
      yield* settle
      const ended = yield* get(process, taskId)
      assert.deepStrictEqual([ended.status, ended.result.content[0].text], ["completed", "Ada"])
      assert.deepStrictEqual(ran, ["look", "write"])
    }).pipe(quiet, Effect.provide(LossyStore.layer(decide)))
  })

  it.effect("cancels once", () => {
    const { decide, state } = makeSwitch()
    return Effect.gen(function*() {
      const process = yield* start({ resumable: asks([]) })
      const taskId = yield* call(process, "resumable")
      yield* settle
      state.isOn = true
      assert.strictEqual((yield* Effect.flip(process.engine.cancel(owner, taskId)))._tag, "TaskStoreError")
      state.isOn = false
      yield* process.engine.cancel(owner, taskId)
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
    }).pipe(quiet, Effect.provide(LossyStore.layer(decide)))
  })

  it.effect("that created a task is found out, and its handler runs", () => {
    const { decide, state } = makeSwitch()
    return Effect.gen(function*() {
      const process = yield* start({ resumable: () => Effect.succeed("ran") })
      state.isOn = true
      const taskId = yield* call(process, "resumable")
      state.isOn = false
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
      const store = yield* TaskStore.TaskStore
      assert.strictEqual((yield* store.list({ limit: 10 })).length, 1)
    }).pipe(quiet, Effect.provide(LossyStore.layer(decide)))
  })

  /** A store that keeps a task before it is asked to, and so finds it there. */
  const known = (keptAs: (task: Task.Task) => Task.Task) =>
    Layer.effect(TaskStore.TaskStore, Effect.map(TaskStore.TaskStore, (store) => ({
      ...store,
      create: (task: Task.Task, options: { readonly maxLive: number }) =>
        Effect.andThen(Effect.exit(store.create(keptAs(task), options)), store.create(task, options))
    }))).pipe(Layer.provide(TaskStore.layerMemory))

  it.effect("that created a task, and was sent again by the store's own client, is found out, too", () => {
    const runs = { count: 0 }
    return Effect.gen(function*() {
      const process = yield* start({ resumable: () => Effect.sync(() => ++runs.count) })
      const taskId = yield* call(process, "resumable")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
      assert.strictEqual(runs.count, 1)
      const store = yield* TaskStore.TaskStore
      assert.strictEqual((yield* store.list({ limit: 10 })).length, 1)
    }).pipe(Effect.provide(known((task) => task)))
  })

  it.effect("that found another one's task under its id is an error, and runs nothing", () =>
    Effect.gen(function*() {
      const process = yield* start({ resumable: () => Effect.die("It has run") })
      const error = yield* Effect.flip(call(process, "resumable"))
      assert.strictEqual(error._tag, "TaskAlreadyExists")
      yield* settle
      const store = yield* TaskStore.TaskStore
      assert.deepStrictEqual((yield* store.list({ limit: 10 })).map(({ task }) => [task.owner, task.status]), [
        ["eve", "working"]
      ])
    }).pipe(Effect.provide(known((task) => ({ ...task, owner: "eve" })))))

  it.effect("that took up a task is no lost attempt of it", () => {
    let lost = 0
    const decide: LossyStore.Decide = (operation) =>
      operation === "replace" && lost++ < 2 ? "loses its answer" : "works"
    return Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const queued = working({ owner: TaskOwner.key(owner), tool: "once", attempt: 0, running: false })
      yield* store.create(queued, { maxLive: 1 })
      const starting = yield* Effect.forkChild(start({ once: () => Effect.succeed("ran") }))
      yield* TestClock.adjust("1 second")
      const process = yield* Fiber.join(starting)
      yield* TestClock.adjust("1 second")
      yield* settle
      const { task } = Option.getOrThrow(yield* store.read(queued.taskId))
      assert.deepStrictEqual([task.status, task.attempt, task.lostAttempts], ["completed", 1, 0])
      yield* process.stop
    }).pipe(quiet, Effect.provide(LossyStore.layer(decide)))
  })

  it.effect("that did not create one is an error, and leaves none", () => {
    let isAway = false
    return Effect.gen(function*() {
      const process = yield* start()
      isAway = true
      assert.isTrue(Exit.isFailure(yield* Effect.exit(call(process, "resumable"))))
      isAway = false
      const store = yield* TaskStore.TaskStore
      assert.deepStrictEqual(yield* store.list({ limit: 10 }), [])
    }).pipe(Effect.provide(LossyStore.layer(() => isAway ? "fails" : "works")))
  })

  it.effect("never makes a worker's command count twice, nor its task end twice", () =>
    Effect.forEach(Arr.range(1, 25), (seed) => Effect.suspend(() => oneRun(seed)), { discard: true }))
})

/** One task from its call to its end, over a store of which three calls in ten go wrong. */
const oneRun = (seed: number) =>
  Effect.gen(function*() {
    const ran: Array<string> = []
    const store = yield* TaskStore.TaskStore
    const ends: Array<number> = []
    const chance = LossyStore.byChance(seed, 0.3)
    let isCalm = true
    const lossy = LossyStore.wrap(
      {
        ...store,
        replace: (stored, next) =>
          Effect.tap(store.replace(stored, next), ({ version }) =>
            Effect.sync(() => Task.isTerminal(next) && ends.push(version)))
      },
      (operation) => isCalm ? "works" : chance(operation)
    )
    const process = yield* Effect.provideService(start({ resumable: asks(ran) }), TaskStore.TaskStore, lossy)
    const taskId = yield* call(process, "resumable")
    isCalm = false
    let answered = false
    for (let second = 0; second < 600; second++) {
      yield* TestClock.adjust("1 second")
      yield* settle
      const { task } = Option.getOrThrow(yield* store.read(taskId))
      if (Task.isTerminal(task)) break
      if (task.status !== "input_required" || answered) continue
      answered = Result.isSuccess(yield* Effect.result(process.engine.answer(owner, taskId, ada)))
    }
    const { task } = Option.getOrThrow(yield* store.read(taskId))
    const outcome = task.status === "completed" ? JSON.parse(task.result).content[0].text : task.statusMessage
    assert.deepStrictEqual({ seed, status: task.status, outcome, ran, ends: ends.length }, {
      seed, status: "completed", outcome: "Ada", ran: ["look", "write"], ends: 1
    })
    assert.deepStrictEqual(task.steps.map(({ name }) => name), ["look", "write"])
    // The worker may still be asking whether its last command was heard.
    const stopping = yield* Effect.forkChild(process.stop)
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(stopping)
  }).pipe(quiet, Effect.provide(TaskStore.layerMemory))

describe("a slow store", () => {
  it.effect("answers late and right: one end, and every caller hears of it", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const slow = LossyStore.wrap(store, () => "works", Effect.sleep("3 seconds"))
      const release = yield* Deferred.make<void>()
      const starting = yield* Effect.forkChild(
        Effect.provideService(
          start({ resumable: () => Effect.as(Deferred.await(release), "done") }),
          TaskStore.TaskStore,
          slow
        )
      )
      yield* TestClock.adjust("3 seconds")
      const process = yield* Fiber.join(starting)
      const calling = yield* Effect.forkChild(call(process, "resumable"))
      yield* TestClock.adjust("3 seconds")
      const taskId = yield* Fiber.join(calling)
      const cancels = yield* Effect.forkChild(
        Effect.all(Arr.replicate(process.engine.cancel(owner, taskId), 10), { concurrency: "unbounded" })
      )
      yield* Deferred.succeed(release, undefined)
      const ends: Array<string> = []
      for (let second = 0; second < 30; second++) {
        yield* TestClock.adjust("1 second")
        yield* settle
        const { task, version } = Option.getOrThrow(yield* store.read(taskId))
        if (Task.isTerminal(task)) ends.push(`${task.status} ${version}`)
        if (ends.length > 5) break
      }
      assert.match(ends[0] ?? "", /^(completed|cancelled) /)
      assert.deepStrictEqual(new Set(ends).size, 1)
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(cancels)
    }).pipe(quiet, Effect.provide(TaskStore.layerMemory)))
})

describe("a store that can keep no larger record", () => {
  it.effect("fails the task in words, and does not try for ever", () => {
    const decide: LossyStore.Decide = (operation, next) =>
      next?.status === "completed"
        ? new TaskStore.TaskStoreError({ operation, reason: "TooLarge", cause: new RangeError("too large") })
        : "works"
    return Effect.gen(function*() {
      const process = yield* start({ resumable: () => Effect.succeed("x") })
      const taskId = yield* call(process, "resumable")
      yield* settle
      const { error, status } = yield* get(process, taskId)
      assert.strictEqual(status, "failed")
      assert.deepStrictEqual(error, {
        code: -32603,
        message: "The task has become larger than the store can keep"
      })
    }).pipe(quiet, Effect.provide(LossyStore.layer(decide)))
  })
})
