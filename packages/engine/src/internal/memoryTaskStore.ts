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

  const count = (owner: string): number => live.get(owner) ?? 0

  const put = (row: Row | undefined, taskId: string): void => {
    const old = rows.get(taskId)
    if (old?.live === true) live.set(old.owner, count(old.owner) - 1)
    if (row?.live === true) live.set(row.owner, count(row.owner) + 1)
    for (const owner of [old?.owner, row?.owner]) if (owner !== undefined && count(owner) === 0) live.delete(owner)
    if (row === undefined) rows.delete(taskId)
    else rows.set(taskId, row)
    deadlines.set(taskId, row?.dueAt ?? null)
  }

  const stored = (row: Row, operation: "read" | "list"): Result.Result<Task.Stored, TaskStoreError> =>
    Result.mapBoth(TaskRecord.decode(row), {
      onSuccess: (task) => ({ task, version: row.version }),
      onFailure: (cause) => new TaskStoreError({ operation, reason: "Corrupt", cause })
    })

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
    view: (taskId) => Effect.sync(() => Option.fromUndefinedOr(rows.get(taskId))),
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
    list: ({ after, limit, live, owner }) =>
      Effect.suspend(() => {
        const chosen = [...rows.values()].filter((row) =>
          (after === undefined || row.taskId > after) && (owner === undefined || row.owner === owner) &&
          (live === undefined || row.live === live)
        )
        const page = chosen.toSorted((left, right) => left.taskId < right.taskId ? -1 : 1).slice(0, limit)
        return Effect.forEach(page, (row) => Effect.fromResult(stored(row, "list")))
      })
  }
})
