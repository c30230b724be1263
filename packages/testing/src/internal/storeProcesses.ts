/**
 * More than one process at one place, one after another and at a time: the part of the store suite that is about what
 * outlives a process, and what holds between two.
 *
 * @since 0.1.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { completed, createdAt, working } from "../StoredTasks.ts"
import { atPlace, noLimit, type Open, type StoreCase } from "./storeCase.ts"

/** What a case does in one process, which ends with it. */
const process = <A, E>(open: Open, body: (store: TaskStore.TaskStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(open, body))

const durability: ReadonlyArray<StoreCase> = [
  atPlace("still has everything after it was closed and opened again", ["durability"], (open) =>
    Effect.gen(function*() {
      const ended = completed(working({ taskId: "b", ttlMs: null }))
      yield* process(open, Effect.fnUntraced(function*(store) {
        yield* store.create(working({ taskId: "a" }), noLimit)
        yield* store.replace(yield* store.create(working({ taskId: "b" }), noLimit), ended)
        yield* store.create(working({ taskId: "c" }), noLimit)
        assert.isTrue(yield* store.remove("c", 1))
      }))
      yield* process(open, Effect.fnUntraced(function*(store) {
        assert.deepStrictEqual(yield* store.list({ limit: 10 }), [
          { task: working({ taskId: "a" }), version: 1 },
          { task: ended, version: 2 }
        ])
        assert.deepStrictEqual(yield* store.read("c"), Option.none())
        assert.strictEqual(yield* store.countLive("ada"), 1)
        assert.deepStrictEqual(yield* store.due(createdAt + 60_000, 10), [{ taskId: "a", version: 1, live: true }])
        assert.strictEqual(Option.getOrThrow(yield* store.view("b")).result, ended.result)
      }))
    })),

  atPlace("goes on from where the process before it ended, ten times over", ["durability"], (open) =>
    Effect.gen(function*() {
      yield* process(open, (store) => store.create(working(), noLimit))
      for (let turn = 1; turn <= 10; turn++) {
        yield* process(open, Effect.fnUntraced(function*(store) {
          const held = Option.getOrThrow(yield* store.read("task-1"))
          assert.strictEqual(held.version, turn)
          assert.instanceOf(yield* Effect.flip(store.create(working(), noLimit)), TaskStore.TaskAlreadyExists)
          yield* store.replace(held, working({ statusMessage: `${turn}` }))
          const stale = yield* Effect.flip(store.replace(held, working({ statusMessage: "late" })))
          assert.instanceOf(stale, TaskStore.VersionConflict)
        }))
      }
      const left = yield* process(open, (store) => store.read("task-1"))
      assert.deepStrictEqual(left, Option.some({ task: working({ statusMessage: "10" }), version: 11 }))
    })),

  atPlace("is the same however often it is opened, with nothing written in between", ["durability"], (open) =>
    Effect.gen(function*() {
      const look = Effect.fnUntraced(function*(store: TaskStore.TaskStore["Service"]) {
        const page = yield* store.list({ limit: 10 })
        return {
          page,
          due: yield* store.due(Number.MAX_SAFE_INTEGER, 10),
          live: yield* store.countLive("ada"),
          views: yield* Effect.forEach(page, ({ task }) => store.view(task.taskId)),
          gone: yield* store.read("gone")
        }
      })
      const before = yield* process(open, Effect.fnUntraced(function*(store) {
        let held: Stored = yield* store.create(working({ taskId: "a" }), noLimit)
        for (const statusMessage of ["1", "2"]) {
          held = yield* store.replace(held, working({ taskId: "a", statusMessage }))
        }
        const second = yield* store.create(working({ taskId: "b" }), noLimit)
        yield* store.replace(second, completed(working({ taskId: "b", ttlMs: 1_000 })))
        yield* store.create(working({ taskId: "c", ttlMs: null }), noLimit)
        yield* store.create(working({ taskId: "gone" }), noLimit)
        yield* store.remove("gone", 1)
        return yield* look(store)
      }))
      assert.deepStrictEqual(before.page.map(({ version }) => version), [3, 2, 1])
      for (let turn = 0; turn < 3; turn++) assert.deepStrictEqual(yield* process(open, look), before)
    }))
]

const processes: ReadonlyArray<StoreCase> = [
  atPlace("shows at once what another process wrote", ["processes"], (open) =>
    Effect.gen(function*() {
      const [here, there] = [yield* open, yield* open]
      const first = yield* here.create(working(), { maxLive: 1 })
      assert.deepStrictEqual(yield* there.read("task-1"), Option.some(first))
      for (const store of [here, there]) assert.isTrue(Option.getOrThrow(yield* store.view("task-1")).live)
      assert.instanceOf(yield* Effect.flip(there.create(working(), noLimit)), TaskStore.TaskAlreadyExists)
      const refusal = yield* Effect.flip(there.create(working({ taskId: "task-2" }), { maxLive: 1 }))
      assert.instanceOf(refusal, TaskStore.TooManyTasks)
      const second = yield* there.replace(first, completed(working(), "[2]"))
      assert.deepStrictEqual(yield* here.read("task-1"), Option.some(second))
      for (const store of [here, there]) {
        assert.strictEqual(Option.getOrThrow(yield* store.view("task-1")).result, "[2]")
      }
      assert.deepStrictEqual(yield* here.due(createdAt + 60_000, 1), [{ taskId: "task-1", version: 2, live: false }])
      assert.deepStrictEqual(yield* here.list({ limit: 10 }), [second])
      assert.strictEqual(yield* here.countLive("ada"), 0)
      assert.instanceOf(yield* Effect.flip(here.replace(first, working())), TaskStore.VersionConflict)
      assert.isFalse(yield* here.remove("task-1", 1))
      assert.isTrue(yield* here.remove("task-1", 2))
      assert.deepStrictEqual(yield* there.read("task-1"), Option.none())
      assert.deepStrictEqual(yield* there.view("task-1"), Option.none())
      assert.deepStrictEqual(yield* there.list({ limit: 10 }), [])
      yield* here.replace(yield* here.create(working(), noLimit), completed(working(), "[3]"))
      assert.strictEqual(Option.getOrThrow(yield* there.view("task-1")).result, "[3]")
    })),

  atPlace("lets exactly one writer of all processes win, 20 times over", ["processes"], (open) =>
    Effect.gen(function*() {
      const stores = yield* Effect.all(Arr.replicate(open, 3))
      const [first] = stores
      if (first === undefined) return
      let held: Stored = yield* first.create(working(), noLimit)
      for (let round = 0; round < 20; round++) {
        const outcomes = yield* Effect.forEach(
          Arr.range(0, 11),
          (n) =>
            Effect.result((stores[n % 3] ?? first).replace(held, working({ statusMessage: `${round}/${n}` }))),
          { concurrency: "unbounded" }
        )
        const [winner, ...others] = outcomes.filter(Result.isSuccess)
        assert.deepStrictEqual(others, [])
        assert.isDefined(winner)
        held = winner.success
        for (const store of stores) assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
      }
    })),

  atPlace("creates one task of all that come at once to all processes with one id", ["processes"], (open) =>
    Effect.gen(function*() {
      const stores = yield* Effect.all(Arr.replicate(open, 3))
      const outcomes = yield* Effect.forEach(
        stores.flatMap((store) => [store, store, store]),
        (store, n) => Effect.result(store.create(working({ statusMessage: `${n}` }), noLimit)),
        { concurrency: "unbounded" }
      )
      const [winner, ...others] = outcomes.filter(Result.isSuccess)
      assert.deepStrictEqual(others, [])
      for (const store of stores) {
        assert.deepStrictEqual(yield* store.read("task-1"), Option.fromUndefinedOr(winner?.success))
        assert.strictEqual(yield* store.countLive("ada"), 1)
      }
    })),

  atPlace("shares one limit between all processes", ["processes", "exactLimit"], (open) =>
    Effect.gen(function*() {
      const stores = yield* Effect.all(Arr.replicate(open, 3))
      const outcomes = yield* Effect.forEach(
        stores.flatMap((store) => Arr.replicate(store, 10)),
        (store, n) => Effect.result(store.create(working({ taskId: `task-${n}` }), { maxLive: 5 })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter(Result.isSuccess).length, 5)
      for (const store of stores) assert.strictEqual(yield* store.countLive("ada"), 5)
    }))
]

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<StoreCase> = [...durability, ...processes]
