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
import type { TaskStore } from "../TaskStore.ts"
import { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "../TaskStoreError.ts"
import { DueQueue } from "./dueQueue.ts"

interface Row extends TaskRecord.TaskRecord {
  readonly version: number
}

/**
 * Makes an empty store.
 *
 * @since 0.1.0
 */
export const make = Effect.sync((): TaskStore["Service"] => {
  const rows = new Map<string, Row>()
  const live = new Map<string, number>()
  const deadlines = new DueQueue()
  /** Sorted when somebody lists, and again only after tasks came or went. */
  let ids: ReadonlyArray<string> | undefined

  const count = (owner: string): number => live.get(owner) ?? 0

  const put = (row: Row | undefined, taskId: string): void => {
    const old = rows.get(taskId)
    if (old?.live === true) live.set(old.owner, count(old.owner) - 1)
    if (row?.live === true) live.set(row.owner, count(row.owner) + 1)
    for (const owner of [old?.owner, row?.owner]) if (owner !== undefined && count(owner) === 0) live.delete(owner)
    if (old === undefined || row === undefined) ids = undefined
    if (row === undefined) rows.delete(taskId)
    else rows.set(taskId, row)
    deadlines.set(taskId, row?.dueAt ?? null)
  }

  const stored = (row: Row, operation: "read" | "list"): Result.Result<Task.Stored, TaskStoreError> =>
    Result.mapBoth(TaskRecord.decode(row), {
      onSuccess: (task) => ({ task, version: row.version }),
      onFailure: (corrupt) => new TaskStoreError({ operation, ...corrupt })
    })

  const page = ({ after, limit, live, owner }: Parameters<TaskStore["Service"]["list"]>[0]): ReadonlyArray<Row> => {
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

  return {
    create: (task, { maxLive }) =>
      Effect.suspend((): Effect.Effect<Task.Stored, TaskAlreadyExists | TooManyTasks> => {
        if (rows.has(task.taskId)) return Effect.fail(new TaskAlreadyExists({ taskId: task.taskId }))
        if (count(task.owner) >= maxLive) return Effect.fail(new TooManyTasks({ limit: maxLive }))
        put({ ...TaskRecord.encode(task), version: 1 }, task.taskId)
        return Effect.succeed({ task, version: 1 })
      }),
    read: (taskId) =>
      Effect.suspend(() => {
        const row = rows.get(taskId)
        return row === undefined ? Effect.succeedNone : Effect.map(Effect.fromResult(stored(row, "read")), Option.some)
      }),
    view: (taskId) => Effect.sync(() => Option.map(Option.fromUndefinedOr(rows.get(taskId)), TaskRecord.view)),
    replace: ({ task: { taskId }, version }, next) =>
      Effect.suspend(() => {
        if (rows.get(taskId)?.version !== version) return Effect.fail(new VersionConflict({ taskId, version }))
        put({ ...TaskRecord.encode(next), version: version + 1 }, taskId)
        return Effect.succeed({ task: next, version: version + 1 })
      }),
    due: (now, limit) =>
      Effect.sync(() =>
        deadlines.due(now, limit).flatMap((taskId) => {
          const row = rows.get(taskId)
          return row === undefined ? [] : [{ taskId, version: row.version, live: row.live }]
        })
      ),
    remove: (taskId, version) =>
      Effect.sync(() => {
        const isCurrent = rows.get(taskId)?.version === version
        if (isCurrent) put(undefined, taskId)
        return isCurrent
      }),
    countLive: (owner) => Effect.sync(() => count(owner)),
    list: (options) =>
      Effect.suspend(() => Effect.forEach(page(options), (row) => Effect.fromResult(stored(row, "list"))))
  }
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
