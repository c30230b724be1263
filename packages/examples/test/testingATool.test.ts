/**
 * The tests that `docs/guides/testing-a-tool.md` writes for the tool of `docs/guides/writing-a-tool.md`.
 */
import { TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { Fault, FaultyStore, TestTasks } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Random } from "effect"
import { TestClock } from "effect/testing"
import * as Transcode from "../src/guide.ts"

const server = Effect.provide(TestTasks.layerMemory(Transcode.layer))

describe("transcode", () => {
  it.effect("works for hours, once it knows the quality", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("transcode", { video: "cat", chapters: 12 })
      const asked = yield* task.until("input_required")
      assert.deepStrictEqual(Object.keys(asked.inputRequests), ["quality"])
      yield* task.accept("quality", { quality: "final" })

      const { createdAt, lastUpdatedAt, result } = yield* task.until("completed")
      assert.include(result["structuredContent"], { quality: "final", chapters: 12 })
      assert.strictEqual(lastUpdatedAt - createdAt, 2 * 60 * 60 * 1000)
    }).pipe(server))

  it.effect("says how far it is", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("transcode", { video: "cat", chapters: 3 })
      yield* task.until("input_required")
      yield* task.decline("quality")
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual((yield* task.now).statusMessage, "Chapter 2 of 3")
    }).pipe(server))

  it.effect("ends in every way that it can", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks

      const declined = yield* tasks.call("transcode", { video: "cat", chapters: 1 })
      yield* declined.until("input_required")
      yield* declined.decline("quality")
      assert.include((yield* declined.until("completed")).result["structuredContent"], { quality: "draft" })

      const missing = yield* (yield* tasks.call("transcode", { video: "missing", chapters: 1 })).until("completed")
      assert.isTrue(missing.result["isError"])

      const damaged = yield* tasks.call("transcode", { video: "damaged", chapters: 1 })
      yield* damaged.until("input_required")
      yield* damaged.accept("quality", { quality: "draft" })
      assert.include((yield* damaged.until("failed")).error, { message: "The encoder crashed in chapter 1" })

      const cancelled = yield* tasks.call("transcode", { video: "cat", chapters: 1 })
      yield* cancelled.until("input_required")
      yield* cancelled.cancel
      assert.strictEqual((yield* cancelled.ended).status, "cancelled")

      const forgotten = yield* tasks.call("transcode", { video: "cat", chapters: 1 })
      yield* TestClock.adjust("30 minutes")
      assert.strictEqual((yield* forgotten.ended).status, "failed")
    }).pipe(server))

  for (const how of ["crash", "shutdown"] as const) {
    it.effect(`buys one license, also when a ${how} comes between`, () =>
      Effect.gen(function*() {
        const tasks = yield* TestTasks.TestTasks
        const task = yield* tasks.call("transcode", { video: "cat", chapters: 2 })
        const { statusMessage } = yield* task.until("input_required")
        yield* tasks.restart(how)
        yield* task.accept("quality", { quality: "final" })
        yield* TestClock.adjust("15 minutes")
        yield* tasks.restart(how)

        const { result } = yield* task.until("completed")
        assert.include(result["structuredContent"], { license: statusMessage?.replace("Licensed as ", "") })
      }).pipe(server))
  }

  it.effect("shows nothing to another caller", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const ada = tasks.as(TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" }))
      const task = yield* ada.call("transcode", { video: "cat", chapters: 1 })
      const refusal = yield* Effect.flip(tasks.task(task.taskId).now)
      assert.strictEqual(refusal.code, -32602)
    }).pipe(server))

  it.effect("answers within the call when the client knows no tasks", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const result = yield* tasks.direct("transcode", { video: "cat", chapters: 0 })
      assert.include(result["structuredContent"], { quality: "draft", chapters: 0 })
    }).pipe(server))
})

describe("transcode on a store that fails", () => {
  const store = Layer.provideMerge(FaultyStore.layer, Layer.fresh(TaskStore.layerMemory))

  /** Chance that counts, so that a license says which purchase it is of. */
  const counting = Layer.sync(Random.Random, () => {
    let drawn = 0
    return { nextIntUnsafe: () => ++drawn, nextDoubleUnsafe: () => 0.5 }
  })
  const faulty = Effect.provide(
    TestTasks.layer(Transcode.layer).pipe(Layer.provideMerge(store), Layer.provide(counting))
  )

  it.effect("buys no second license when the reply of the store is lost", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const faults = yield* FaultyStore.FaultyStore
      yield* faults.next("replace", Fault.loseReply)
      const task = yield* tasks.call("transcode", { video: "cat", chapters: 1 })
      yield* task.until("input_required")
      yield* task.accept("quality", { quality: "final" })
      const { result } = yield* task.until("completed")
      assert.include(result["structuredContent"], { license: "cat-1" })
    }).pipe(faulty))

  it.effect("buys a second one when its process dies before it could remember the first", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const faults = yield* FaultyStore.FaultyStore
      yield* faults.next("replace", Fault.crashBefore)
      const task = yield* tasks.call("transcode", { video: "cat", chapters: 1 })
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* faults.hasCrashed)
      yield* tasks.restart("crash")
      assert.strictEqual((yield* task.until("input_required")).statusMessage, "Licensed as cat-2")
    }).pipe(faulty))

  it.effect("runs nothing for a call that could not be kept", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const faults = yield* FaultyStore.FaultyStore
      yield* faults.next("create", Fault.fail)
      const refusal = yield* Effect.flip(tasks.call("transcode", { video: "cat", chapters: 1 }))
      assert.instanceOf(refusal, TestTasks.Refused)
      assert.strictEqual(refusal.code, -32603)
      assert.notInclude((yield* faults.calls).map(({ operation }) => operation), "replace")
    }).pipe(faulty))
})
