/**
 * What every task store has to do: run `suite` on a layer that gives an empty store each time it is built.
 */
import { TaskWire } from "@effect-mcp-tasks/core"
import type { Task } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Layer, Option, Result } from "effect"
import { createdAt, completed, working } from "./StoredTasks.ts"
import * as TaskStoreExactness from "./TaskStoreExactness.ts"
import * as TaskStoreRaces from "./TaskStoreRaces.ts"

/** Where stores may differ. */
export interface Capabilities {
  /** Whether creates that run at the same moment never overshoot `maxLive`; default `true`. */
  readonly countsExactly?: boolean
}

const noLimit = { maxLive: 1_000_000 }

const create = (task: Task.Task, options = noLimit) =>
  Effect.flatMap(TaskStore.TaskStore, (store) => store.create(task, options))

const dueIds = (now: number, limit = 100) =>
  Effect.flatMap(TaskStore.TaskStore, (store) =>
    Effect.map(store.due(now, limit), (due) => due.map(({ taskId }) => taskId)))

const listIds = (options: Parameters<TaskStore.TaskStore["Service"]["list"]>[0]) =>
  Effect.flatMap(TaskStore.TaskStore, (store) =>
    Effect.map(store.list(options), (page) => page.map(({ task }) => task.taskId)))

/** Declares the tests of one store. */
export const suite = <E>(
  name: string,
  layer: Layer.Layer<TaskStore.TaskStore, E>,
  { countsExactly = true }: Capabilities = {}
): void => {
  const test = <A, E2>(title: string, effect: Effect.Effect<A, E2, TaskStore.TaskStore>) =>
    it.effect(title, () => Effect.provide(effect, Layer.fresh(layer)))

  describe(name, () => {
    creates(test)
    if (countsExactly) counts(test)
    replaces(test)
    finds(test)
    lists(test)
    TaskStoreRaces.suite(test)
    TaskStoreExactness.suite(test, layer)
  })
}

/** Declares a test that starts from an empty store. */
export type Test = <A, E>(title: string, effect: Effect.Effect<A, E, TaskStore.TaskStore>) => void

const creates = (test: Test): void => {
  test("creates version 1, which every later read finds", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    assert.deepStrictEqual(yield* create(working()), { task: working(), version: 1 })
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: working(), version: 1 }))
  }))

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
  }))

  test("refuses a second task of one id, whoever owns it, and keeps the first", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    yield* create(working())
    const refusal = yield* Effect.flip(create(working({ owner: "eve", tool: "other" })))
    assert.instanceOf(refusal, TaskStore.TaskAlreadyExists)
    assert.strictEqual(refusal.taskId, "task-1")
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: working(), version: 1 }))
    assert.strictEqual(yield* store.countLive("eve"), 0)
  }))

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
  }))

  test("calls a known id a known id, also at the limit", Effect.gen(function*() {
    yield* create(working(), { maxLive: 1 })
    assert.instanceOf(yield* Effect.flip(create(working(), { maxLive: 1 })), TaskStore.TaskAlreadyExists)
  }))

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
}

const counts = (test: Test): void => {
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
  }))
}

const replaces = (test: Test): void => {
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
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some(second))
  }))

  test("lets exactly one of 50 writers win, 20 times over", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    let held: Task.Stored = yield* create(working())
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
  }))

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
  }))

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
}

const finds = (test: Test): void => {
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
  }))

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
  }))

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
  }))

  test("keeps a life longer than time can be counted", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const forever = working({ ttlMs: Number.MAX_SAFE_INTEGER })
    yield* create(forever)
    assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: forever, version: 1 }))
    assert.strictEqual(Option.getOrThrow(yield* store.view("task-1")).dueAt, Number.MAX_SAFE_INTEGER)
  }))

  test("moves a deadline with every replacement", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    let held: Task.Stored = yield* create(working({ ttlMs: 1_000 }))
    for (const ttlMs of [5_000, 2_000, null, 3_000] as const) {
      held = yield* store.replace(held, working({ ttlMs }))
      assert.deepStrictEqual(yield* dueIds(createdAt + (ttlMs ?? 9_999_999) - 1), [])
      assert.deepStrictEqual(yield* dueIds(createdAt + 9_999_999), ttlMs === null ? [] : ["task-1"])
    }
  }))
}

const lists = (test: Test): void => {
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
  }))

  test("lists what came and went since it was last asked", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    for (const taskId of ["b", "d"]) yield* create(working({ taskId }))
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["b", "d"])
    for (const taskId of ["a", "c", "e"]) yield* create(working({ taskId }))
    yield* store.remove("d", 1)
    assert.deepStrictEqual(yield* listIds({ limit: 10 }), ["a", "b", "c", "e"])
  }))

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
}
