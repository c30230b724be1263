/**
 * Many tasks, and tasks in every status: the part of the store suite that is about what a few working ones do not show.
 *
 * @since 0.2.0
 */
import type { Task } from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { cancelled, completed, createdAt, failed, inputRequired, working } from "../StoredTasks.ts"
import { create, dueIds, listIds, type StoreCase, test } from "./storeCase.ts"

/** More than any page that a store may have in mind, and no more than a slow server creates in a second. */
const many = 300

/** Numbers below `many` in an order of their own: the factor has no divisor in common with it. */
const shuffled = (factor: number) => Arr.range(0, many - 1).map((n) => (n * factor) % many)

const id = (n: number) => `task-${String(n).padStart(3, "0")}`

/** The orders in which tasks come, are due and have their ids differ, so that no one of them passes for another. */
const crowd = Effect.gen(function*() {
  const deadlines = shuffled(61)
  yield* Effect.forEach(
    shuffled(77),
    (n) =>
      create(working({ taskId: id(n), owner: `owner-${n % 3}`, ttlMs: 1_000 * (1 + (deadlines[n] ?? 0)) })),
    { concurrency: 16, discard: true }
  )
  return {
    ids: Arr.range(0, many - 1).map(id),
    due: deadlines.map((deadline, n) => ({ deadline, taskId: id(n) }))
      .toSorted((a, b) => a.deadline - b.deadline)
      .map(({ taskId }) => taskId)
  }
})

const manys: ReadonlyArray<StoreCase> = [
  test("finds as much of what is due as it is asked for, the longest overdue first", Effect.gen(function*() {
    const { due } = yield* crowd
    for (const limit of [1, 40, many - 1, many, 10 * many]) {
      assert.deepStrictEqual(yield* dueIds(createdAt + 1_000 * many, limit), due.slice(0, limit))
    }
    assert.deepStrictEqual(yield* dueIds(createdAt + 200_000, many), due.slice(0, 200))
  })),

  test("lists as many as it is asked for, in the order of ids", Effect.gen(function*() {
    const { ids } = yield* crowd
    for (const limit of [1, 40, many - 1, many, 10 * many]) {
      assert.deepStrictEqual(yield* listIds({ limit }), ids.slice(0, limit))
      assert.deepStrictEqual(yield* listIds({ limit, after: id(17) }), ids.slice(18, 18 + limit))
    }
    const ofOwner = ids.filter((_, n) => n % 3 === 1)
    assert.deepStrictEqual(yield* listIds({ limit: many, owner: "owner-1", live: true }), ofOwner)
  }))
]

/** More than the thousand after which a service ends its answer, or a store its search. */
const thousand = 1_020

const late: ReadonlyArray<StoreCase> = [
  test("finds, lists and counts what comes after the first thousand", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const ids = Arr.range(1_000, 999 + thousand).map((n) => `task-${n}`)
    const create = (taskId: string, n: number) =>
      store.create(working({ taskId, ttlMs: 1_000 * (thousand - n) }), { maxLive: thousand })
    yield* Effect.forEach(ids, create, { concurrency: 32, discard: true })
    const due = ids.toReversed()
    assert.deepStrictEqual(yield* dueIds(createdAt + 1_000, thousand), due.slice(0, 1))
    assert.deepStrictEqual(yield* dueIds(Number.MAX_SAFE_INTEGER, 10), due.slice(0, 10))
    assert.deepStrictEqual(yield* dueIds(Number.MAX_SAFE_INTEGER, thousand), due)
    assert.deepStrictEqual(yield* listIds({ limit: thousand }), ids)
    const after = ids[thousand - 10]
    for (const options of [{}, { owner: "ada" }, { live: true }]) {
      assert.deepStrictEqual(yield* listIds({ limit: 100, after, ...options }), ids.slice(thousand - 9))
    }
    assert.strictEqual(yield* store.countLive("ada"), thousand)
    assert.instanceOf(yield* Effect.flip(create("one more", 0)), TaskStore.TooManyTasks)
    // What is wanted is the last of all, behind a thousand that are of another life or another owner's.
    const last = Option.getOrThrow(yield* store.read(ids[thousand - 1] ?? ""))
    yield* store.replace(last, completed(working({ taskId: last.task.taskId })))
    assert.deepStrictEqual(yield* listIds({ limit: 1, live: false }), [last.task.taskId])
    yield* store.create(working({ taskId: "task-9999", owner: "bob" }), { maxLive: 1 })
    assert.deepStrictEqual(yield* listIds({ limit: 1, owner: "bob" }), ["task-9999"])
  }))
]

/** So many records of so many characters. */
interface Bulk {
  readonly count: number
  readonly length: number
}

/** Beyond the 1 MiB and the 4 MiB after which a service ends its answer, of records that any store keeps. */
const small: Bulk = { count: 250, length: 20_000 }

