/**
 * A task as stores keep it: a few columns to find it by, and text that is written once and answered as it is.
 *
 * All stores share this codec, so that a task comes back the same from each of them: text, numbers, the order of keys,
 * and keys such as `__proto__`.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as seal from "./internal/seal.ts"
import type { TaskView } from "./TaskStore.ts"

/**
 * A task as stores keep it.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskRecord {
  readonly taskId: string
  readonly owner: string
  /** Whether the task has not ended. */
  readonly live: boolean
  /** The deadline in epoch milliseconds, at most 2^53 - 1; `null` is never. */
  readonly dueAt: number | null
  /**
   * What a poll answers with: JSON text of the `DetailedTask` without a completed task's `result`. Behind it a seal, by
   * which `view` notices that it, the result, the owner or the id is not as it was written.
   */
  readonly head: string
  /** JSON text of everything else that is needed to go on: the whole task without its `result`. */
  readonly body: string
  /** JSON text of a completed task's result, kept once. */
  readonly result: string | null
}

/**
 * Why a record could not be decoded: it is not one that `encode` made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Corrupt {
  readonly reason: "Corrupt"
  readonly cause: unknown
}

const isTask = Schema.is(Task.Task)

// JSON text escapes both, so that only a column which is stored as it is could hold them. Postgres refuses NUL.
const isKept = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

const refuse = (taskId: string, what: string): never => {
  throw new TypeError(`Task ${JSON.stringify(taskId)} ${what}`)
}

// An end of time that every database holds exactly; `+ 0` makes 0 of -0, which none of them holds.
const dueAt = (task: Task.Task): number | null => {
  const deadline = Task.deadline(task)
  return deadline === undefined ? null : Math.min(deadline, Number.MAX_SAFE_INTEGER) + 0
}

/**
 * Encodes a task.
 *
 * **Details**
 *
 * Throws a `TypeError`, which a store lets die, on what is no task (`NaN` anywhere in it, for one): what has been
 * encoded can be decoded. So it does where `taskId`, `owner` or `result` hold a lone surrogate or a NUL, which not
 * every database carries. The engine makes no such task: a key and a result are JSON text, which escapes both.
 *
 * **Gotchas**
 *
 * `-0` comes back as `0`, as from all JSON text.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (task: Task.Task): TaskRecord => {
  if (!isTask(task)) return refuse(String(Object(task).taskId), "is not a value of the Task schema")
  const { result, ...rest } = task.status === "completed" ? task : { ...task, result: null }
  if (!isKept(task.taskId) || !isKept(task.owner) || !(result === null || isKept(result))) {
    return refuse(task.taskId, "has an id, owner or result with a lone surrogate or a NUL")
  }
  return {
    taskId: task.taskId,
    owner: task.owner,
    live: !Task.isTerminal(task),
    dueAt: dueAt(task),
    head: seal.put({ taskId: task.taskId, owner: task.owner, head: TaskWire.encodeHead(task), result }),
    body: JSON.stringify(rest),
    result
  }
}

/**
 * Encodes what is to replace a task. Throws too where it is another task, or another owner's: what a task is found by
 * never changes, and a store that moved it would leave it under both.
 *
 * @category encoding
 * @since 0.2.0
 */
export const encodeNext = ({ task: { owner, taskId } }: Task.Stored, next: Task.Task): TaskRecord => {
  const record = encode(next)
  return record.taskId === taskId && record.owner === owner
    ? record
    : refuse(taskId, "would be replaced by another task, or by one of another owner")
}

/**
 * What a store has read under an id, before anybody has looked at it: a database may be damaged, or written to by
 * others.
 *
 * @category models
 * @since 0.2.0
 */
export type Unchecked<Columns extends object> = { readonly [Name in keyof Columns]: unknown } & {
  readonly taskId: string
}

/**
 * A record under a version, as a store keeps it, without what only polls need.
 *
 * @category models
 * @since 0.2.0
 */
