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
  /** The deadline in epoch milliseconds; `null` is never. */
  readonly dueAt: number | null
  /** JSON text of the `DetailedTask` without a completed task's `result`: what a poll answers with. */
  readonly head: string
  /** JSON text of everything else that is needed to go on: the whole task without its `result`. */
  readonly body: string
  /** JSON text of a completed task's result, kept once. */
  readonly result: string | null
}

/**
 * Encodes a task.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (task: Task.Task): TaskRecord => {
  const { result, ...rest } = task.status === "completed" ? task : { ...task, result: null }
  return {
    taskId: task.taskId,
    owner: task.owner,
    live: !Task.isTerminal(task),
    dueAt: Task.deadline(task) ?? null,
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
export const decode = (record: Pick<TaskRecord, "body" | "result">): Result.Result<Task.Task, unknown> =>
  Result.flatMap(
    Result.try((): unknown => JSON.parse(record.body)),
    (rest) => decodeTask(record.result === null ? rest : { ...Object(rest), result: record.result })
  )
