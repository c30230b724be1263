/**
 * The tasks that a listing finds, without those whose record cannot be decoded.
 *
 * One damaged record, or one that a newer release wrote, must not keep a server from starting or hide all the others.
 * It stays where it is, every read of it by its id fails, and the log names it once.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TaskRecord from "../TaskRecord.ts"

interface Row extends Pick<TaskRecord.TaskRecord, "taskId" | "body" | "result"> {
  readonly version: number
}

interface Page {
  readonly after?: string | undefined
  readonly limit: number
}

type Rows<Options, E> = (options: Options) => Effect.Effect<ReadonlyArray<Row>, E>

/**
 * Makes a listing of tasks from a listing of rows: what cannot be decoded is passed over until a page is full.
 *
 * @since 0.1.0
 */
export const make = <Options extends Page, E>(rows: Rows<Options, E>) => {
  const reported = new Map<string, number>()

  const report = ({ taskId, version }: Row, { cause }: TaskRecord.Corrupt): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (reported.get(taskId) === version) return Effect.void
      reported.set(taskId, version)
      const message = "The record of a task cannot be decoded; it is left as it is"
      return Effect.annotateLogs(Effect.logError(message, cause), { taskId, version })
    })

  return Effect.fnUntraced(function*(options: Options): Effect.fn.Return<ReadonlyArray<Task.Stored>, E> {
    const tasks: Array<Task.Stored> = []
    let { after } = options
    while (true) {
      const limit = options.limit - tasks.length
      const page = yield* rows({ ...options, after, limit })
      for (const row of page) {
        const decoded = TaskRecord.decode(row)
        if (Result.isSuccess(decoded)) tasks.push({ task: decoded.success, version: row.version })
        else yield* report(row, decoded.failure)
        after = row.taskId
      }
      if (page.length < limit || tasks.length === options.limit) return tasks
    }
  })
}