/** Beyond the 16 MiB that are the most of other services. */
const large: Bulk = { count: 36, length: 512 * 1024 }

/** Asks for all of a bulk at a time, as whoever takes a page shorter than its limit for the last. */
const isNotCutBySize = ({ count, length }: Bulk) =>
  Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const text = "x".repeat(length)
    const ids = Arr.range(0, count - 1).map(id)
    yield* Effect.forEach(ids, (taskId) => create(working({ taskId, arguments: { text } })), {
      concurrency: 16,
      discard: true
    })
    for (const options of [{}, { owner: "ada" }, { live: true }]) {
      assert.deepStrictEqual(yield* listIds({ limit: count, ...options }), ids)
    }
    assert.deepStrictEqual(yield* listIds({ limit: count, after: id(0) }), ids.slice(1))
    assert.sameMembers(yield* dueIds(Number.MAX_SAFE_INTEGER, count), ids)
    assert.strictEqual(yield* store.countLive("ada"), count)
  })

const bulks: ReadonlyArray<StoreCase> = [
  test("ends no page before its limit, and counts on, whatever the size of the records", isNotCutBySize(small)),
  test("ends no page before its limit, and counts on, among records of 512 KiB", isNotCutBySize(large), [
    "largeRecords"
  ])
]

/** Each status that a task may have, `working` in each of its ways. */
const statuses: ReadonlyArray<Task> = [
  cancelled(working({ taskId: "cancelled" })),
  completed(working({ taskId: "completed" })),
  failed(working({ taskId: "failed" })),
  working({ taskId: "is to stop", cancelRequested: true }),
  working({ taskId: "runs" }),
  working({ taskId: "waits for a worker", running: false, attempt: 0 }),
  inputRequired(working({ taskId: "waits for its user" })),
  { ...inputRequired(working({ taskId: "waits for its user, and nobody runs it" })), running: false }
]

const isLive = ({ status }: Task) => status === "working" || status === "input_required"

const idsOf = (tasks: ReadonlyArray<Task>) => tasks.map(({ taskId }) => taskId)

const everyStatus = Effect.gen(function*() {
  const store = yield* TaskStore.TaskStore
  yield* Effect.forEach(statuses, (task) =>
    Effect.flatMap(create(working({ taskId: task.taskId })), (held) => store.replace(held, task)))
  return store
})

const stati: ReadonlyArray<StoreCase> = [
  test("counts every task that has not ended, whatever it waits for", Effect.gen(function*() {
    const store = yield* everyStatus
    const live = statuses.filter(isLive).length
    assert.strictEqual(yield* store.countLive("ada"), live)
    const refusal = yield* Effect.flip(create(working({ taskId: "one more" }), { maxLive: live }))
    assert.instanceOf(refusal, TaskStore.TooManyTasks)
    yield* create(working({ taskId: "one more" }), { maxLive: live + 1 })
  })),

  test("lists and finds tasks in every status, and says which have ended", Effect.gen(function*() {
    const store = yield* everyStatus
    const stored = statuses.map((task) => ({ task, version: 2 }))
    assert.deepStrictEqual(yield* store.list({ limit: 100 }), stored)
    assert.deepStrictEqual(yield* listIds({ limit: 100, live: true }), idsOf(statuses.filter(isLive)))
    const over = statuses.filter((task) => !isLive(task))
    assert.deepStrictEqual(yield* listIds({ limit: 100, live: false, owner: "ada" }), idsOf(over))
    const due = yield* store.due(Number.MAX_SAFE_INTEGER, 100)
    assert.deepStrictEqual(
      due.toSorted((a, b) => a.taskId < b.taskId ? -1 : 1),
      statuses.map((task) => ({ taskId: task.taskId, version: 2, live: isLive(task) }))
    )
    for (const task of statuses) {
      const view = Option.getOrThrow(yield* store.view(task.taskId))
      assert.deepStrictEqual([view.live, view.head], [isLive(task), TaskWire.encodeHead(task)])
    }
  }))
]

const removals: ReadonlyArray<StoreCase> = [
  test("shows nothing of a task that is removed, and only the next one of its id", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    for (const statusMessage of ["first", "second"]) {
      const task = working({ statusMessage })
      const held = yield* create(task)
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
      assert.strictEqual(Option.getOrThrow(yield* store.view("task-1")).head, TaskWire.encodeHead(task))
      assert.isTrue(yield* store.remove("task-1", held.version))
      assert.deepStrictEqual(yield* store.view("task-1"), Option.none())
      assert.deepStrictEqual(yield* store.read("task-1"), Option.none())
      assert.deepStrictEqual(yield* store.list({ limit: 10 }), [])
      assert.strictEqual(yield* store.countLive("ada"), 0)
    }
  }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<StoreCase> = [...manys, ...late, ...bulks, ...stati, ...removals]
