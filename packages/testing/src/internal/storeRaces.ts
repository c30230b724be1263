/**
 * Many at once, and one record that is whole: the part of the store suite that is about races.
 *
 * @since 0.1.0
 */
import type { Stored, Task } from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { completed, createdAt, working } from "../StoredTasks.ts"
import { noLimit, type StoreCase, test } from "./storeCase.ts"

/** Runs all at once, and answers which succeeded. */
const atOnce = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.forEach(effects, Effect.result, { concurrency: "unbounded" })

const wins: ReadonlyArray<StoreCase> = [
  test("creates one task of 30 that come at once with one id", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const outcomes = yield* atOnce(
      Arr.range(1, 30).map((n) => store.create(working({ owner: `o${n % 3}`, statusMessage: `${n}` }), noLimit))
    )
    const [winner, ...others] = outcomes.filter(Result.isSuccess)
    assert.deepStrictEqual(others, [])
    for (const { failure } of outcomes.filter(Result.isFailure)) {
      assert.instanceOf(failure, TaskStore.TaskAlreadyExists)
    }
    assert.deepStrictEqual(yield* store.read("task-1"), Option.fromUndefinedOr(winner?.success))
    const counts = yield* Effect.forEach(["o0", "o1", "o2"], store.countLive)
    assert.deepStrictEqual(counts.toSorted(), [0, 0, 1])
  })),

  test("tells one of 30 that it removed the task", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    yield* store.create(working(), noLimit)
    const removed = yield* Effect.all(Arr.replicate(store.remove("task-1", 1), 30), { concurrency: "unbounded" })
    assert.strictEqual(removed.filter(Boolean).length, 1)
    assert.deepStrictEqual(yield* store.due(Number.MAX_SAFE_INTEGER, 10), [])
    assert.strictEqual(yield* store.countLive("ada"), 0)
  })),

  test("lets one win when a task is replaced and removed at once, 20 times over", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    for (let round = 0; round < 20; round++) {
      const taskId = `task-${round}`
      const held = yield* store.create(working({ taskId }), noLimit)
      const next = completed(working({ taskId }))
      const remove = store.remove(taskId, 1)
      const replace = Effect.result(store.replace(held, next))
      const both = round % 2 === 0
        ? Effect.all([remove, replace], { concurrency: "unbounded" })
        : Effect.map(Effect.all([replace, remove], { concurrency: "unbounded" }), ([b, a]) => [a, b] as const)
      const [removed, replaced] = yield* both
      assert.notStrictEqual(removed, Result.isSuccess(replaced))
      const left = removed ? Option.none() : Option.some({ task: next, version: 2 })
      assert.deepStrictEqual(yield* store.read(taskId), left)
    }
    assert.strictEqual(yield* store.countLive("ada"), 0)
    const ids = (yield* store.list({ limit: 100 })).map(({ task }) => task.taskId)
    assert.sameMembers((yield* store.due(Number.MAX_SAFE_INTEGER, 100)).map(({ taskId }) => taskId), ids)
  })),

  test("works off what is due by four sweepers at once, each task once", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const ids = Arr.range(1, 40).map((n) => `task-${n}`)
    yield* Effect.forEach(ids, (taskId) => store.create(working({ taskId }), noLimit), { discard: true })
    const sweeper = Effect.gen(function*() {
      const gone: Array<string> = []
      for (let round = 0; round < 1_000; round++) {
        const due = yield* store.due(createdAt + 60_000, 7)
        if (due.length === 0) return gone
        for (const { taskId, version } of due) if (yield* store.remove(taskId, version)) gone.push(taskId)
      }
      return assert.fail("What was removed is still due")
    })
    const gone = yield* Effect.all(Arr.replicate(sweeper, 4), { concurrency: "unbounded" })
    assert.deepStrictEqual(gone.flat().toSorted(), ids.toSorted())
    assert.deepStrictEqual(yield* store.list({ limit: 1 }), [])
  }))
]

/** Everything that a store keeps of the task says the same number, in every text and column of the record. */
const numbered = (n: number): Task => {
  const task = working({
    ttlMs: 60_000 + n,
    statusMessage: `${n}`,
    arguments: { n, blob: "x".repeat(20_000) },
    steps: [{ name: "n", value: n }]
  })
  return n % 2 === 0 ? task : completed(task, `{"n":${n}}`)
}

const wholes: ReadonlyArray<StoreCase> = [
  test("is read whole, while it is being replaced", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    let held: Stored = yield* store.create(numbered(0), noLimit)
    const writing = Effect.gen(function*() {
      for (let n = 1; n <= 60; n++) {
        held = yield* store.replace(held, numbered(n))
        yield* Effect.yieldNow
      }
    })
    let seen = 0
    const reading = Effect.gen(function*() {
      const before = seen
      const stored = Option.getOrThrow(yield* store.read("task-1"))
      assert.deepStrictEqual(stored.task, numbered(stored.version - 1))
      assert.isAtLeast(stored.version, before)
      seen = Math.max(seen, stored.version)
    })
    const viewing = Effect.gen(function*() {
      const view = Option.getOrThrow(yield* store.view("task-1"))
      const n = Number(JSON.parse(view.head).statusMessage)
      assert.deepStrictEqual(
        [view.live, view.dueAt, view.result],
        [n % 2 === 0, createdAt + 60_000 + n, n % 2 === 0 ? null : `{"n":${n}}`]
      )
    })
    const listing = Effect.gen(function*() {
      const [stored] = yield* store.list({ limit: 1 })
      assert.deepStrictEqual(stored?.task, numbered((stored?.version ?? 0) - 1))
      const [due] = yield* store.due(Number.MAX_SAFE_INTEGER, 1)
      assert.strictEqual(due?.live, ((due?.version ?? 0) - 1) % 2 === 0)
    })
    const readers = [reading, reading, viewing, listing].map((look) =>
      Effect.forever(Effect.andThen(look, Effect.yieldNow)))
    yield* Effect.raceFirst(writing, Effect.all(readers, { concurrency: "unbounded", discard: true }))
    assert.strictEqual(held.version, 61)
    assert.isAbove(seen, 0)
  }))
]

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<StoreCase> = [...wins, ...wholes]
