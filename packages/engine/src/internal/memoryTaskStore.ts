/**
 * A store in the memory of one process. It keeps encoded records, as every store does, so that nobody who holds a
 * task can change what is stored, and what works here works on a database.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as TaskRecord from "../TaskRecord.ts"
import type { DueTask, TaskStore, TaskView } from "../TaskStore.ts"
import { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "../TaskStoreError.ts"
import { DueQueue } from "./dueQueue.ts"
import * as readable from "./readable.ts"

interface Row extends TaskRecord.TaskRecord {
  readonly version: number
}

type ListOptions = Parameters<TaskStore["Service"]["list"]>[0]

/** The rows, with what they are found by. */
const makeRows = () => {
  const rows = new Map<string, Row>()
  const live = new Map<string, number>()
  const deadlines = new DueQueue()
  /** Sorted when somebody lists, and again only after tasks came or went. */
  let ids: ReadonlyArray<string> | undefined

  const countLive = (owner: string): number => live.get(owner) ?? 0

  const count = (row: Row | undefined, change: 1 | -1): void => {
    if (row?.live !== true) return
    const counted = countLive(row.owner) + change
    if (counted === 0) live.delete(row.owner)
    else live.set(row.owner, counted)
  }

  const put = (taskId: string, row: Row | undefined): void => {
    const old = rows.get(taskId)
    count(old, -1)
    count(row, 1)
    if (old === undefined || row === undefined) ids = undefined
    if (row === undefined) rows.delete(taskId)
    else rows.set(taskId, row)
    deadlines.set(taskId, row?.dueAt ?? null)
  }

  const page = ({ after, limit, live, owner }: ListOptions): ReadonlyArray<Row> => {
    ids ??= [...rows.keys()].toSorted()
    const found: Array<Row> = []
    for (let index = after === undefined ? 0 : above(ids, after); index < ids.length; index++) {
      if (found.length >= limit) break
      const row = rows.get(ids[index] ?? "")
      const isWanted = row !== undefined && (owner ?? row.owner) === row.owner && (live ?? row.live) === row.live
      if (isWanted) found.push(row)
    }
    return found
  }

  const due = (now: number, limit: number): ReadonlyArray<DueTask> =>
    deadlines.due(now, limit).flatMap((taskId) => {
      const row = rows.get(taskId)
      return row === undefined ? [] : [{ taskId, version: row.version, live: row.live }]
    })

  return { get: (taskId: string) => rows.get(taskId), put, countLive, page, due }
}

/**
 * Makes an empty store.
 *
 * @since 0.1.0
 */
export const make = Effect.sync((): TaskStore["Service"] => {
  const rows = makeRows()

  return {
    create: (task, { maxLive }) =>
      Effect.suspend((): Effect.Effect<Task.Stored, TaskAlreadyExists | TooManyTasks> => {
        const record = TaskRecord.encode(task)
        if (rows.get(task.taskId) !== undefined) return Effect.fail(new TaskAlreadyExists({ taskId: task.taskId }))
        if (rows.countLive(task.owner) >= maxLive) return Effect.fail(new TooManyTasks({ limit: maxLive }))
        rows.put(task.taskId, { ...record, version: 1 })
        return Effect.succeed({ task, version: 1 })
      }),
    read: (taskId) =>
      Effect.suspend(() => {
        const row = rows.get(taskId)
        return row === undefined ? Effect.succeedNone : Effect.map(Effect.fromResult(stored(row)), Option.some)
      }),
    view: (taskId) =>
      Effect.suspend(() => {
        const row = rows.get(taskId)
        return row === undefined ? Effect.succeedNone : Effect.fromResult(viewed(row))
      }),
    replace: (held, next) =>
      Effect.suspend(() => {
        const { task: { taskId }, version } = held
        const record = TaskRecord.encodeNext(held, next)
        if (rows.get(taskId)?.version !== version) return Effect.fail(new VersionConflict({ taskId, version }))
        rows.put(taskId, { ...record, version: version + 1 })
        return Effect.succeed({ task: next, version: version + 1 })
      }),
    due: (now, limit) => Effect.sync(() => rows.due(now, limit)),
    remove: (taskId, version) =>
      Effect.sync(() => {
        const isCurrent = rows.get(taskId)?.version === version
        if (isCurrent) rows.put(taskId, undefined)
        return isCurrent
      }),
    countLive: (owner) => Effect.sync(() => rows.countLive(owner)),
    list: readable.make(new readable.Damaged(), (options: ListOptions) => Effect.sync(() => rows.page(options)))
  }
})

const stored = (row: Row): Result.Result<Task.Stored, TaskStoreError> =>
  Result.mapError(TaskRecord.decode(row), (corrupt) => new TaskStoreError({ operation: "read", ...corrupt }))

const viewed = (row: Row): Result.Result<Option.Option<TaskView>, TaskStoreError> =>
  Result.mapBoth(TaskRecord.view(row), {
    onSuccess: Option.some,
    onFailure: (corrupt) => new TaskStoreError({ operation: "view", ...corrupt })
  })

/** The place of the first id above another one. */
const above = (ids: ReadonlyArray<string>, id: string): number => {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ids[middle] ?? "") > id) high = middle
    else low = middle + 1
  }
  return low
}
