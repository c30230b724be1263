/** Stores that are wrong in one thing each when there is much to go through, and the cases of the suite that notice. */
import type { Task } from "@effect-mcp-tasks/core"
import type { TaskStore } from "@effect-mcp-tasks/engine"
import { Effect } from "effect"
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

/** Every broken store of this kind. */
export const all: ReadonlyArray<BrokenStore> = bulks
