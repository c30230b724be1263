/**
 * Operations that are interrupted: the part of the store suite that is about what they leave, and to whom.
 *
 * Whether an interrupted write was done is found out by another one, which succeeds only where it was not, and which
 * keeps it from being done later.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { completed, createdAt, working } from "../StoredTasks.ts"
import { answered, everywhere } from "./interruption.ts"
import * as interruption from "./interruption.ts"
import { atPlace, noLimit, type StoreCase, test } from "./storeCase.ts"

type Store = TaskStore.TaskStore["Service"]
type Left = Option.Option<Task.Stored>

/** What each id should have, once all has been done. */
type Expected = Map<string, Left>

/** Longer than a piece in which a file or a socket takes it, so that there is a half of it. */
const text = "x".repeat(20_000)

const first = (taskId: string) => ({ task: working({ taskId, arguments: { text } }), version: 1 })
const result = `{"content":[],"text":"${text}"}`
const next = (taskId: string): Task.Task => completed(working({ taskId, ttlMs: 30_000 }), result)
const other = (taskId: string): Task.Task => working({ taskId, ttlMs: 90_000, statusMessage: "other" })

/** A write that is interrupted. */
interface Write {
  readonly name: "create" | "replace" | "remove"
  readonly prepare: (store: Store, taskId: string) => Effect.Effect<unknown, unknown>
  readonly before: (taskId: string) => Left
  readonly run: (store: Store, taskId: string) => Effect.Effect<unknown, unknown>
  readonly after: (taskId: string) => Left
  /** Writes something else, unless the write has been done. */
  readonly instead: (store: Store, taskId: string) => Effect.Effect<Task.Stored, unknown>
}

const prepare: Write["prepare"] = (store, taskId) => store.create(first(taskId).task, noLimit)
const before: Write["before"] = (taskId) => Option.some(first(taskId))
const instead: Write["instead"] = (store, taskId) => store.replace(first(taskId), other(taskId))

const writes: ReadonlyArray<Write> = [
  {
    name: "create",
    prepare: () => Effect.void,
    before: () => Option.none(),
    run: prepare,
    after: before,
    instead: (store, taskId) => store.create(other(taskId), noLimit)
  },
  {
    name: "replace",
    prepare,
    before,
    run: (store, taskId) => store.replace(first(taskId), next(taskId)),
    after: (taskId) => Option.some({ task: next(taskId), version: 2 }),
    instead
  },
  {
    name: "remove",
    prepare,
    before,
    run: (store, taskId) => Effect.map(store.remove(taskId, 1), assert.isTrue),
    after: () => Option.none(),
    instead
  }
]

/** How often each operation is interrupted. */
const times = 40

const numbered = (name: string, n: number) => `${name}-${String(n).padStart(3, "0")}`

const isRefusal = (error: unknown): boolean =>
  error instanceof TaskStore.TaskAlreadyExists || error instanceof TaskStore.VersionConflict

/** What is left, in so many words that a difference can be read: the long texts are only named. */
const told = (left: Left): string => {
  if (Option.isNone(left)) return "nothing"
  const { task, version } = left.value
  const known = Object.entries({ first: first(task.taskId).task, next: next(task.taskId), other: other(task.taskId) })
  const [name] = known.find(([, each]) => Equal.equals(each, task)) ?? [JSON.stringify(task)]
  return `version ${version} of ${task.taskId}: ${name}`
}

/** So many live tasks are what stands in the way of one more, and nothing that was given up. */
const isFull = Effect.fnUntraced(function*(store: Store, live: number) {
  const create = (maxLive: number) =>
    answered("create, after all", Effect.result(store.create(other("one more"), { maxLive })))
  const refused = yield* create(live)
  assert.isTrue(Result.isFailure(refused) && refused.failure instanceof TaskStore.TooManyTasks)
  assert.isTrue(Result.isSuccess(yield* create(live + 1)), "A place is taken by what was interrupted")
  assert.isTrue(yield* answered("remove, after all", store.remove("one more", 1)))
})

