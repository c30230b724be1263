/** Stores that are wrong in one thing each, and the cases of the suite that notice. */
import type { Task } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import { Effect, Option } from "effect"
import * as BrokenBulk from "./BrokenBulk.ts"
import * as BrokenReads from "./BrokenReads.ts"

type Store = TaskStore.TaskStore["Service"]

/** A store that does most of what it should. */
export interface BrokenStore {
  readonly name: string
  /** Breaks a store that does all of it. */
  readonly breaks: (store: Store) => Store
  readonly noticedBy: ReadonlyArray<string>
}

const noLimit = { maxLive: Number.MAX_SAFE_INTEGER }

const asks = ({ task }: Task.Stored) => task.status === "input_required"

const current = (store: Store, taskId: string) => Effect.map(store.read(taskId), Option.getOrThrow)

/** Replaces whatever is there. */
const force = (store: Store, next: Task.Task): Effect.Effect<Task.Stored, TaskStore.TaskStoreError> =>
  Effect.flatMap(current(store, next.taskId), (stored) => store.replace(stored, next)).pipe(
    Effect.catchTag("VersionConflict", () => force(store, next))
  )

const reads = (store: Store, change: (task: Task.Task) => Task.Task): Store => ({
  ...store,
  read: (taskId) =>
    Effect.map(store.read(taskId), Option.map(({ task, version }) => ({ task: change(task), version })))
})

const texts = (task: Task.Task, change: (text: string) => string): Task.Task =>
  JSON.parse(JSON.stringify(task), (key, value) =>
    typeof value === "string" && !["taskId", "owner", "status"].includes(key) ? change(value) : value)

/** Copies an object as one does who has not heard of `__proto__`. */
const assigned = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) copy[key] = assigned(member)
  return copy
}

