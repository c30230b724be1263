/**
 * The tasks that a listing finds, without those whose record cannot be decoded.
 *
 * One damaged record, or one that a newer release wrote, must not keep a server from starting or hide all the others.
 * It stays where it is, every read of it by its id fails, and the log names it once. Whoever polls it is told too,
 * though a poll reads only what is whole: nobody runs that task any more.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TaskRecord from "../TaskRecord.ts"

type Row = TaskRecord.Unchecked<TaskRecord.Versioned>

interface Page {
  readonly after?: string | undefined
  readonly limit: number
}

type Rows<Options, E> = (options: Options) => Effect.Effect<ReadonlyArray<Row>, E>

/**
 * What has been found to be damaged, by one store in one process.
 *
 * @since 0.2.0
 */
export class Damaged {
  private readonly found = new Map<string, { readonly version: unknown; readonly corrupt: TaskRecord.Corrupt }>()

  /** Remembers a record, and says whether that is news. */
  readonly note = ({ taskId, version }: Row, corrupt: TaskRecord.Corrupt): boolean => {
    const isNews = this.of(taskId, version) === undefined
    if (isNews) this.found.set(taskId, { version, corrupt })
    return isNews
  }

  /** What is wrong with a record, where it is known and still the same. */
  readonly of = (taskId: string, version: unknown): TaskRecord.Corrupt | undefined => {
    if (this.found.size === 0) return undefined
    const known = this.found.get(taskId)
    return known !== undefined && Object.is(known.version, version) ? known.corrupt : undefined
  }

  /** Views a record, unless the rest of it is known to be damaged. */
  readonly view = (row: TaskRecord.Unchecked<TaskRecord.Viewed>): ReturnType<typeof TaskRecord.view> => {
    const corrupt = this.of(row.taskId, row.version)
    return corrupt === undefined ? TaskRecord.view(row) : Result.fail(corrupt)
  }
}

/**
 * Makes a listing of tasks from a listing of rows: what cannot be decoded is passed over until a page is full.
 *
 * @since 0.1.0
 */
export const make = <Options extends Page, E>(damaged: Damaged, rows: Rows<Options, E>) => {
  const report = (row: Row, corrupt: TaskRecord.Corrupt): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!damaged.note(row, corrupt)) return Effect.void
      const { taskId, version } = row
      const message = "The record of a task cannot be decoded; it is left as it is"
      return Effect.annotateLogs(Effect.logError(message, corrupt.cause), { taskId, version })
    })

  return Effect.fnUntraced(function*(options: Options): Effect.fn.Return<ReadonlyArray<Task.Stored>, E> {
    const tasks: Array<Task.Stored> = []
    let { after } = options
    while (true) {
      const limit = options.limit - tasks.length
      const page = yield* rows({ ...options, after, limit })
      const before = after
      for (const row of page) {
        const decoded = TaskRecord.decode(row)
        if (Result.isSuccess(decoded)) tasks.push(decoded.success)
        else yield* report(row, decoded.failure)
        after = row.taskId
      }
      // An id that is not the text that it is read as would be found behind itself again and again.
      if (page.length < limit || tasks.length === options.limit || after === before) return tasks
    }
  })
}