/** Every operation says the same of every task. */
const agrees = Effect.fnUntraced(function*(store: Store, expected: Expected) {
  const ask = <A, E>(operation: string, effect: Effect.Effect<A, E>) => answered(`${operation}, after all`, effect)
  const ids = [...expected.keys()].toSorted()
  const stored = ids.flatMap((taskId) => Option.toArray(expected.get(taskId) ?? Option.none()))
  const limit = ids.length + 1
  const listed = yield* ask("list", store.list({ limit }))
  assert.deepStrictEqual(listed.map((each) => told(Option.some(each))), stored.map((each) => told(Option.some(each))))
  for (const taskId of ids) {
    const left = expected.get(taskId) ?? Option.none()
    assert.strictEqual(told(yield* ask("read", store.read(taskId))), told(left), taskId)
    const head = Option.map(yield* ask("view", store.view(taskId)), ({ head }) => head)
    assert.deepStrictEqual(head, Option.map(left, ({ task }) => TaskWire.encodeHead(task)), taskId)
  }
  const live = stored.filter(({ task }) => !Task.isTerminal(task))
  assert.strictEqual(yield* ask("countLive", store.countLive("ada")), live.length)
  yield* isFull(store, live.length)
  const due = yield* ask("due", store.due(Number.MAX_SAFE_INTEGER, limit))
  assert.sameDeepMembers(
    [...due],
    stored.map(({ task, version }) => ({ taskId: task.taskId, version, live: !Task.isTerminal(task) }))
  )
})

/** Interrupts a write of a task, and finds out what it has left. */
const settled = Effect.fnUntraced(function*(store: Store, write: Write, taskId: string, turns: number) {
  const what = `${write.name}, interrupted after ${turns} turns`
  yield* answered(`${write.name} of another task, before`, write.prepare(store, taskId))
  const outcome = yield* interruption.after(write.name, turns, write.run(store, taskId))
  const found = yield* answered(`a write after ${what}`, Effect.result(write.instead(store, taskId)))
  if (Result.isFailure(found) && !isRefusal(found.failure)) return yield* Effect.fail(found.failure)
  if (outcome.isDone) assert.isTrue(Result.isFailure(found), `It was done, and is not: ${what}`)
  const left = Result.isSuccess(found) ? Option.some(found.success) : write.after(taskId)
  assert.strictEqual(told(yield* answered(`read after ${what}`, store.read(taskId))), told(left), what)
  return { outcome, left }
})

const wholes: ReadonlyArray<StoreCase> = writes.map((write) =>
  test(`does all of a ${write.name} that is interrupted or nothing, and serves on`, Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const expected: Expected = new Map()
    yield* everywhere(times, Effect.fnUntraced(function*(turns, time) {
      const taskId = numbered(write.name, time)
      const { left, outcome } = yield* settled(store, write, taskId, turns)
      expected.set(taskId, left)
      return outcome
    }))
    yield* agrees(store, expected)
  })))

/** A read that is interrupted. */
interface Read {
  readonly name: string
  /** What it says, in few words. */
  readonly run: (store: Store) => Effect.Effect<string, unknown>
  /** What it should say. */
  readonly says: (expected: Expected) => string
}

const page = (stored: ReadonlyArray<Left>) => stored.map(told).toSorted().join("\n")

const reads: ReadonlyArray<Read> = [
  {
    name: "read",
    run: (store) => Effect.map(store.read("task-1"), told),
    says: () => told(before("task-1"))
  },
  {
    name: "view",
    run: (store) => Effect.map(store.view("task-1"), (view) => Option.getOrThrow(view).head),
    says: () => TaskWire.encodeHead(first("task-1").task)
  },
  {
    name: "due",
    run: (store) => Effect.map(store.due(createdAt + 60_000, 10), (due) => due.map(({ taskId }) => taskId).join()),
    says: () => "task-1"
  },
  {
    name: "countLive",
    run: (store) => Effect.map(store.countLive("ada"), String),
    says: ({ size }) => `${size}`
  },
  {
    name: "list",
    run: (store) => Effect.map(store.list({ limit: 1_000 }), (all) => page(all.map(Option.some))),
    says: (expected) => page([...expected.values()])
  }
]

