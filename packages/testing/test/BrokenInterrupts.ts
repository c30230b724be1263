/** Stores that are wrong in one thing each when an operation is interrupted, and the cases of the suite that notice. */
import type { Task } from "@effect-mcp-tasks/core"
import type { TaskStore } from "@effect-mcp-tasks/engine"
import { Deferred, Effect, Option, Semaphore } from "effect"
import type { BrokenStore } from "./BrokenStores.ts"

type Store = TaskStore.TaskStore["Service"]
type Around = <A, E>(operation: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Puts something around what writes. */
const writes = (store: Store, around: Around): Store => ({
  ...store,
  create: (task, options) => around(store.create(task, options)),
  replace: (held, next) => around(store.replace(held, next)),
  remove: (taskId, version) => around(store.remove(taskId, version))
})

/** Puts something around every operation. */
const all = (store: Store, around: Around): Store => ({
  ...writes(store, around),
  read: (taskId) => around(store.read(taskId)),
  view: (taskId) => around(store.view(taskId)),
  due: (now, limit) => around(store.due(now, limit)),
  countLive: (owner) => around(store.countLive(owner)),
  list: (options) => around(store.list(options))
})

/** Takes and gives back in two steps of their own, instead of `withPermits`. */
const careless = (permits: number): Around => {
  const lock = Semaphore.makeUnsafe(permits)
  return (operation) =>
    Effect.gen(function*() {
      yield* lock.take(1)
      yield* Effect.yieldNow
      const answer = yield* Effect.exit(operation)
      yield* lock.release(1)
      return yield* answer
    })
}

/** A lock that is handed on in order, to those too who have left. */
const queued = (): Around => {
  const waiting: Array<Deferred.Deferred<void>> = []
  let isTaken = false
  const take = Effect.suspend(() => {
    if (!isTaken) {
      isTaken = true
      return Effect.void
    }
    const turn = Deferred.makeUnsafe<void>()
    waiting.push(turn)
    return Deferred.await(turn)
  })
  const release = Effect.suspend(() => {
    const turn = waiting.shift()
    isTaken = turn !== undefined
    return turn === undefined ? Effect.void : Deferred.succeed(turn, undefined)
  })
  return (operation) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.andThen(restore(take), Effect.ensuring(restore(Effect.andThen(Effect.yieldNow, operation)), release)))
}

/** Whoever comes first works for all who come until then, and for nobody once interrupted. */
const together = (): Around => {
  let jobs: Array<Effect.Effect<unknown>> = []
  const flush = Effect.gen(function*() {
    yield* Effect.yieldNow
    const now = jobs
    jobs = []
    for (const job of now) yield* job
  })
  return <A, E>(operation: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<A, E>()
      jobs.push(Effect.flatMap(Effect.exit(operation), (exit) => Deferred.done(done, exit)))
      return Effect.andThen(jobs.length === 1 ? flush : Effect.void, Deferred.await(done))
    })
}

