/** Stores that are wrong in one thing each when they view, find or list, and the cases of the suite that notice. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { Clock, Effect, Option } from "effect"
import type { BrokenStore } from "./BrokenStores.ts"

type Store = TaskStore.TaskStore["Service"]

/** Cuts every page short, whatever it is asked for. */
const capped = (store: Store, most: number): Store => ({
  ...store,
  list: (options) => store.list({ ...options, limit: Math.min(options.limit, most) })
})

/** Remembers views, and forgets them when their tasks are replaced. */
export const cached = (store: Store): Store => {
  const views = new Map<string, TaskStore.TaskView>()
  return {
    ...store,
    replace: (held, next) => {
      views.delete(next.taskId)
      return store.replace(held, next)
    },
    view: (taskId) => {
      const known = views.get(taskId)
      return known === undefined
        ? Effect.tap(store.view(taskId), Option.match({
          onNone: () => Effect.void,
          onSome: (view) => Effect.sync(() => views.set(taskId, { ...view }))
        }))
        : Effect.succeedSome({ ...known })
    }
  }
}

/** Remembers the views of tasks that have ended, and forgets them when this process removes their tasks. */
export const remembersEnded = (store: Store): Store => {
  const views = new Map<string, TaskStore.TaskView>()
  return {
    ...store,
    remove: (taskId, version) =>
      Effect.tap(store.remove(taskId, version), (removed) => Effect.sync(() => removed && views.delete(taskId))),
    view: (taskId) => {
      const known = views.get(taskId)
      return known === undefined
        ? Effect.tap(store.view(taskId), Option.match({
          onNone: () => Effect.void,
          onSome: (view) => Effect.sync(() => view.live || views.set(taskId, { ...view }))
        }))
        : Effect.succeedSome({ ...known })
    }
  }
}

/** Lists by an order and by a rule for what comes after an id. */
const listing = (
  store: Store,
  { compare, isAfter }: {
    readonly compare: (a: string, b: string) => number
    readonly isAfter: (id: string, after: string) => boolean
  }
): Store => ({
  ...store,
  list: ({ after, limit, ...options }) =>
    Effect.map(store.list({ ...options, limit: 1_000_000 }), (all) =>
      all.filter(({ task }) => after === undefined || isAfter(task.taskId, after))
        .toSorted((a, b) => compare(a.task.taskId, b.task.taskId))
        .slice(0, limit))
})

const byCode = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0
const dictionary = new Intl.Collator("en")
const noCase = (a: string, b: string) => byCode(a.toLowerCase(), b.toLowerCase())

