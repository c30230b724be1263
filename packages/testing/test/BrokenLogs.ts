/** Stores in memory that write to a log, which outlives their process; some of them are wrong in one thing. */
import type { Task } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import type * as TaskStoreTest from "@effect-mcp-tasks/testing/TaskStoreTest"
import { Context, Effect, Layer, Option, Queue, type Scope } from "effect"

type Store = TaskStore.TaskStore["Service"]

type Operation = "create" | "replace" | "remove"

/** Does in memory what is asked for, and then in the log. */
type Keep = <A, E>(
  inMemory: Effect.Effect<A, E>,
  inLog: Effect.Effect<void>,
  operation: Operation
) => Effect.Effect<A, E>

/** How a log is kept. */
export interface Log {
  /** What each process does that opens it. */
  readonly keeps: Effect.Effect<Keep, never, Scope.Scope>
  /** What becomes of a version when the log is written anew, as it is whenever it is opened. */
  readonly compacts: (version: number) => number
}

/** A log that is wrong in one thing, and the cases that notice. */
export interface BrokenLog extends Log {
  readonly name: string
  readonly noticedBy: ReadonlyArray<string>
}

const noLimit = { maxLive: Number.MAX_SAFE_INTEGER }

const memory = Effect.map(Layer.build(Layer.fresh(TaskStore.layerMemory)), Context.get(TaskStore.TaskStore))

const load = Effect.fnUntraced(function*(store: Store, { task, version }: Task.Stored) {
  let held = yield* store.create(task, noLimit)
  while (held.version < version) held = yield* store.replace(held, task)
})

/** An empty log, and the store that each process makes of it. */
export const place = ({ compacts, keeps }: Log): TaskStoreTest.Place =>
  Effect.sync(() => {
    const log = new Map<string, Task.Stored>()
    return Layer.effect(
      TaskStore.TaskStore,
      Effect.gen(function*() {
        const store = yield* memory
        for (const stored of log.values()) yield* load(store, stored)
        for (const [taskId, { task, version }] of log) log.set(taskId, { task, version: compacts(version) })
        const keep = yield* keeps
        const write = <A, E>(operation: Operation, taskId: string, inMemory: Effect.Effect<A, E>) =>
          keep(
            inMemory,
            Effect.orDie(Effect.map(store.read(taskId), (left) => {
              if (Option.isSome(left)) log.set(taskId, left.value)
              else log.delete(taskId)
            })),
            operation
          )
        return TaskStore.TaskStore.of({
          ...store,
          create: (task, options) => write("create", task.taskId, store.create(task, options)),
          replace: (held, next) => write("replace", next.taskId, store.replace(held, next)),
          remove: (taskId, version) => write("remove", taskId, store.remove(taskId, version))
        })
      })
    )
  })

const inTwoSteps = <A, E>(inMemory: Effect.Effect<A, E>, inLog: Effect.Effect<void>) =>
  Effect.tap(inMemory, () => Effect.andThen(Effect.yieldNow, inLog))

/** A log with which nothing is wrong. */
export const sound: Log = {
  keeps: Effect.succeed((inMemory, inLog) => Effect.uninterruptible(inTwoSteps(inMemory, inLog))),
  compacts: (version) => version
}

/** Commits what has been written once nobody is within a transaction any more. */
const transactions = Effect.sync((): Keep => {
  let within = 0
  let written: Array<Effect.Effect<void>> = []
  return (inMemory, inLog) =>
    Effect.gen(function*() {
      within += 1
      const answer = yield* Effect.exit(inMemory)
      written.push(inLog)
      yield* Effect.yieldNow
      within -= 1
      if (within === 0) {
        for (const each of written) yield* each
        written = []
      }
      return yield* answer
    })
})

/** Answers before it writes: what these operations do goes to the log when the process ends in good order. */
const buffered = (...operations: ReadonlyArray<Operation>): Log["keeps"] =>
  Effect.gen(function*() {
    const buffer: Array<Effect.Effect<void>> = []
    yield* Effect.addFinalizer(() => Effect.all(buffer, { discard: true }))
    return (inMemory, inLog, operation) =>
      Effect.uninterruptible(
        operations.includes(operation)
          ? Effect.tap(inMemory, () => Effect.sync(() => buffer.push(inLog)))
          : inTwoSteps(inMemory, inLog)
      )
  })

/** Answers before it writes: what has changed goes to the log by and by, and when the process ends in good order. */
const later: Log["keeps"] = Effect.gen(function*() {
  const changes = yield* Queue.unbounded<Effect.Effect<void>>()
  const write = Effect.flatMap(Queue.takeAll(changes), (written) => Effect.all(written, { discard: true }))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("10 millis"), write)))
  yield* Effect.addFinalizer(() => Effect.flatMap(Queue.clear(changes), (left) => Effect.all(left, { discard: true })))
  return (inMemory, inLog) => Effect.uninterruptible(Effect.tap(inMemory, () => Queue.offer(changes, inLog)))
})

/** What a store that answers before it writes still does as it should. */
export const inGoodOrder = [
  "still has everything after it was closed and opened again",
  "goes on from where the process before it ended, ten times over",
  "is the same however often it is opened, with nothing written in between",
  "has after a restart what it showed before, whatever was interrupted"
]

const killedAfter = {
  create: "has created what it said it has, though its process is killed at once",
  replace: "has replaced what it said it has, though its process is killed at once",
  remove: "has removed what it said it has, though its process is killed at once"
} as const

/** Logs that are right as long as every process ends in good order. */
export const hasty: ReadonlyArray<BrokenLog> = [
  {
    ...sound,
    name: "a log is in memory until it is closed",
    keeps: buffered("create", "replace", "remove"),
    noticedBy: [killedAfter.create, killedAfter.replace, killedAfter.remove]
  },
  {
    ...sound,
    name: "a log is written by and by",
    keeps: later,
    noticedBy: [killedAfter.create, killedAfter.replace, killedAfter.remove]
  },
  ...(["create", "replace", "remove"] as const).map((operation) => ({
    ...sound,
    name: `a ${operation} is in memory until the log is closed`,
    keeps: buffered(operation),
    noticedBy: [killedAfter[operation]]
  }))
]

/** Every broken log. */
export const all: ReadonlyArray<BrokenLog> = [
  {
    ...sound,
    name: "memory and a log are apart after an interruption",
    keeps: Effect.succeed(inTwoSteps),
    noticedBy: ["has after a restart what it showed before, whatever was interrupted"]
  },
  {
    ...sound,
    name: "a transaction stays open after an interruption, with all that comes later in it",
    keeps: transactions,
    noticedBy: ["has after a restart what it showed before, whatever was interrupted"]
  },
  {
    ...sound,
    name: "versions begin anew when a log is written anew",
    compacts: () => 1,
    noticedBy: ["is the same however often it is opened, with nothing written in between"]
  }
]
