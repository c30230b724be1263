/**
 * Ids and owners: the part of the store suite that is about which of them are the same, and which comes first.
 *
 * @since 0.2.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createdAt, hostileTexts, working } from "../StoredTasks.ts"
import { create, listIds, type StoreCase, test } from "./storeCase.ts"

/** What a database, a pattern, a path or a key of several parts may take for something else. */
const special = [
  "%", "_", "*", "?", "[a-z]", ".", "..", "../a", "a/b", "a\\b", "{a}", "a:b", "'", `"`, "`", "$1", ":a", "@a", "#a",
  "a b", "a,b", "a;b", "a=b", "a&b", "a|b", "-a", "-- a", "/* a", "~", "!"
]

/** The same to whoever does not look at the case of letters, or takes the number of digits for a number. */
const alike = ["a", "A", "b", "B", "z", "Z", "aB", "Ab", "AB", "0", "00", "1", "01", "1.0", "1e0", "null", "NULL"]

/** Each begins with the one before, and with what a store may put behind an id. */
const nested = ["task", "task-", "task-1", "task-10", "task-1:result", "task-1/body", "task-1 ", "Task", "TASK-1"]

/** Ids whose order is the same everywhere: that of their characters. */
const ordered = [...special, ...alike, ...nested].toSorted()

const people = [
  "ada",
  "Ada",
  "ADA",
  "adam",
  " ada",
  "ada ",
  "",
  `'; DELETE FROM mcp_tasks; --`,
  `["https://a.example","ada",null]`,
  "%",
  "a_a",
  "ada:ada",
  "a\u0308da",
  "\u00e4da",
  "\u00c4da",
  "stra\u00dfe",
  "strasse",
  "\u0130",
  "i",
  "I",
  "👩‍👩‍👧",
  "\u202eada",
  "__proto__",
  "constructor",
  "5",
  "5.0",
  ...["\ud800", "\0", `"`].map((subject) => TaskOwner.key(TaskOwner.principal({ issuer: "i", subject })))
]

/** Different only beyond what a column holds, or an index looks at: 255 characters, 767 bytes, 3,072 bytes. */
const longPeople = [255, 767, 3_072].flatMap((length) => ["1", "2"].map((end) => "x".repeat(length) + end))

/** As long as ids may be, and different only at the end. */
const long = ["x", "€"].flatMap((text) => ["1", "2"].map((end) => text.repeat(255) + end))

/** All that an id may be: no lone half of a character, no NUL, and not nothing. */
const everyId = [
  ...new Set([...ordered, ...people, ...hostileTexts.map(([, text]) => text), ...long])
].filter((id) => id !== "" && id.isWellFormed() && !id.includes("\0"))

const createAll = (taskIds: ReadonlyArray<string>) =>
  Effect.forEach(taskIds, (taskId) => create(working({ taskId, statusMessage: taskId })), {
    concurrency: 16,
    discard: true
  })

const pageSize = 7

/** All ids, one after the other, so that any two which are not told apart are parted by the end of a page. */
const pages = Effect.gen(function*() {
  const seen: Array<string> = []
  while (seen.length <= everyId.length) {
    const page = yield* listIds({ limit: 1, after: seen.at(-1) })
    if (page.length === 0) break
    seen.push(...page)
  }
  return seen
})

const ids: ReadonlyArray<StoreCase> = [
  test("tells ids apart by every character", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const deadline = (n: number) => createdAt + 1_000 + n
    yield* createAll(everyId)
    const held = new Map<string, Stored>()
    for (const [n, taskId] of everyId.entries()) {
      const stored = Option.getOrThrow(yield* store.read(taskId))
      assert.deepStrictEqual([stored.task.taskId, stored.task.statusMessage], [taskId, taskId])
      const next = working({ taskId, statusMessage: `${n}`, ttlMs: 1_000 + n })
      held.set(taskId, yield* store.replace(stored, next))
    }
    for (const [n, taskId] of everyId.entries()) {
      assert.deepStrictEqual(yield* store.read(taskId), Option.fromUndefinedOr(held.get(taskId)), taskId)
      const view = Option.getOrThrow(yield* store.view(taskId))
      assert.deepStrictEqual([view.taskId, view.dueAt], [taskId, deadline(n)])
    }
    const due = (yield* store.due(Number.MAX_SAFE_INTEGER, everyId.length + 1)).map(({ taskId }) => taskId)
    assert.deepStrictEqual(due, everyId)
    assert.strictEqual(yield* store.countLive("ada"), everyId.length)
    for (const [n, taskId] of everyId.entries()) {
      assert.isTrue(yield* store.remove(taskId, 2), taskId)
      assert.deepStrictEqual(yield* store.read(taskId), Option.none())
      assert.strictEqual(yield* store.countLive("ada"), everyId.length - n - 1)
    }
    assert.deepStrictEqual(yield* store.list({ limit: 100 }), [])
  })),

  test("lists ids in the order of their characters, \"B\" before \"a\"", Effect.gen(function*() {
    yield* createAll(ordered.toReversed())
    assert.deepStrictEqual(yield* listIds({ limit: 1_000 }), ordered)
    assert.deepStrictEqual(yield* listIds({ limit: 1_000, owner: "ada", live: true }), ordered)
    for (const [n, after] of ordered.entries()) {
      assert.deepStrictEqual(yield* listIds({ limit: pageSize, after }), ordered.slice(n + 1, n + 1 + pageSize), after)
    }
    for (const after of ["C", "c", "TASK", "[", "task-00", "\u007f"]) {
      assert.deepStrictEqual(yield* listIds({ limit: 1_000, after }), ordered.filter((id) => id > after), after)
    }
  })),

  test("pages over ids of all languages, each once", Effect.gen(function*() {
    yield* createAll(everyId.toReversed())
    const seen = yield* pages
    assert.deepStrictEqual(seen.toSorted(), everyId.toSorted())
    assert.deepStrictEqual(yield* listIds({ limit: 1_000 }), seen)
    assert.deepStrictEqual(yield* listIds({ limit: 1_000, owner: "ada", live: true }), seen)
  }))
]

const owners: ReadonlyArray<StoreCase> = [
  test("tells owners apart by every character", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const owners = [...people, ...longPeople]
    for (const [index, owner] of owners.entries()) {
      yield* store.create(working({ taskId: `task-${index}`, owner }), { maxLive: 1 })
    }
    for (const [index, owner] of owners.entries()) {
      assert.strictEqual(yield* store.countLive(owner), 1, owner)
      assert.strictEqual(Option.getOrThrow(yield* store.view(`task-${index}`)).owner, owner)
      for (const live of [undefined, true]) {
        const listed = yield* store.list({ owner, live, limit: 10 })
        assert.deepStrictEqual(listed.map(({ task }) => [task.taskId, task.owner]), [[`task-${index}`, owner]])
      }
    }
  }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<StoreCase> = [...ids, ...owners]