const serves: ReadonlyArray<StoreCase> = reads.map(({ name, run, says }) =>
  test(`serves on after a ${name} that is interrupted`, Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const expected: Expected = new Map()
    expected.set("task-1", Option.some(yield* store.create(first("task-1").task, noLimit)))
    yield* everywhere(times, Effect.fnUntraced(function*(turns, time) {
      const outcome = yield* interruption.after(name, turns, run(store))
      const what = `after a ${name} that was interrupted after ${turns} turns`
      assert.strictEqual(yield* answered(`${name} ${what}`, run(store)), says(expected), `${name} ${what}`)
      const taskId = numbered("mark", time)
      expected.set(taskId, Option.some(yield* answered(`create ${what}`, store.create(other(taskId), noLimit))))
      return outcome
    }))
    yield* agrees(store, expected)
  }))
)

/** How many ask at a time, and which of them leaves: the first, who may work for all, one who waits, and the last. */
const crowd = 8
const leavers = [0, 3, crowd - 1]

const others: ReadonlyArray<StoreCase> = [
  test("answers all who ask at a time, though one of them is interrupted", Effect.gen(function*() {
    const store = yield* TaskStore.TaskStore
    const expected: Expected = new Map()
    yield* Effect.forEach(leavers, (leaver) =>
      everywhere(times / 2, Effect.fnUntraced(function*(turns, time) {
        const ids = Arr.range(0, crowd - 1).map((n) => numbered(`leaver-${leaver}-of-${n}`, time))
        const create = (taskId: string) => store.create(other(taskId), noLimit)
        const what = `one of ${crowd} creates, of which another was interrupted after ${turns} turns`
        const outcomes = yield* Effect.forEach(ids, (taskId, n) =>
          n === leaver
            ? interruption.after("create", turns, create(taskId))
            : Effect.as(answered(what, create(taskId)), undefined), { concurrency: "unbounded" })
        for (const [n, taskId] of ids.entries()) {
          if (n !== leaver) expected.set(taskId, Option.some({ task: other(taskId), version: 1 }))
          else expected.set(taskId, yield* foundOut(store, taskId))
        }
        return outcomes[leaver] ?? { isOver: true, isDone: true }
      })), { discard: true })
    yield* agrees(store, expected)
  }))
]

/** What the create of one who left has left. */
const foundOut = (store: Store, taskId: string) =>
  Effect.matchEffect(answered("a create after one that was interrupted", store.create(next(taskId), noLimit)), {
    onFailure: (error) =>
      isRefusal(error) ? Effect.succeedSome({ task: other(taskId), version: 1 }) : Effect.fail(error),
    onSuccess: Effect.succeedSome
  })

const restarts: ReadonlyArray<StoreCase> = [
  atPlace("has after a restart what it showed before, whatever was interrupted", ["durability"], (open) =>
    Effect.gen(function*() {
      const seen: Expected = new Map()
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* open
        for (const write of writes) {
          yield* everywhere(times / 2, Effect.fnUntraced(function*(turns, time) {
            const taskId = numbered(write.name, time)
            yield* write.prepare(store, taskId)
            const outcome = yield* interruption.after(write.name, turns, write.run(store, taskId))
            // From here on it is settled: a later write has succeeded.
            const mark = numbered(`${write.name}-mark`, time)
            seen.set(mark, Option.some(yield* answered("create", store.create(other(mark), noLimit))))
            const left = yield* answered("read", store.read(taskId))
            const may = outcome.isDone ? [write.after(taskId)] : [write.before(taskId), write.after(taskId)]
            assert.include(may.map(told), told(left), `${write.name}, interrupted after ${turns} turns`)
            seen.set(taskId, left)
            return outcome
          }))
        }
        yield* agrees(store, seen)
      }))
      yield* Effect.scoped(Effect.flatMap(open, (store) => agrees(store, seen)))
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<StoreCase> = [...wholes, ...serves, ...others, ...restarts]