const writing: ReadonlyArray<BrokenStore> = [
  {
    name: "the version is ignored",
    breaks: (store) => ({ ...store, replace: (_stored, next) => Effect.orDie(force(store, next)) }),
    noticedBy: [
      "knows nothing of an unknown task",
      "replaces the version that was read, and gives back the next",
      "lets exactly one of 50 writers win, 20 times over"
    ]
  },
  {
    name: "a task is replaced by whatever is given",
    breaks: (store) => ({
      ...store,
      replace: (held, next) => store.replace(held, { ...next, taskId: held.task.taskId, owner: held.task.owner })
    }),
    noticedBy: ["dies rather than replace a task by another one, or by another owner's"]
  },
  {
    name: "the version is compared before it is written, not while",
    breaks: (store) => ({
      ...store,
      replace: ({ task: { taskId }, version }, next) =>
        Effect.gen(function*() {
          const found = yield* current(store, taskId)
          yield* Effect.yieldNow
          if (found.version !== version) return yield* new TaskStore.VersionConflict({ taskId, version })
          return yield* force(store, next)
        })
    }),
    noticedBy: ["lets exactly one of 50 writers win, 20 times over"]
  },
  {
    name: "a version above the stored one is taken for the stored one",
    breaks: (store) => ({
      ...store,
      replace: (held, next) =>
        Effect.flatMap(store.read(next.taskId), Option.match({
          onNone: () => store.replace(held, next),
          onSome: ({ version }) => store.replace({ ...held, version: Math.min(held.version, version) }, next)
        }))
    }),
    noticedBy: ["replaces the version that was read, and gives back the next"]
  },
  {
    name: "the old version is given back",
    breaks: (store) => ({
      ...store,
      replace: (stored, next) => Effect.map(store.replace(stored, next), ({ task }) => ({ ...stored, task }))
    }),
    noticedBy: ["replaces the version that was read, and gives back the next"]
  },
  {
    name: "create overwrites",
    breaks: (store) => ({
      ...store,
      create: (task, options) =>
        store.create(task, options).pipe(
          Effect.catchTag("TaskAlreadyExists", () => Effect.as(force(store, task), { task, version: 1 }))
        )
    }),
    noticedBy: [
      "refuses a second task of one id, whoever owns it, and keeps the first",
      "calls a known id a known id, also at the limit",
      "creates one task of 30 that come at once with one id"
    ]
  },
  {
    name: "the limit is ignored",
    breaks: (store) => ({ ...store, create: (task) => store.create(task, noLimit) }),
    noticedBy: ["refuses more live tasks of an owner than the limit, and says which"]
  },
  {
    name: "the limit is for all owners together",
    breaks: (store) => ({
      ...store,
      create: (task, { maxLive }) =>
        Effect.gen(function*() {
          const all = yield* store.list({ live: true, limit: maxLive })
          if (all.length >= maxLive) return yield* new TaskStore.TooManyTasks({ limit: maxLive })
          return yield* store.create(task, noLimit)
        })
    }),
    noticedBy: ["refuses more live tasks of an owner than the limit, and says which"]
  },
  {
    name: "live tasks are counted first and the task created then",
    breaks: (store) => ({
      ...store,
      create: (task, { maxLive }) =>
        Effect.gen(function*() {
          const live = yield* store.countLive(task.owner)
          yield* Effect.yieldNow
          if (live >= maxLive) return yield* new TaskStore.TooManyTasks({ limit: maxLive })
          return yield* store.create(task, noLimit)
        })
    }),
    noticedBy: ["creates exactly as many as the limit, of 100 that come at once"]
  },
  {
    name: "ended tasks are counted as live",
    breaks: (store) => ({
      ...store,
      countLive: (owner) => Effect.map(store.list({ owner, limit: 1_000_000 }), (all) => all.length)
    }),
    noticedBy: ["counts a task no longer once it has ended or gone"]
  },
  {
    name: "a task that waits for its user is not counted when others are created",
    breaks: (store) => ({
      ...store,
      create: (task, { maxLive }) =>
        Effect.flatMap(store.list({ owner: task.owner, live: true, limit: 1_000_000 }), (all) =>
          store.create(task, { maxLive: maxLive + all.filter(asks).length }))
    }),
    noticedBy: ["counts every task that has not ended, whatever it waits for"]
  },
  {
    name: "a task that waits for its user is not counted",
    breaks: (store) => ({
      ...store,
      countLive: (owner) =>
        Effect.map(store.list({ owner, live: true, limit: 1_000_000 }), (all) =>
          all.filter((stored) => !asks(stored)).length)
    }),
    noticedBy: ["counts every task that has not ended, whatever it waits for"]
  },
  {
    name: "remove says that it did, and forgets to",
    breaks: (store) => ({ ...store, remove: () => Effect.succeed(true) }),
    noticedBy: [
      "removes a task under its own version only",
      "tells one of 30 that it removed the task",
      "works off what is due by four sweepers at once, each task once"
    ]
  },
  {
    name: "remove ignores the version",
    breaks: (store) => ({
      ...store,
      remove: (taskId) =>
        Effect.flatMap(store.read(taskId), Option.match({
          onNone: () => Effect.succeed(false),
          onSome: ({ version }) => store.remove(taskId, version)
        }))
    }),
    noticedBy: [
      "removes a task under its own version only",
      "lets one win when a task is replaced and removed at once, 20 times over"
    ]
  },
  {
    name: "the value that was given is kept, not a copy",
    breaks: (store) => {
      const given = new Map<string, Task.Task>()
      return {
        ...store,
        create: (task, options) =>
          Effect.tap(store.create(task, options), () => Effect.sync(() => given.set(task.taskId, task))),
        read: (taskId) =>
          Effect.map(
            store.read(taskId),
            Option.map((stored) => ({ ...stored, task: given.get(taskId) ?? stored.task }))
          )
      }
    },
    noticedBy: ["keeps what was written, whatever is done to the value afterwards"]
  }
]

