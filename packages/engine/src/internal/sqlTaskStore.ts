/**
 * A store in one table of a SQL database, in the SQL that SQLite and Postgres share. Each operation is one statement.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as TaskRecord from "../TaskRecord.ts"
import type { DueTask, TaskStore, TaskView } from "../TaskStore.ts"
import { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "../TaskStoreError.ts"
import * as groupCommit from "./groupCommit.ts"

const migrations = Migrator.fromRecord({
  "0001_tasks": Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE mcp_tasks (
      task_id TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      owner TEXT NOT NULL,
      live INTEGER NOT NULL,
      due_at BIGINT,
      head TEXT NOT NULL,
      body TEXT NOT NULL,
      result TEXT
    )`
    yield* sql`CREATE INDEX mcp_tasks_due ON mcp_tasks (due_at) WHERE due_at IS NOT NULL`
    yield* sql`CREATE INDEX mcp_tasks_live ON mcp_tasks (owner, task_id) WHERE live = 1`
  })
})

type Operation = TaskStoreError["operation"]

interface Row extends Pick<TaskRecord.TaskRecord, "body" | "result"> {
  readonly version: number
}

interface DueRow {
  readonly task_id: string
  readonly version: number
  readonly live: number
}

interface ViewRow extends Omit<TaskView, "taskId" | "live" | "dueAt"> {
  readonly live: number
  readonly due_at: number | null
}

/**
 * Makes the store, after bringing its table up to date.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  yield* Migrator.make({})({ loader: migrations, table: "mcp_tasks_migrations" })
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const together = yield* groupCommit.make(sql)
  return { ...writing(sql, together), ...reading(sql) }
})

type Together = <A, E>(write: Effect.Effect<A, E>) => Effect.Effect<A, E | SqlError.SqlError>

const writing = (
  sql: SqlClient.SqlClient,
  together: Together
): Pick<TaskStore["Service"], "create" | "replace" | "remove"> => ({
  create: Effect.fnUntraced(function*(task, { maxLive }) {
    const { body, dueAt, head, live, owner, result, taskId } = TaskRecord.encode(task)
    const created = yield* together(sql`INSERT INTO mcp_tasks (task_id, version, owner, live, due_at, head, body, result)
      SELECT CAST(${taskId} AS TEXT), 1, CAST(${owner} AS TEXT), CAST(${live ? 1 : 0} AS INTEGER),
        CAST(${dueAt} AS BIGINT), CAST(${head} AS TEXT), CAST(${body} AS TEXT), CAST(${result} AS TEXT)
      WHERE (
        SELECT count(*) FROM (SELECT 1 FROM mcp_tasks WHERE owner = ${owner} AND live = 1 LIMIT ${maxLive}) AS others
      ) < ${maxLive}
      RETURNING version`).pipe(Effect.mapError((error) =>
      error.reason._tag === "UniqueViolation" ? new TaskAlreadyExists({ taskId }) : unavailable("create")(error)
    ))
    return created.length === 0 ? yield* new TooManyTasks({ limit: maxLive }) : { task, version: 1 }
  }),

  replace: Effect.fnUntraced(function*({ task: { taskId }, version }, next) {
    const { body, dueAt, head, live, result } = TaskRecord.encode(next)
    // A task keeps its owner: naming the column would only make the database touch its index.
    const replaced = yield* together(sql`UPDATE mcp_tasks SET version = version + 1,
        live = ${live ? 1 : 0}, due_at = ${dueAt}, head = ${head}, body = ${body}, result = ${result}
      WHERE task_id = ${taskId} AND version = ${version} RETURNING version`).pipe(
      Effect.mapError(unavailable("replace"))
    )
    return replaced.length === 0
      ? yield* new VersionConflict({ taskId, version })
      : { task: next, version: version + 1 }
  }),

  remove: (taskId, version) =>
    sql`DELETE FROM mcp_tasks WHERE task_id = ${taskId} AND version = ${version} RETURNING version`.pipe(
      Effect.mapBoth({ onFailure: unavailable("remove"), onSuccess: (rows) => rows.length > 0 })
    )
})

const reading = (sql: SqlClient.SqlClient): Omit<TaskStore["Service"], "create" | "replace" | "remove"> => ({
  read: Effect.fnUntraced(function*(taskId) {
    const [row] = yield* sql<Row>`SELECT version, body, result FROM mcp_tasks WHERE task_id = ${taskId}`.pipe(
      Effect.mapError(unavailable("read"))
    )
    return row === undefined ? Option.none() : Option.some(yield* decode(row, "read"))
  }),

  view: (taskId) =>
    sql<ViewRow>`SELECT owner, live, CAST(due_at AS DOUBLE PRECISION) AS due_at, head, result
      FROM mcp_tasks WHERE task_id = ${taskId}`.pipe(
      Effect.mapBoth({
        onFailure: unavailable("view"),
        onSuccess: ([row]) => row === undefined ? Option.none() : Option.some(shown(taskId, row))
      })
    ),

  due: (now, limit) =>
    sql<DueRow>`SELECT task_id, version, live FROM mcp_tasks
      WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit}`.pipe(
      Effect.mapBoth({
        onFailure: unavailable("due"),
        onSuccess: (rows) =>
          rows.map(({ live, task_id, version }): DueTask => ({ taskId: task_id, version, live: live === 1 }))
      })
    ),

  countLive: (owner) =>
    sql<{ readonly live: number }>`SELECT CAST(count(*) AS INTEGER) AS live FROM mcp_tasks
      WHERE owner = ${owner} AND live = 1`.pipe(
      Effect.mapBoth({ onFailure: unavailable("countLive"), onSuccess: ([row]) => row?.live ?? 0 })
    ),

  list: Effect.fnUntraced(function*({ after, limit, live, owner }) {
    const rows = yield* sql<Row>`SELECT version, body, result FROM mcp_tasks WHERE ${
      sql.and([
        sql`task_id > ${after ?? ""}`,
        ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
        ...(live === undefined ? [] : [live ? sql`live = 1` : sql`live = 0`])
      ])
    } ORDER BY task_id LIMIT ${limit}`.pipe(Effect.mapError(unavailable("list")))
    return yield* Effect.forEach(rows, (row) => decode(row, "list"))
  })
})

const unavailable = (operation: Operation) => (cause: SqlError.SqlError): TaskStoreError =>
  new TaskStoreError({ operation, reason: "Unavailable", cause })

const decode = (row: Row, operation: Operation): Effect.Effect<Task.Stored, TaskStoreError> =>
  Effect.fromResult(Result.mapBoth(TaskRecord.decode(row), {
    onSuccess: (task) => ({ task, version: row.version }),
    onFailure: (cause) => new TaskStoreError({ operation, reason: "Corrupt", cause })
  }))

const shown = (taskId: string, { due_at, head, live, owner, result }: ViewRow): TaskView => ({
  taskId,
  owner,
  live: live === 1,
  dueAt: due_at,
  head,
  result
})
