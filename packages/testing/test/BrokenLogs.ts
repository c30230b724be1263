/** Stores in memory that write to a log, which outlives their process; some of them are wrong in one thing. */
import type { Task } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import type * as TaskStoreTest from "@effect-mcp-tasks/testing/TaskStoreTest"
import { Context, Effect, Layer, Option } from "effect"

type Store = TaskStore.TaskStore["Service"]

/** Does in memory what is asked for, and then in the log. */
type Keep = <A, E>(inMemory: Effect.Effect<A, E>, inLog: Effect.Effect<void>) => Effect.Effect<A, E>

/** How a log is kept. */
export interface Log {
  /** What each process does that opens it. */
  readonly keeps: () => Keep
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
        const keep = keeps()
        const write = <A, E>(taskId: string, inMemory: Effect.Effect<A, E>) =>
          keep(inMemory, Effect.orDie(Effect.map(store.read(taskId), (left) => {
            if (Option.isSome(left)) log.set(taskId, left.value)
            else log.delete(taskId)
          })))
        return TaskStore.TaskStore.of({
          ...store,
          create: (task, options) => write(task.taskId, store.create(task, options)),
          replace: (held, next) => write(next.taskId, store.replace(held, next)),
          remove: (taskId, version) => write(taskId, store.remove(taskId, version))
        })
      })
    )
  })

const inTwoSteps: Keep = (inMemory, inLog) => Effect.tap(inMemory, () => Effect.andThen(Effect.yieldNow, inLog))

/** A log with which nothing is wrong. */
export const sound: Log = {
  keeps: () => (inMemory, inLog) => Effect.uninterruptible(inTwoSteps(inMemory, inLog)),
  compacts: (version) => version
}

/** Commits what has been written once nobody is within a transaction any more. */
const transactions = (): Keep => {
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
}

/** Every broken log. */
export const all: ReadonlyArray<BrokenLog> = [
  {
    ...sound,
    name: "memory and a log are apart after an interruption",
    keeps: () => inTwoSteps,
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