const names: ReadonlyArray<BrokenStore> = [
  {
    name: "pages are in the order of a dictionary",
    breaks: (store) =>
      listing(store, { compare: dictionary.compare, isAfter: (id, after) => dictionary.compare(id, after) > 0 }),
    noticedBy: [
      "lists ids in the order of their characters, \"B\" before \"a\"",
      "pages over ids of all languages, each once"
    ]
  },
  {
    name: "pages are in an order without regard to case",
    breaks: (store) => listing(store, { compare: noCase, isAfter: (id, after) => noCase(id, after) > 0 }),
    noticedBy: [
      "lists ids in the order of their characters, \"B\" before \"a\"",
      "pages over ids of all languages, each once"
    ]
  },
  {
    name: "a page is sorted by one order, and begins by another",
    breaks: (store) => listing(store, { compare: byCode, isAfter: (id, after) => dictionary.compare(id, after) > 0 }),
    noticedBy: [
      "lists ids in the order of their characters, \"B\" before \"a\"",
      "pages over ids of all languages, each once"
    ]
  },
  {
    name: "a page leaves out ids that begin with the one before",
    breaks: (store) =>
      listing(store, { compare: byCode, isAfter: (id, after) => id > after && !id.startsWith(`${after}-`) }),
    noticedBy: ["lists ids in the order of their characters, \"B\" before \"a\""]
  },
  {
    name: "ids are one whatever the case of their letters",
    breaks: (store) => ({
      ...store,
      create: (task, options) =>
        Effect.flatMap(store.list({ limit: 1_000_000 }), (all) => {
          const { taskId } = task
          return all.some((other) => noCase(other.task.taskId, taskId) === 0)
            ? Effect.fail(new TaskStore.TaskAlreadyExists({ taskId }))
            : store.create(task, options)
        })
    }),
    noticedBy: ["tells ids apart by every character", "lists ids in the order of their characters, \"B\" before \"a\""]
  },
  {
    name: "a poll finds an id whatever the case of its letters",
    breaks: (store) => ({
      ...store,
      view: (taskId) =>
        Effect.flatMap(store.list({ limit: 1_000_000 }), (all) => {
          const found = all.find(({ task }) => noCase(task.taskId, taskId) === 0)
          return found === undefined ? Effect.succeedNone : store.view(found.task.taskId)
        })
    }),
    noticedBy: ["tells ids apart by every character"]
  },
  {
    name: "what is due is one of each id whatever the case of its letters",
    breaks: (store) => ({
      ...store,
      due: (now, limit) =>
        Effect.map(store.due(now, 1_000_000), (all) =>
          [...new Map(all.map((due) => [due.taskId.toLowerCase(), due])).values()].slice(0, limit))
    }),
    noticedBy: ["tells ids apart by every character"]
  },
  {
    name: "ids are cut at 255 characters",
    breaks: (store) => ({
      ...store,
      view: (taskId) =>
        Effect.flatMap(store.list({ limit: 1_000_000 }), (all) => {
          const found = all.find(({ task }) => task.taskId.slice(0, 255) === taskId.slice(0, 255))
          return found === undefined ? Effect.succeedNone : store.view(found.task.taskId)
        })
    }),
    noticedBy: ["tells ids apart by every character"]
  },
  {
    name: "a task is removed with all whose ids begin with its own and a colon",
    breaks: (store) => ({
      ...store,
      remove: (taskId, version) =>
        Effect.tap(store.remove(taskId, version), () =>
          Effect.flatMap(store.list({ limit: 1_000_000 }), (all) =>
            Effect.forEach(
              all.filter(({ task }) => task.taskId.startsWith(`${taskId}:`)),
              ({ task, version }) => store.remove(task.taskId, version)
            )))
    }),
    noticedBy: ["tells ids apart by every character"]
  },
  {
    name: "an owner is found by a pattern",
    breaks: (store) => ({
      ...store,
      list: ({ owner, ...options }) =>
        Effect.map(store.list(options), (all) =>
          all.filter(({ task }) =>
            owner === undefined || task.owner === owner || (owner === "a_a" && /^a.a$/u.test(task.owner))))
    }),
    noticedBy: ["tells owners apart by every character"]
  }
]

