/** Stores that are wrong in one thing each when there is much to go through, and the cases of the suite that notice. */
import type { Task } from "@effect-mcp-tasks/core"
import type { TaskStore } from "@effect-mcp-tasks/engine"
import { Effect, Option } from "effect"
import type { BrokenStore } from "./BrokenStores.ts"

type Store = TaskStore.TaskStore["Service"]

const mebi = 1024 * 1024

const sizeOf = ({ task }: Task.Stored) => JSON.stringify(task).length

/** As many from the start as are found within so many bytes: one at least. */
const within = (bytes: number, all: ReadonlyArray<Task.Stored>): ReadonlyArray<Task.Stored> => {
  let size = 0
  return all.filter((stored, n) => (size += sizeOf(stored)) <= bytes || n === 0)
}

const everything = (store: Store) => store.list({ limit: 1_000_000 })

const endsItsPages = (bytes: number) => (store: Store): Store => ({
  ...store,
  list: (options) => Effect.map(store.list(options), (page) => within(bytes, page))
})

const anyRecords = "ends no page before its limit, and counts on, whatever the size of the records"
const largeRecords = "ends no page before its limit, and counts on, among records of 512 KiB"

const bulks: ReadonlyArray<BrokenStore> = [
  { name: "a page ends after 1 MiB", breaks: endsItsPages(mebi), noticedBy: [anyRecords, largeRecords] },
  { name: "a page ends after 4 MiB", breaks: endsItsPages(4 * mebi), noticedBy: [anyRecords, largeRecords] },
  { name: "a page ends after 16 MiB", breaks: endsItsPages(16 * mebi), noticedBy: [largeRecords] },
  {
    name: "what is due is looked for in 1 MiB of records",
    breaks: (store) => ({
      ...store,
      due: (now, limit) =>
        Effect.gen(function*() {
          const seen = new Set(within(mebi, yield* everything(store)).map(({ task }) => task.taskId))
          return (yield* store.due(now, limit)).filter(({ taskId }) => seen.has(taskId))
        })
    }),
    noticedBy: [anyRecords, largeRecords]
  },
  {
    name: "live tasks are counted in 1 MiB of records",
    breaks: (store) => ({
      ...store,
      countLive: (owner) =>
        Effect.map(store.list({ owner, live: true, limit: 1_000_000 }), (all) => within(mebi, all).length)
    }),
    noticedBy: [anyRecords, largeRecords]
  }
]

const beyond = "finds, lists and counts what comes after the first thousand"

const late: ReadonlyArray<BrokenStore> = [
  {
    name: "what is due is looked for among the first 1,000 ids",
    breaks: (store) => ({
      ...store,
      due: (now, limit) =>
        Effect.gen(function*() {
          const seen = new Set((yield* store.list({ limit: 1_000 })).map(({ task }) => task.taskId))
          return (yield* store.due(now, 1_000_000)).filter(({ taskId }) => seen.has(taskId)).slice(0, limit)
        })
    }),
    noticedBy: [beyond]
  },
  {
    name: "a page has at most 1,000 tasks",
    breaks: (store) => ({
      ...store,
      list: (options) => store.list({ ...options, limit: Math.min(options.limit, 1_000) })
    }),
    noticedBy: [beyond]
  },
  {
    name: "the tasks of an owner are looked for among the first 1,000 ids",
    breaks: (store) => ({
      ...store,
      list: ({ limit, owner, ...options }) =>
        owner === undefined
          ? store.list({ ...options, limit })
          : Effect.map(store.list({ ...options, limit: 1_000 }), (all) =>
            all.filter(({ task }) => task.owner === owner).slice(0, limit))
    }),
    noticedBy: [beyond]
  },
  {
    name: "live tasks are counted among the first 1,000",
    breaks: (store) => ({
      ...store,
      countLive: (owner) => Effect.map(store.countLive(owner), (live) => Math.min(live, 1_000))
    }),
    noticedBy: [beyond]
  }
]

const onByte = ({ task, version }: Task.Stored): Task.Stored => ({ task, version: Math.min(version, 255) })

const numbers: ReadonlyArray<BrokenStore> = [
  {
    name: "a version is kept in one byte, and stays at its most",
    breaks: (store) => ({
      ...store,
      read: (taskId) => Effect.map(store.read(taskId), Option.map(onByte)),
      replace: (held, next) =>
        Effect.gen(function*() {
          const found = yield* Effect.orDie(store.read(next.taskId))
          const current = Option.isSome(found) && onByte(found.value).version === held.version ? found.value : held
          return onByte(yield* store.replace(current, next))
        })
    }),
    noticedBy: ["counts versions on beyond what one byte holds"]
  }
]

/** Tells owners apart by their first characters only. */
const ownersUpTo = (length: number): BrokenStore => ({
  name: `owners are told apart by their first ${length} characters`,
  breaks: (store) => ({
    ...store,
    countLive: (owner) =>
      Effect.map(store.list({ live: true, limit: 1_000_000 }), (all) =>
        all.filter(({ task }) => task.owner.slice(0, length) === owner.slice(0, length)).length)
  }),
  noticedBy: ["tells owners apart by every character"]
})

/** Every broken store of this kind. */
export const all: ReadonlyArray<BrokenStore> = [...bulks, ...late, ...numbers, ...[255, 767, 3_072].map(ownersUpTo)]