/** Every broken store of this kind. */
export const inMemory: ReadonlyArray<BrokenStore> = [
  {
    name: "a lock stays taken once whoever holds it is interrupted",
    breaks: (store) => all(store, careless(1)),
    noticedBy: [
      "does all of a create that is interrupted or nothing, and serves on",
      "does all of a replace that is interrupted or nothing, and serves on",
      "does all of a remove that is interrupted or nothing, and serves on",
      "serves on after a read that is interrupted",
      "serves on after a view that is interrupted",
      "serves on after a due that is interrupted",
      "serves on after a countLive that is interrupted",
      "serves on after a list that is interrupted",
      "answers all who ask at a time, though one of them is interrupted"
    ]
  },
  {
    name: "one of ten connections is lost with every list that is interrupted",
    breaks: (store) => {
      const pool = careless(10)
      return { ...all(store, pool), due: store.due, countLive: store.countLive }
    },
    noticedBy: ["serves on after a list that is interrupted"]
  },
  {
    name: "a lock is handed on to who has left",
    breaks: (store) => writes(store, queued()),
    noticedBy: ["answers all who ask at a time, though one of them is interrupted"]
  },
  {
    name: "whoever comes first takes the writes of the others along",
    breaks: (store) => writes(store, together()),
    noticedBy: ["answers all who ask at a time, though one of them is interrupted"]
  },
  {
    name: "a task is replaced in two halves, and may be left in between",
    breaks: (store) => {
      const halves = new Set<string>()
      const half = (stored: Task.Stored): Task.Stored =>
        halves.has(stored.task.taskId) ? { ...stored, task: { ...stored.task, arguments: {} } } : stored
      return {
        ...store,
        read: (taskId) => Effect.map(store.read(taskId), Option.map(half)),
        list: (options) => Effect.map(store.list(options), (page) => page.map(half)),
        replace: (held, next) =>
          Effect.gen(function*() {
            const stored = yield* store.replace(held, next)
            halves.add(next.taskId)
            yield* Effect.yieldNow
            halves.delete(next.taskId)
            return stored
          })
      }
    },
    noticedBy: ["does all of a replace that is interrupted or nothing, and serves on"]
  },
  {
    name: "a task is created first, and counted then",
    breaks: (store) => {
      const counted = new Set<string>()
      return {
        ...store,
        create: (task, options) =>
          Effect.gen(function*() {
            const stored = yield* store.create(task, options)
            yield* Effect.yieldNow
            counted.add(task.taskId)
            return stored
          }),
        countLive: (owner) =>
          Effect.map(store.list({ owner, live: true, limit: 1_000_000 }), (live) =>
            live.filter(({ task }) => counted.has(task.taskId)).length)
      }
    },
    noticedBy: [
      "does all of a create that is interrupted or nothing, and serves on",
      "answers all who ask at a time, though one of them is interrupted"
    ]
  },
  {
    name: "a create that is interrupted takes up a place for good",
    breaks: (store) => {
      let creating = 0
      return {
        ...store,
        create: (task, { maxLive }) =>
          Effect.gen(function*() {
            creating += 1
            yield* Effect.yieldNow
            creating -= 1
            return yield* store.create(task, { maxLive: maxLive - creating })
          })
      }
    },
    noticedBy: [
      "does all of a create that is interrupted or nothing, and serves on",
      "answers all who ask at a time, though one of them is interrupted"
    ]
  },
  {
    name: "a list that is interrupted is half a list for whoever asks next",
    breaks: (store) => {
      let found: Array<Task.Stored> | undefined
      return {
        ...writes(store, (write) => Effect.tap(write, () => Effect.sync(() => found = undefined))),
        list: (options) =>
          Effect.gen(function*() {
            if (Object.keys(options).length > 1) return yield* store.list(options)
            if (found === undefined) {
              found = []
              for (const stored of yield* store.list({ limit: 1_000_000 })) {
                found.push(stored)
                yield* Effect.yieldNow
              }
            }
            return found.slice(0, options.limit)
          })
      }
    },
    noticedBy: ["serves on after a list that is interrupted"]
  },
  {
    name: "a deadline outlives a task whose removal is interrupted",
    breaks: (store) => {
      const left = new Map<string, TaskStore.TaskView>()
      return {
        ...store,
        remove: (taskId, version) =>
          Effect.gen(function*() {
            const view = Option.getOrUndefined(yield* store.view(taskId))
            const isRemoved = yield* store.remove(taskId, version)
            if (isRemoved && view !== undefined) left.set(taskId, view)
            yield* Effect.yieldNow
            left.delete(taskId)
            return isRemoved
          }),
        due: (now, limit) =>
          Effect.map(store.due(now, limit), (due) =>
            [...due, ...[...left.keys()].map((taskId) => ({ taskId, version: 1, live: true }))].slice(0, limit))
      }
    },
    noticedBy: ["does all of a remove that is interrupted or nothing, and serves on"]
  }
]
