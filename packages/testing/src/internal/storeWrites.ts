/**
 * Creating, replacing, removing and counting: the part of the store suite that is about one task and its owner.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { completed, working } from "../StoredTasks.ts"
import { create, dueIds, listIds, type StoreCase, test } from "./storeCase.ts"

const creates: ReadonlyArray<StoreCase> = [
  test("creates version 1, which every later read finds", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    assert.deepStrictEqual(yield* create(working()), { task: working(), version: 1 })
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: working(), version: 1 }))
  })),

  test("knows nothing of an unknown task", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    assert.deepStrictEqual(yield* store.read("task-1"), Option.none())
    assert.deepStrictEqual(yield* store.view("task-1"), Option.none())
    assert.isFalse(yield* store.remove("task-1", 1))
    assert.strictEqual(yield* store.countLive("ada"), 0)
    assert.deepStrictEqual(yield* store.due(Number.MAX_SAFE_INTEGER, 10), [])
    assert.deepStrictEqual(yield* store.list({ limit: 10 }), [])
    const conflict = yield* Effect.flip(store.replace({ task: working(), version: 1 }, working()))
    assert.instanceOf(conflict, TaskStore.VersionConflict)
  })),

  test("refuses a second task of one id, whoever owns it, and keeps the first", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    yield* create(working())
    const refusal = yield* Effect.flip(create(working({ owner: "eve", tool: "other" })))
    assert.instanceOf(refusal, TaskStore.TaskAlreadyExists)
    assert.strictEqual(refusal.taskId, "task-1")
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: working(), version: 1 }))
    assert.strictEqual(yield* store.countLive("eve"), 0)
  })),

  test("refuses more live tasks of an owner than the limit, and says which", Effect.gen(function*() {
    yield* create(working({ taskId: "a" }), { maxLive: 2 })
    yield* create(working({ taskId: "b" }), { maxLive: 2 })
    const refusal = yield* Effect.flip(create(working({ taskId: "c" }), { maxLive: 2 }))
    assert.instanceOf(refusal, TaskStore.TooManyTasks)
    assert.strictEqual(refusal.limit, 2)
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["a", "b"])
    yield* create(working({ taskId: "c", owner: "bob" }), { maxLive: 2 })
    assert.instanceOf(yield* Effect.flip(create(working({ taskId: "d", owner: "new" }), { maxLive: 0 })),
      TaskStore.TooManyTasks)
  })),

  test("calls a known id a known id, also at the limit", Effect.gen(function*() {
    yield* create(working(), { maxLive: 1 })
    assert.instanceOf(yield* Effect.flip(create(working(), { maxLive: 1 })), TaskStore.TaskAlreadyExists)
  })),

  test("counts a task no longer once it has ended or gone", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const first = yield* create(working({ taskId: "a" }), { maxLive: 2 })
    yield* create(working({ taskId: "b" }), { maxLive: 2 })
    assert.strictEqual(yield* store.countLive("ada"), 2)
    yield* store.replace(first, completed(working({ taskId: "a" })))
    assert.strictEqual(yield* store.countLive("ada"), 1)
    yield* create(working({ taskId: "c" }), { maxLive: 2 })
    assert.isTrue(yield* store.remove("b", 1))
    assert.strictEqual(yield* store.countLive("ada"), 1)
    yield* create(working({ taskId: "d" }), { maxLive: 2 })
    assert.strictEqual(yield* store.countLive("ada"), 2)
  }))
]

const counts: ReadonlyArray<StoreCase> = [
  test("creates exactly as many as the limit, of 100 that come at once", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const outcomes = yield* Effect.forEach(
      Arr.range(1, 100),
      (n) => Effect.result(create(working({ taskId: `task-${n}` }), { maxLive: 10 })),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(outcomes.filter(Result.isSuccess).length, 10)
    for (const { failure } of outcomes.filter(Result.isFailure)) assert.instanceOf(failure, TaskStore.TooManyTasks)
    assert.strictEqual(yield* store.countLive("ada"), 10)
    assert.strictEqual((yield* store.list({ limit: 100 })).length, 10)
  }), ["exactLimit"])
]

const replaces: ReadonlyArray<StoreCase> = [
  test("replaces the version that was read, and gives back the next", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const first = yield* create(working())
    const next = working({ statusMessage: "half-way" })
    const second = yield* store.replace(first, next)
    assert.deepStrictEqual(second, { task: next, version: 2 })
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some(second))
    const stale = yield* Effect.flip(store.replace(first, working({ statusMessage: "late" })))
    assert.instanceOf(stale, TaskStore.VersionConflict)
    assert.deepStrictEqual([stale.taskId, stale.version], ["task-1", 1])
    // A version that was never given out is no better than one that is past.
    for (const version of [0, 3, 99]) {
      const made = yield* Effect.flip(store.replace({ task: next, version }, working({ statusMessage: "made up" })))
      assert.instanceOf(made, TaskStore.VersionConflict)
    }
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some(second))
  })),

  test("lets exactly one of 50 writers win, 20 times over", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    let held: Stored = yield* create(working())
    for (let round = 0; round < 20; round++) {
      const outcomes = yield* Effect.forEach(
        Arr.range(1, 50),
        (n) => Effect.result(store.replace(held, working({ statusMessage: `${round}/${n}` }))),
        { concurrency: "unbounded" }
      )
      const [winner, ...others] = outcomes.filter(Result.isSuccess)
      assert.deepStrictEqual(others, [])
      assert.isDefined(winner)
      held = yield* Effect.map(store.read("task-1"), Option.getOrThrow)
      assert.deepStrictEqual(held, winner.success)
      assert.strictEqual(held.version, round + 2)
    }
  })),

  test("counts versions on beyond what one byte holds", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    let held: Stored = yield* create(working())
    for (let version = 2; version <= 300; version++) {
      const before = held
      held = yield* store.replace(before, working({ statusMessage: `${version}` }))
      assert.strictEqual(held.version, version)
      if (version < 255 || version > 258) continue
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
      assert.instanceOf(yield* Effect.flip(store.replace(before, working())), TaskStore.VersionConflict)
    }
    assert.isFalse(yield* store.remove("task-1", 299))
    assert.isFalse(yield* store.remove("task-1", 300 - 256))
    assert.isTrue(yield* store.remove("task-1", 300))
  })),

  test("dies rather than replace a task by another one, or by another owner's", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const held = yield* create(working())
    for (const next of [working({ taskId: "task-2" }), working({ owner: "eve" })]) {
      const exit = yield* Effect.exit(store.replace(held, next))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), JSON.stringify(next))
    }
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["task-1"])
    assert.strictEqual(yield* store.countLive("ada"), 1)
    assert.strictEqual(yield* store.countLive("eve"), 0)
  })),

  test("removes a task under its own version only", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const second = yield* store.replace(yield* create(working()), working({ statusMessage: "x" }))
    for (const version of [0, 1, 3]) assert.isFalse(yield* store.remove("task-1", version))
    assert.isTrue(Option.isSome(yield* store.read("task-1")))
    assert.isTrue(yield* store.remove("task-1", second.version))
    assert.isFalse(yield* store.remove("task-1", second.version))
    assert.deepStrictEqual(yield* store.read("task-1"), Option.none())
    assert.deepStrictEqual(yield* dueIds(Number.MAX_SAFE_INTEGER), [])
    assert.deepStrictEqual(yield* create(working()), { task: working(), version: 1 })
  })),

  test("keeps what was written, whatever is done to the value afterwards", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const given = structuredClone(working())
    yield* create(given)
    Object.assign(given.arguments, { topic: "coffee" })
    const read = Option.getOrThrow(yield* store.read("task-1"))
    assert.deepStrictEqual(read.task, working())
    Object.assign(read.task.arguments, { topic: "cocoa" })
    Object.assign(Option.getOrThrow(yield* store.view("task-1")), { owner: "eve", head: "{}" })
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: working(), version: 1 }))
    const view = Option.getOrThrow(yield* store.view("task-1"))
    assert.deepStrictEqual([view.owner, view.head], ["ada", TaskWire.encodeHead(working())])
  }))
]

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<StoreCase> = [...creates, ...counts, ...replaces]
