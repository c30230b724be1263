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
  /** JSON text of the `DetailedTask` without a completed task's `result`: what a poll answers with. */
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
    head: TaskWire.encodeHead(task),
    body: JSON.stringify(rest),
    result
  }
}

const decodeTask = Schema.decodeUnknownResult(Task.Task)

/**
 * Decodes the task of a record, or says why the record is not one that `encode` made.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = ({ body, result }: Pick<TaskRecord, "body" | "result">): Result.Result<Task.Task, Corrupt> =>
  Result.try((): unknown => JSON.parse(body)).pipe(
    Result.flatMap((rest) => decodeTask(result === null ? rest : { ...Object(rest), result })),
    Result.mapError((cause): Corrupt => ({ reason: "Corrupt", cause }))
  )

/**
 * The part of a record that a poll answers with, as it is.
 *
 * @category accessors
 * @since 0.1.0
 */
export const view = ({ dueAt, head, live, owner, result, taskId }: TaskRecord): TaskView => ({
  taskId,
  owner,
  live,
  dueAt,
  head,
  result
})
