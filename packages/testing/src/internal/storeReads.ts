/**
 * Viewing, finding and listing: the part of the store suite that is about what is asked of many tasks.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { completed, createdAt, working } from "../StoredTasks.ts"
import { create, dueIds, listIds, type StoreCase, test } from "./storeCase.ts"

const finds: ReadonlyArray<StoreCase> = [
  test("views what a poll needs, and nothing else", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const first = yield* create(working())
    assert.deepStrictEqual(Option.getOrThrow(yield* store.view("task-1")), {
      taskId: "task-1",
      owner: "ada",
      live: true,
      dueAt: createdAt + 60_000,
      head: TaskWire.encodeHead(working()),
      result: null
    })
    const ended = completed(working({ ttlMs: null }), `{ "content" : [ ] , "b":1,"a":1.0e+00 }`)
    yield* store.replace(first, ended)
    assert.deepStrictEqual(Option.getOrThrow(yield* store.view("task-1")), {
      taskId: "task-1",
      owner: "ada",
      live: false,
      dueAt: null,
      head: TaskWire.encodeHead(ended),
      result: ended.result
    })
  })),

  test("finds what is due at or before now, the longest overdue first", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    yield* Effect.forEach([5, 1, 4, 2, 3], (n) => create(working({ taskId: `t${n}`, ttlMs: n * 1_000 })))
    yield* create(working({ taskId: "never", ttlMs: null }))
    assert.deepStrictEqual(yield* dueIds(createdAt + 999), [])
    assert.deepStrictEqual(yield* dueIds(createdAt + 1_000), ["t1"])
    assert.deepStrictEqual(yield* dueIds(createdAt + 3_999), ["t1", "t2", "t3"])
    assert.deepStrictEqual(yield* dueIds(createdAt + 9_000, 2), ["t1", "t2"])
    assert.deepStrictEqual(yield* dueIds(Number.MAX_SAFE_INTEGER), ["t1", "t2", "t3", "t4", "t5"])
    assert.deepStrictEqual(yield* dueIds(createdAt + 9_000, 0), [])
    yield* store.replace({ task: working({ taskId: "t1" }), version: 1 }, completed(working({ taskId: "t1" })))
    yield* store.remove("t2", 1)
    assert.deepStrictEqual(yield* store.due(createdAt + 60_000, 10), [
      { taskId: "t3", version: 1, live: true },
      { taskId: "t4", version: 1, live: true },
      { taskId: "t5", version: 1, live: true },
      { taskId: "t1", version: 2, live: false }
    ])
  })),

  test("tells deadlines apart beyond 32 bits and up to 2^53 - 1", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const last = Number.MAX_SAFE_INTEGER
    const at = { [`a`]: 2 ** 31, [`b`]: 2 ** 32 + 1, [`c`]: last - 1, [`d`]: last }
    for (const [taskId, ttlMs] of Object.entries(at)) {
      yield* create(working({ taskId, ttlMs, createdAt: 0, lastUpdatedAt: 0 }))
      assert.strictEqual(Option.getOrThrow(yield* store.view(taskId)).dueAt, ttlMs)
    }
    assert.deepStrictEqual(yield* dueIds(2 ** 31 - 1), [])
    assert.deepStrictEqual(yield* dueIds(2 ** 32), ["a"])
    assert.deepStrictEqual(yield* dueIds(last - 1), ["a", "b", "c"])
    assert.deepStrictEqual(yield* dueIds(last), ["a", "b", "c", "d"])
  })),

  test("keeps what is long overdue until it is removed", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const overdue = working({ createdAt: 0, lastUpdatedAt: 0, ttlMs: 0 })
    const first = yield* create(overdue)
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some(first))
    assert.strictEqual(Option.getOrThrow(yield* store.view("task-1")).dueAt, 0)
    assert.strictEqual(yield* store.countLive("ada"), 1)
    assert.deepStrictEqual(yield* listIds({ limit: 10, live: true }), ["task-1"])
    assert.deepStrictEqual(yield* store.due(0, 10), [{ taskId: "task-1", version: 1, live: true }])
    const second = yield* store.replace(first, completed(overdue))
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some(second))
    assert.deepStrictEqual(yield* store.due(0, 10), [{ taskId: "task-1", version: 2, live: false }])
  })),

  test("keeps a life longer than time can be counted", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const forever = working({ ttlMs: Number.MAX_SAFE_INTEGER })
    yield* create(forever)
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: forever, version: 1 }))
    assert.strictEqual(Option.getOrThrow(yield* store.view("task-1")).dueAt, Number.MAX_SAFE_INTEGER)
  })),

  test("moves a deadline with every replacement", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    let held: Stored = yield* create(working({ ttlMs: 1_000 }))
    for (const ttlMs of [5_000, 2_000, null, 3_000] as const) {
      held = yield* store.replace(held, working({ ttlMs }))
      assert.deepStrictEqual(yield* dueIds(createdAt + (ttlMs ?? 9_999_999) - 1), [])
      assert.deepStrictEqual(yield* dueIds(createdAt + 9_999_999), ttlMs === null ? [] : ["task-1"])
    }
  }))
]

const lists: ReadonlyArray<StoreCase> = [
  test("lists by owner and by life, in the order of ids", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    for (const taskId of ["c", "a", "e", "b", "d"]) {
      yield* create(working({ taskId, owner: taskId < "c" ? "ada" : "bob" }))
    }
    for (const taskId of ["b", "d"]) {
      const stored = Option.getOrThrow(yield* store.read(taskId))
      yield* store.replace(stored, completed(working({ taskId, owner: stored.task.owner })))
    }
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["a", "b", "c", "d", "e"])
    assert.deepStrictEqual(yield* listIds({ limit: 2, after: "b" }), ["c", "d"])
    assert.deepStrictEqual(yield* listIds({ limit: 2, after: "bb" }), ["c", "d"])
    assert.deepStrictEqual(yield* listIds({ limit: 10, live: true }), ["a", "c", "e"])
    assert.deepStrictEqual(yield* listIds({ limit: 10, live: false }), ["b", "d"])
    assert.deepStrictEqual(yield* listIds({ limit: 10, owner: "bob" }), ["c", "d", "e"])
    assert.deepStrictEqual(yield* listIds({ limit: 1, owner: "bob", live: true, after: "c" }), ["e"])
    assert.deepStrictEqual(yield* listIds({ limit: 10, owner: "nobody" }), [])
    assert.deepStrictEqual((yield* store.list({ limit: 1, after: "a" }))[0]?.version, 2)
  })),

  test("lists what came and went since it was last asked", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    for (const taskId of ["b", "d"]) yield* create(working({ taskId }))
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["b", "d"])
    for (const taskId of ["a", "c", "e"]) yield* create(working({ taskId }))
    yield* store.remove("d", 1)
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["a", "b", "c", "e"])
  })),

  test("pages over every task that stays, once each, while others come and go", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const id = (n: number) => `task-${String(n).padStart(3, "0")}`
    const stays = Arr.range(1, 50).map((n) => id(2 * n))
    yield* Effect.forEach(stays, (taskId) => create(working({ taskId })))
    const seen: Array<string> = []
    for (let turn = 1; turn <= 20; turn++) {
      const page = yield* listIds({ limit: 7, after: seen.at(-1) })
      if (page.length === 0) break
      seen.push(...page)
      yield* create(working({ taskId: id(2 * turn + 1) }))
      yield* create(working({ taskId: id(201 + turn) }))
      if (turn > 1) yield* store.remove(id(2 * turn - 1), 1)
    }
    assert.deepStrictEqual(seen.filter((taskId) => stays.includes(taskId)), stays)
    assert.deepStrictEqual(seen, [...new Set(seen)].toSorted())
  }))
]

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<StoreCase> = [...finds, ...lists]
