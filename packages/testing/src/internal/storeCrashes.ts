/**
 * Processes that are killed: the part of the store suite that is about what a store has said before it had a chance to
 * tidy up.
 *
 * A test cannot kill its own process. But nobody closes what a killed one had open, and that can be had: the place is
 * opened again while each earlier opening is still there, and is never asked again.
 *
 * @since 0.2.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import type * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { completed, createdAt, working } from "../StoredTasks.ts"
import { answered } from "./interruption.ts"
import { atPlace, noLimit, type Open, type StoreCase } from "./storeCase.ts"

type Store = TaskStore.TaskStore["Service"]

/** What each id should have. */
type Expected = Map<string, Stored>

/** Why a store that locks its place for one process is no store that fails the case. */
const advice = "Working at the place while an earlier opening of it is not closed, as after a kill. " +
  "A store that locks its place until it is closed declares it: lacks: { crashes: \"...\" }"

/** Does something at a place that may be locked: once it is opened, or asked, or written to. */
const beside = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) =>
  Effect.matchEffect(answered(advice, effect), {
    onFailure: (cause) => Effect.die(new Error(advice, { cause })),
    onSuccess: Effect.succeed
  })

/** Opens the place once more; that it is locked may be a defect to whoever opens it. */
const openAgain = (open: Open) =>
  beside(Effect.catchCause(open, (cause) => Effect.fail(Cause.squash(cause))))

/** Everything that was acknowledged is there, and nothing else. */
const hasAll = Effect.fnUntraced(function*(store: Store, expected: Expected) {
  const stored = [...expected.values()].toSorted((a, b) => a.task.taskId < b.task.taskId ? -1 : 1)
  assert.deepStrictEqual(yield* store.list({ limit: 1_000 }), stored)
  for (const held of stored) {
    const { task } = held
    assert.deepStrictEqual(yield* store.read(task.taskId), Option.some(held))
    const { result } = Option.getOrThrow(yield* store.view(task.taskId))
    assert.strictEqual(result, task.status === "completed" ? task.result : null)
  }
  const live = stored.filter(({ task }) => task.status === "working")
  assert.strictEqual(yield* store.countLive("ada"), live.length)
  const due = yield* store.due(createdAt + 60_000, 1_000)
  assert.sameMembers(due.map(({ taskId }) => taskId), stored.map(({ task }) => task.taskId))
})

/** Ids of a round: the first is written alone, the others at one moment. */
const ids = (round: number) => Arr.range(0, 3).map((n) => `${round}-${n}`)

/** Writes something, and is killed at once after it was told that it is kept. */
type Life = (store: Store, expected: Expected, taskId: string) => Effect.Effect<void, unknown>

const held = (expected: Expected, taskId: string) => Effect.fromOption(Option.fromUndefinedOr(expected.get(taskId)))

const creates: Life = Effect.fnUntraced(function*(store, expected, taskId) {
  expected.set(taskId, yield* store.create(working({ taskId }), noLimit))
})

const ends: Life = Effect.fnUntraced(function*(store, expected, taskId) {
  const before = yield* held(expected, taskId)
  expected.set(taskId, yield* store.replace(before, completed(working({ taskId }), `["${taskId}"]`)))
})

const removes: Life = Effect.fnUntraced(function*(store, expected, taskId) {
  const { version } = yield* held(expected, taskId)
  assert.isTrue(yield* store.remove(taskId, version))
  expected.delete(taskId)
})

/** One process after another, each of which finds what those before it have written, writes, and is killed. */
const killed = Effect.fnUntraced(function*(open: Open, life: Life, before: ReadonlyArray<Life> = []) {
  const expected: Expected = new Map()
  const first = yield* open
  for (const earlier of before) {
    for (const taskId of [...ids(1), ...ids(2)]) yield* earlier(first, expected, taskId)
  }
  let store = first
  for (const round of [1, 2]) {
    const [alone = "", ...others] = ids(round)
    for (const taskIds of [[alone], others]) {
      const writer = store
      const writes = Effect.forEach(taskIds, (taskId) => life(writer, expected, taskId), { concurrency: "unbounded" })
      yield* writer === first ? writes : beside(writes)
      store = yield* openAgain(open)
      yield* beside(hasAll(store, expected))
    }
  }
})

const needs = ["durability", "crashes"] as const

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<StoreCase> = [
  atPlace("has created what it said it has, though its process is killed at once", needs, (open) =>
    killed(open, creates)),
  atPlace("has replaced what it said it has, though its process is killed at once", needs, (open) =>
    killed(open, ends, [creates])),
  atPlace("has removed what it said it has, though its process is killed at once", needs, (open) =>
    killed(open, removes, [creates]))
]