const reading: ReadonlyArray<BrokenStore> = [
  {
    name: "what is due is not sorted",
    breaks: (store) => ({
      ...store,
      due: (now, limit) => Effect.map(store.due(now, limit), (due) => due.toReversed())
    }),
    noticedBy: ["finds what is due at or before now, the longest overdue first"]
  },
  {
    name: "what is due right now is left out",
    breaks: (store) => ({ ...store, due: (now, limit) => store.due(now - 1, limit) }),
    noticedBy: ["finds what is due at or before now, the longest overdue first"]
  },
  {
    name: "the limit of due is ignored",
    breaks: (store) => ({ ...store, due: (now) => store.due(now, 1_000) }),
    noticedBy: ["finds what is due at or before now, the longest overdue first"]
  },
  {
    name: "ended tasks are never due",
    breaks: (store) => ({
      ...store,
      due: (now, limit) => Effect.map(store.due(now, limit), (due) => due.filter(({ live }) => live))
    }),
    noticedBy: ["finds what is due at or before now, the longest overdue first"]
  },
  {
    name: "deadlines are kept in 32 bits",
    breaks: (store) => ({
      ...store,
      view: (taskId) =>
        Effect.map(store.view(taskId), Option.map((view) => ({ ...view, dueAt: view.dueAt && view.dueAt | 0 })))
    }),
    noticedBy: ["tells deadlines apart beyond 32 bits and up to 2^53 - 1", "views what a poll needs, and nothing else"]
  },
  {
    name: "what is overdue expires by itself",
    breaks: (store) => ({
      ...store,
      read: (taskId) =>
        Effect.gen(function*() {
          const view = Option.getOrUndefined(yield* store.view(taskId))
          const now = yield* Clock.currentTimeMillis
          return view !== undefined && view.dueAt !== null && view.dueAt <= now
            ? Option.none()
            : yield* store.read(taskId)
        })
    }),
    noticedBy: ["keeps what is long overdue until it is removed"]
  },
  {
    name: "a list is in the order of creation",
    breaks: (store) => {
      const order: Array<string> = []
      return {
        ...store,
        create: (task, options) =>
          Effect.tap(store.create(task, options), () => Effect.sync(() => order.push(task.taskId))),
        list: (options) =>
          Effect.map(store.list(options), (page) =>
            page.toSorted((a, b) => order.indexOf(a.task.taskId) - order.indexOf(b.task.taskId)))
      }
    },
    noticedBy: ["lists by owner and by life, in the order of ids"]
  },
  {
    name: "a page begins with the id that it is to come after",
    breaks: (store) => ({
      ...store,
      list: (options) =>
        Effect.flatMap(
          options.after === undefined ? Effect.succeedNone : store.read(options.after),
          (before) =>
            Effect.map(store.list(options), (page) => [...Option.toArray(before), ...page].slice(0, options.limit))
        )
    }),
    noticedBy: ["lists by owner and by life, in the order of ids"]
  },
  {
    name: "a view is what it was when it was first asked for",
    breaks: (store) => {
      const views = new Map<string, TaskStore.TaskView>()
      return {
        ...store,
        view: (taskId) =>
          Effect.map(store.view(taskId), Option.map((view) => {
            const first = views.get(taskId) ?? view
            views.set(taskId, first)
            return first
          }))
      }
    },
    noticedBy: ["views what a poll needs, and nothing else"]
  },
  {
    name: "a task and its version are read one after the other",
    breaks: (store) => ({
      ...store,
      read: (taskId) =>
        Effect.gen(function*() {
          const before = yield* store.read(taskId)
          yield* Effect.yieldNow
          const after = yield* store.read(taskId)
          return Option.zipWith(before, after, ({ task }, { version }) => ({ task, version }))
        })
    }),
    noticedBy: ["is read whole, while it is being replaced"]
  },
  {
    name: "a view outlives its task",
    breaks: cached,
    noticedBy: ["shows nothing of a task that is removed, and only the next one of its id"]
  },
  {
    name: "a page has at most 20 tasks",
    breaks: (store) => capped(store, 20),
    noticedBy: ["lists as many as it is asked for, in the order of ids"]
  },
  {
    name: "a page has at most 100 tasks",
    breaks: (store) => capped(store, 100),
    noticedBy: ["lists as many as it is asked for, in the order of ids"]
  },
  {
    name: "a list is cut to its limit, and sorted then",
    breaks: (store) => {
      const order: Array<string> = []
      return {
        ...store,
        create: (task, options) =>
          Effect.tap(store.create(task, options), () => Effect.sync(() => order.push(task.taskId))),
        list: ({ limit, ...options }) =>
          Effect.map(store.list({ ...options, limit: 1_000_000 }), (all) =>
            all.toSorted((a, b) => order.indexOf(a.task.taskId) - order.indexOf(b.task.taskId))
              .slice(0, limit)
              .toSorted((a, b) => a.task.taskId < b.task.taskId ? -1 : 1))
      }
    },
    noticedBy: ["lists as many as it is asked for, in the order of ids"]
  },
  {
    name: "at most ten tasks are due at a time",
    breaks: (store) => ({ ...store, due: (now, limit) => store.due(now, Math.min(limit, 10)) }),
    noticedBy: ["finds as much of what is due as it is asked for, the longest overdue first"]
  },
  {
    name: "what is due is cut to the limit, and sorted then",
    breaks: (store) => ({
      ...store,
      due: (now, limit) =>
        Effect.map(store.due(now, 1_000_000), (all) => {
          const taken = new Set(all.map(({ taskId }) => taskId).toSorted().slice(0, limit))
          return all.filter(({ taskId }) => taken.has(taskId))
        })
    }),
    noticedBy: ["finds as much of what is due as it is asked for, the longest overdue first"]
  },
  {
    name: "a task that waits for its user is not listed as live",
    breaks: (store) => ({
      ...store,
      list: (options) =>
        Effect.map(store.list(options), (page) =>
          options.live === true ? page.filter(({ task }) => task.status === "working") : page)
    }),
    noticedBy: ["lists and finds tasks in every status, and says which have ended"]
  },
  {
    name: "only what has completed has ended",
    breaks: (store) => ({
      ...store,
      list: (options) =>
        Effect.map(store.list(options), (page) =>
          options.live === false ? page.filter(({ task }) => task.status === "completed") : page)
    }),
    noticedBy: ["lists and finds tasks in every status, and says which have ended"]
  }
]

/** Every broken store of this kind. */
export const all: ReadonlyArray<BrokenStore> = [...reading, ...names]
