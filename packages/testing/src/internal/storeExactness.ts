/**
 * What was written comes back exactly: the part of the store suite that is about text, numbers and keys.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { anyTask, completed, hostileKeys, hostileTexts, viaJson, working } from "../StoredTasks.ts"
import * as property from "./property.ts"
import { noLimit, type StoreCase, test } from "./storeCase.ts"

const roundTrip = (task: Task.Task) =>
  Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    yield* store.create(task, noLimit)
    return Option.getOrThrow(yield* store.read(task.taskId)).task
  })

const keepsText = (text: string) =>
  Effect.gen(function*() {
    const task = working({
      tool: text,
      arguments: { [text]: text, nested: [{ text }] },
      statusMessage: text,
      traceparent: text,
      steps: [{ name: text, value: text }]
    })
    const read = yield* roundTrip(task)
    assert.deepStrictEqual(read, task)
    assert.strictEqual(JSON.stringify(read.arguments), JSON.stringify(task.arguments))
  })

/** Keeps a result byte for byte beside arguments, with so many characters in each. */
const keepsResult = (length: number) =>
  Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const big = "€x".repeat(length / 2)
    const result = `{ "b":1.0,\t"a":-0, "__proto__":{}, "big":"${big}", "u":"\\ud800\\u0000" }`
    const task = working({ arguments: { blob: "y".repeat(length) } })
    yield* store.replace(yield* store.create(task, noLimit), completed(task, result))
    const view = Option.getOrThrow(yield* store.view("task-1"))
    assert.isTrue(view.result === result)
    const read = Option.getOrThrow(yield* store.read("task-1")).task
    assert.isTrue(read.status === "completed" && read.result === result)
    assert.isFalse(view.head.includes("blob"))
  })

const mebi = 1024 * 1024

const texts: ReadonlyArray<StoreCase> = [
  ...hostileTexts.map(([name, text]) => test(`keeps text exactly: ${name}`, keepsText(text))),
  test("keeps text exactly: 1 MiB", keepsText("x€".repeat(mebi / 2)), ["largeRecords"]),
  test("keeps a result byte for byte", keepsResult(10)),
  test("keeps a result byte for byte, of 1 MiB beside as much", keepsResult(mebi), ["largeRecords"]),
  test("keeps keys that assignment would lose, without touching any prototype", Effect.gen(function*() {
    const value = JSON.parse(hostileKeys)
    const task = working({
      arguments: value,
      capabilities: value,
      questions: [
        { key: "__proto__", request: { method: "roots/list", params: value }, state: "answered", response: value },
        { key: "constructor", request: { method: "roots/list", params: value }, state: "withdrawn" }
      ],
      steps: [{ name: "__proto__", value }]
    })
    const read = yield* roundTrip(task)
    assert.strictEqual(JSON.stringify(read), JSON.stringify(task))
    assert.isTrue(Object.hasOwn(read.arguments, "__proto__"))
    assert.isFalse("polluted" in {})
    assert.strictEqual(Object.getPrototypeOf(read.arguments), Object.prototype)
  }))
]

const broken: ReadonlyArray<readonly [name: string, task: Partial<Task.WorkingTask>]> = [
  ["createdAt", { createdAt: NaN }],
  ["lastUpdatedAt", { lastUpdatedAt: NaN }],
  ["ttlMs", { ttlMs: NaN }],
  ["ttlMs (Infinity)", { ttlMs: Infinity }],
  ["attempt", { attempt: 0.5 }],
  ["an argument", { arguments: { deep: [{ value: NaN }] } }],
  ["a step", { steps: [{ name: "s", value: -Infinity }] }],
  ["an owner with half a character", { owner: "a\ud800" }],
  ["an owner with NUL", { owner: "a\0" }]
]

const numbers: ReadonlyArray<StoreCase> = [
  test("keeps every number that JSON can carry; -0 comes back as 0", Effect.gen(function*() {
    const values = [2 ** 53 - 1, -(2 ** 53 - 1), 1e308, -1e308, 5e-324, 0.1 + 0.2, 1e21, 2 ** 63, 1 / 3, 0]
    const read = yield* roundTrip(working({ arguments: { values, zero: -0 } }))
    assert.deepStrictEqual(read.arguments["values"], values)
    assert.isTrue(Object.is(read.arguments["zero"], 0))
  })),
  ...broken.map(([name, given]) =>
    test(`never stores what cannot come back: ${name}`, Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const created = yield* Effect.exit(store.create(working(given), noLimit))
      assert.isTrue(Exit.isFailure(created) && Cause.hasDies(created.cause))
      assert.deepStrictEqual(yield* store.read("task-1"), Option.none())
      const held = yield* store.create(working(), noLimit)
      const replaced = yield* Effect.exit(store.replace(held, working(given)))
      assert.isTrue(Exit.isFailure(replaced) && Cause.hasDies(replaced.cause))
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
    }))
  )
]

const anyPair = Arbitrary.all([anyTask, anyTask])

const comesBack = Effect.gen(function*() {
  const store = yield* TaskStore.TaskStore
  let made = 0
  yield* property.holds(anyPair, ([first, second]) =>
    Effect.gen(function*() {
      const taskId = `${made++} ${first.taskId}`
      const one = { ...first, taskId }
      const two = { ...second, taskId, owner: one.owner }
      const created = yield* store.create(one, { maxLive: Number.MAX_SAFE_INTEGER })
      assert.deepStrictEqual(yield* store.read(taskId), Option.some({ task: viaJson(one), version: 1 }))
      yield* store.replace(created, two)
      assert.deepStrictEqual(yield* store.read(taskId), Option.some({ task: viaJson(two), version: 2 }))
      const view = Option.getOrThrow(yield* store.view(taskId))
      assert.strictEqual(view.result, two.status === "completed" ? two.result : null)
      assert.strictEqual(view.owner, two.owner)
    }))
})

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<StoreCase> = [
  ...texts,
  ...numbers,
  test("brings back any task from create and read, and from replace and read", comesBack)
]