export interface Versioned extends Pick<TaskRecord, "taskId" | "owner" | "live" | "body" | "result"> {
  /** Counts from 1. */
  readonly version: number
}

/**
 * A record under a version, as a store keeps it, without what no poll needs.
 *
 * @category models
 * @since 0.2.0
 */
export interface Viewed extends Omit<TaskRecord, "body"> {
  readonly version: number
}

const decodeTask = Schema.decodeUnknownResult(Task.Task)

/** The largest version that every database can still raise by one. */
const lastVersion = 2 ** 31 - 2

const isVersion = (version: unknown): version is number =>
  typeof version === "number" && Number.isInteger(version) && version >= 1 && version <= lastVersion

/**
 * The version of a task that is due; 0 where that is none, so that nobody removes the record by it.
 *
 * @category decoding
 * @since 0.2.0
 */
export const dueVersion = (version: unknown): number => isVersion(version) ? version : 0

const corrupt = (what: string): Result.Result<never, Corrupt> =>
  Result.fail({ reason: "Corrupt", cause: new Error(what) })

/** What a column holds, short enough for a log. */
const shown = (value: unknown): string => {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value)
  return text.length > 50 ? `${text.slice(0, 50)}...` : text
}

const noVersion = (version: unknown): Result.Result<never, Corrupt> =>
  corrupt(`Its version is ${shown(version)}, and not from 1 to ${lastVersion}`)

const parsed = (body: string, result: string | null): Result.Result<Task.Task, Corrupt> =>
  Result.try((): unknown => JSON.parse(body)).pipe(
    Result.flatMap((rest) => decodeTask(result === null ? rest : { ...Object(rest), result })),
    Result.mapError((cause): Corrupt => ({ reason: "Corrupt", cause }))
  )

/**
 * Decodes the task of a record, or says why the record is not one that `encode` made: whatever is in it, and though its
 * columns contradict each other.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (row: Unchecked<Versioned>): Result.Result<Task.Stored, Corrupt> => {
  const { body, live, owner, result, taskId, version } = row
  if (!isVersion(version)) return noVersion(version)
  if (typeof body !== "string") return corrupt(`Its body is no text but ${shown(body)}`)
  if (result !== null && typeof result !== "string") return corrupt(`Its result is no text but ${shown(result)}`)
  return Result.flatMap(parsed(body, result), (task) => {
    if (task.taskId !== taskId) return corrupt(`Its body is that of another task, ${shown(task.taskId)}`)
    if (task.owner !== owner) return corrupt("Its owner is not the one in its body")
    if (live === Task.isTerminal(task) || typeof live !== "boolean") {
      return corrupt(`It is ${task.status} in its body, but its "live" is ${shown(live)}`)
    }
    return Result.succeed({ task, version })
  })
}

const isDueAt = (dueAt: unknown): dueAt is number | null => dueAt === null || Number.isFinite(dueAt)

/**
 * The part of a record that a poll answers with, as it was written, or why it is not.
 *
 * **Details**
 *
 * Parses nothing: the seal says that texts, owner and id are those that were written together.
 *
 * @category accessors
 * @since 0.1.0
 */
export const view = (
  { dueAt, head, live, owner, result, taskId, version }: Unchecked<Viewed>
): Result.Result<TaskView, Corrupt> => {
  if (!isVersion(version)) return noVersion(version)
  if (typeof owner !== "string" || typeof head !== "string" || (result !== null && typeof result !== "string")) {
    return corrupt("Its owner, head or result is no text")
  }
  if (typeof live !== "boolean") return corrupt(`Its "live" is ${shown(live)}`)
  if (!isDueAt(dueAt)) return corrupt(`Its deadline is ${shown(dueAt)}`)
  const opened = Result.try(() => seal.open({ taskId, owner, head, result }))
  return Result.isSuccess(opened) && opened.success !== undefined
    ? Result.succeed({ taskId, owner, live, dueAt, head: opened.success, result })
    : corrupt("Its head or its result is not as it was written")
}