const keeping: ReadonlyArray<BrokenStore> = [
  {
    name: "half characters are replaced",
    breaks: (store) => reads(store, (task) => texts(task, (text) => text.toWellFormed())),
    noticedBy: ["keeps text exactly: a lone high surrogate", "keeps text exactly: a lone low surrogate"]
  },
  {
    name: "text ends at NUL",
    breaks: (store) => reads(store, (task) => texts(task, (text) => text.split("\0")[0] ?? "")),
    noticedBy: ["keeps text exactly: NUL"]
  },
  {
    name: "text is normalised",
    breaks: (store) => reads(store, (task) => texts(task, (text) => text.normalize())),
    noticedBy: ["keeps text exactly: not normalised"]
  },
  {
    name: "text is trimmed",
    breaks: (store) => reads(store, (task) => texts(task, (text) => text.trim())),
    noticedBy: ["keeps text exactly: blanks around", "keeps text exactly: line ends"]
  },
  {
    name: "text is cut at 64 KiB",
    breaks: (store) => reads(store, (task) => texts(task, (text) => text.slice(0, 65_536))),
    noticedBy: ["keeps text exactly: 1 MiB"]
  },
  {
    name: "keys are assigned",
    breaks: (store) => reads(store, (task) => assigned(task) as Task.Task),
    noticedBy: ["keeps keys that assignment would lose, without touching any prototype"]
  },
  {
    name: "keys are sorted",
    breaks: (store) =>
      reads(store, (task) => ({
        ...task,
        arguments: Object.fromEntries(Object.entries(task.arguments).toSorted(([a], [b]) => a < b ? -1 : 1))
      })),
    noticedBy: ["keeps keys that assignment would lose, without touching any prototype"]
  },
  {
    name: "numbers are kept in 32 bits",
    breaks: (store) =>
      reads(store, (task) =>
        JSON.parse(JSON.stringify(task), (_key, value) => typeof value === "number" ? Math.fround(value) : value)),
    noticedBy: ["keeps every number that JSON can carry; -0 comes back as 0"]
  },
  {
    name: "a result is parsed and written again",
    breaks: (store) => ({
      ...store,
      view: (taskId) =>
        Effect.map(
          store.view(taskId),
          Option.map((view) => ({ ...view, result: view.result && JSON.stringify(JSON.parse(view.result)) }))
        )
    }),
    noticedBy: ["keeps a result byte for byte", "views what a poll needs, and nothing else"]
  },
  {
    name: "NaN is stored as null",
    breaks: (store) => ({
      ...store,
      create: (task, options) => store.create(JSON.parse(JSON.stringify(task)), options)
    }),
    noticedBy: ["never stores what cannot come back: an argument"]
  },
  {
    name: "owners are told apart without regard to case",
    breaks: (store) => ({
      ...store,
      countLive: (owner) =>
        Effect.map(store.list({ live: true, limit: 1_000_000 }), (all) =>
          all.filter(({ task }) => task.owner.toLowerCase() === owner.toLowerCase()).length)
    }),
    noticedBy: ["tells owners apart by every character"]
  },
  {
    name: "ids are told apart without regard to blanks around them",
    breaks: (store) => ({
      ...store,
      create: (task, options) =>
        Effect.flatMap(store.read(task.taskId.trim()), (found) =>
          Option.isSome(found)
            ? Effect.fail(new TaskStore.TaskAlreadyExists({ taskId: task.taskId }))
            : store.create(task, options))
    }),
    noticedBy: ["tells ids apart by every character"]
  },
  {
    name: "answers that a user gave are lost",
    breaks: (store) => reads(store, (task) => ({ ...task, questions: [] })),
    noticedBy: ["brings back any task from create and read, and from replace and read"]
  }
]

/** Every broken store. */
export const all: ReadonlyArray<BrokenStore> = [...writing, ...BrokenReads.all, ...BrokenBulk.all, ...keeping]
