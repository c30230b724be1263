/**
 * A store in one table of a SQL database, in the SQL that SQLite and Postgres share. Each operation is one statement.
 *
 * The columns stand in the order in which they are asked for: what finds a row, then the head that every poll answers
 * with, then the result of a completed task, and last the body, which no poll reads. A database that chains long rows
 * over pages (SQLite) reads a row only as far as the last column it is asked for.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import type * as Statement from "effect/sql/Statement"
import * as TaskRecord from "../TaskRecord.ts"
import type { DueTask, TaskStore, TaskView } from "../TaskStore.ts"
import { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "../TaskStoreError.ts"
import * as groupCommit from "./groupCommit.ts"
import * as liveBounds from "./liveBounds.ts"
import * as migrations from "./migrations.ts"
import * as readable from "./readable.ts"
import * as readOnlySessions from "./readOnlySessions.ts"
import * as rowSize from "./rowSize.ts"
import * as storeFailure from "./storeFailure.ts"

const createTable = (table: string) =>
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    // Pages are read in the order of ids, which must not depend on the locale of the database.
    const id = sql.literal(sql.onDialectOrElse({ pg: () => `TEXT COLLATE "C"`, orElse: () => "TEXT" }))
    yield* sql`CREATE TABLE ${sql(table)} (
      task_id ${id} NOT NULL PRIMARY KEY,
      version INTEGER NOT NULL,
      owner TEXT NOT NULL,
      live INTEGER NOT NULL,
      due_at BIGINT,
      head TEXT NOT NULL,
      result TEXT,
      body TEXT NOT NULL
    )`
    yield* sql`CREATE INDEX ${sql(`${table}_due`)} ON ${sql(table)} (due_at) WHERE due_at IS NOT NULL`
    yield* sql`CREATE INDEX ${sql(`${table}_live`)} ON ${sql(table)} (task_id) WHERE live = 1`
    yield* sql`CREATE INDEX ${sql(`${table}_owner`)} ON ${sql(table)} (owner, task_id) WHERE live = 1`
  })

const columnNames = ["task_id", "version", "owner", "live", "due_at", "head", "result", "body"]

type Operation = TaskStoreError["operation"]

/** Drivers read integers as they like: as numbers, as text (Postgres, BIGINT) or as bigints (`SafeIntegers`). */
type Integer = number | string | bigint

/** What a column of any database may hold, whatever it was made for. */
type Column = Integer | Uint8Array | null

/**
 * Integers that are read as text: one that is too large for a number would fail the statement, and with it all rows.
 */
type IntegerText = string | null

interface Row {
  readonly version: IntegerText
  readonly owner: Column
  readonly live: IntegerText
  readonly body: Column
  readonly result: Column
}

type ReadRow = readonly [
  version: IntegerText,
  owner: Column,
  live: IntegerText,
  result: Column,
  body: Column
]

interface ListedRow extends Row {
  readonly task_id: string
}

interface DueRow {
  readonly task_id: string
  readonly version: IntegerText
  readonly live: IntegerText
}

/** Its columns in order, which the hottest of all reads is spared the names of. */
type ViewRow = readonly [version: Column, owner: Column, live: Column, dueAt: Column, head: Column, result: Column]

/** A row as its columns, in the order of the statement. */
type Values = ReadonlyArray<Column>

type Prepared<Row extends Values> = (
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>

/** The table that a statement is about. */
interface Table {
  readonly sql: SqlClient.SqlClient
  readonly tasks: Statement.Fragment
  /** Builds the text of a statement once; what stands for its parameters there is left out. */
  readonly prepared: <Row extends Values>(statement: Statement.Statement<object>) => Prepared<Row>
  readonly encode: rowSize.Encode
  /** Commits a write, with others that are asked for at the same moment. */
  readonly together: groupCommit.Together
  readonly damaged: readable.Damaged
  /** Fails for the reason that the database gives. */
  readonly fail: (operation: Operation) => (error: SqlError.SqlError) => Effect.Effect<never, TaskStoreError>
  readonly bounds: liveBounds.LiveBounds
}

/**
 * Makes the store, after bringing its table up to date.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*({ table }: { readonly table: string }) {
  yield* migrations.run(table, columnNames, { "0001_tasks": createTable(table) })
  const client = yield* SqlClient.SqlClient
  const sql = client.withoutTransforms()
  const bounds = liveBounds.of(client, table)
  const on: Table = {
    sql,
    tasks: sql`${sql(table)}`,
    prepared: preparing(sql),
    encode: rowSize.encodeUpTo(rowSize.largestRow(sql)),
    together: yield* groupCommit.make(sql, bounds.forget),
    damaged: new readable.Damaged(),
    bounds,
    fail: failing(yield* readOnlySessions.make(sql))
  }
  return { ...writing(on), ...readingOne(on), ...readingMany(on) }
})

const failing = (endReadOnly: Effect.Effect<void>): Table["fail"] => (operation) => (refusal) => {
  const error = storeFailure.fromSql(operation)(refusal)
  return error.reason === "ReadOnly" ? Effect.andThen(endReadOnly, Effect.fail(error)) : Effect.fail(error)
}

/** A client of `@effect-mcp-tasks/sqlite`, which is not imported for those who use another. */
interface Executing {
  readonly executeValues: (
    sql: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>
}

const isExecuting = (sql: object): sql is Executing => "~@effect-mcp-tasks/sqlite/SqliteClient" in sql

const preparing = (sql: SqlClient.SqlClient): Table["prepared"] => {
  const execute: Executing["executeValues"] = isExecuting(sql)
    ? sql.executeValues
    : (text, parameters) => sql.unsafe(text, parameters).values
  return <Row extends Values>(statement: Statement.Statement<object>) => {
    const [text] = statement.compile()
    return (parameters) => execute(text, parameters) as ReturnType<Prepared<Row>>
  }
}

type Writing = Pick<TaskStore["Service"], "create" | "replace" | "remove">

/** Stands where a parameter will be. */
const later = null

/** Keeps a row unless its owner has too many live ones: then there is nothing that it returns. */
type Insert = (row: TaskRecord.TaskRecord, maxLive: number) => ReturnType<Prepared<Values>>

interface Inserts {
  /** For a transaction of the caller, which may come to nothing. */
  readonly alone: Insert
  readonly shared: Insert
}

const columnsOf = ({ sql, tasks }: Table) =>
  sql`INSERT INTO ${tasks} (task_id, version, owner, live, due_at, head, result, body)`

const valuesOf = ({ body, dueAt, head, live, owner, result, taskId }: TaskRecord.TaskRecord) =>
  [taskId, owner, live ? 1 : 0, dueAt, head, result, body]

const inserting = (on: Table): Inserts => {
  if (isExecuting(on.sql)) return insertingInSteps(on)
  const insert = insertingAtOnce(on)
  return { alone: insert, shared: insert }
}

const insertingAtOnce = (on: Table): Insert => {
  const { prepared, sql, tasks } = on
  // Without the second condition, a known id at the limit would be taken for one task too many.
  const insert = prepared(sql`${columnsOf(on)} SELECT CAST(${later} AS TEXT), 1, CAST(${later} AS TEXT),
    CAST(${later} AS INTEGER), CAST(${later} AS BIGINT), CAST(${later} AS TEXT), CAST(${later} AS TEXT),
    CAST(${later} AS TEXT) WHERE (
      SELECT count(*) FROM (SELECT 1 FROM ${tasks} WHERE owner = ${later} AND live = 1 LIMIT ${later}) AS others
    ) < ${later} OR EXISTS (SELECT 1 FROM ${tasks} WHERE task_id = ${later}) RETURNING version`)
  return (row, maxLive) => insert([...valuesOf(row), row.owner, maxLive, maxLive, row.taskId])
}

/**
 * The transactions of SQLite are immediate and come one after the other, so several statements in one are one step too.
 * An INSERT that reads its own table would build another one first, which costs more than everything else in it.
 */
const insertingInSteps = (on: Table): Inserts => {
  const { bounds, prepared, sql, tasks } = on
  // Cast, since SQLite prepares a statement again, for 8 us, whenever a parameter that is a limit as such is bound.
  const count = prepared<readonly [live: Integer, known: Integer]>(sql`SELECT (
      SELECT count(*) FROM (SELECT 1 FROM ${tasks} WHERE owner = ${later} AND live = 1 LIMIT CAST(${later} AS INTEGER))
    ), EXISTS (SELECT 1 FROM ${tasks} WHERE task_id = ${later})`)
  const version = prepared<readonly [dataVersion: Integer]>(sql`PRAGMA data_version`)
  const values = prepared(sql`${columnsOf(on)} VALUES (${later}, 1, ${later}, ${later}, ${later}, ${later}, ${later},
    ${later}) RETURNING version`)

  const counted = (row: TaskRecord.TaskRecord, maxLive: number, told: (live: number) => void) =>
    Effect.flatMap(count([row.owner, maxLive, row.taskId]), ([found]) => {
      const [count, known] = found ?? [0, 0]
      const live = Number(count)
      // A known id at the limit is not one task too many: the INSERT refuses it.
      if (live >= maxLive && !isOne(known)) return Effect.succeed([])
      return Effect.tap(values(valuesOf(row)), () => Effect.sync(() => told(live)))
    })
  const shared: Insert = (row, maxLive) =>
    Effect.flatMap(version([]), ([found]) => {
      const { owner } = row
      const told = (live: number) => bounds.set(owner, live + 1)
      const atMost = bounds.get(owner, found?.[0])
      if (atMost === undefined || atMost >= maxLive) return counted(row, maxLive, told)
      return Effect.tap(values(valuesOf(row)), () => Effect.sync(() => told(atMost)))
    })
  return { shared, alone: (row, maxLive) => counted(row, maxLive, bounds.forget) }
}

const writing = (on: Table): Writing => {
  const { bounds, encode, fail, prepared, sql, tasks, together } = on
  const insert = inserting(on)
  // A task keeps its owner: naming the column would only make the database touch its index.
  const update = prepared(sql`UPDATE ${tasks} SET version = version + 1,
      live = ${later}, due_at = ${later}, head = ${later}, result = ${later}, body = ${later}
    WHERE task_id = ${later} AND version = ${later} RETURNING version`)
  return {
    create: (task, { maxLive }) =>
      Effect.flatMap(encode("create", () => TaskRecord.encode(task)), (record) =>
        Effect.matchEffect(together(insert.shared(record, maxLive), insert.alone(record, maxLive)), {
          onFailure: (error): Effect.Effect<never, TaskAlreadyExists | TaskStoreError> =>
            error.reason._tag === "UniqueViolation"
              ? Effect.fail(new TaskAlreadyExists({ taskId: task.taskId }))
              : fail("create")(error),
          onSuccess: (created) =>
            created.length === 0
              ? Effect.fail(new TooManyTasks({ limit: maxLive }))
              : Effect.succeed({ task, version: 1 })
        })),

    replace: (held, next) => {
      const { task, version } = held
      const { taskId } = task
      const record = encode("replace", () => TaskRecord.encodeNext(held, next))
      return Effect.flatMap(record, ({ body, dueAt, head, live, result }) => {
        const updated = update([live ? 1 : 0, dueAt, head, result, body, taskId, version])
        // No command brings an ended task back to life, but that is the machine's to know.
        const isRevived = live && Task.isTerminal(task)
        const counted = isRevived ? Effect.ensuring(updated, Effect.sync(bounds.forget)) : updated
        return Effect.matchEffect(together(counted), {
          onFailure: fail("replace"),
          onSuccess: (replaced) =>
            replaced.length === 0
              ? Effect.fail(new VersionConflict({ taskId, version }))
              : Effect.succeed({ task: next, version: version + 1 })
        })
      })
    },

    remove: (taskId, version) =>
      sql`DELETE FROM ${tasks} WHERE task_id = ${taskId} AND version = ${version} RETURNING version`.pipe(
        Effect.matchEffect({ onFailure: fail("remove"), onSuccess: (rows) => Effect.succeed(rows.length > 0) })
      )
  }
}

type ListOptions = Parameters<TaskStore["Service"]["list"]>[0]

/** What `decode` needs, but the id. */
const columns = ({ literal }: SqlClient.SqlClient) =>
  literal("CAST(version AS TEXT) AS version, owner, CAST(live AS TEXT) AS live, result, body")

/** What is read one by one, which is what requests do. */
const readingOne = ({ damaged, prepared, sql, tasks }: Table): Pick<TaskStore["Service"], "read" | "view"> => {
  const read = prepared<ReadRow>(sql`SELECT ${columns(sql)} FROM ${tasks} WHERE task_id = ${later}`)
  const view = prepared<ViewRow>(sql`SELECT
    version, owner, live, CAST(due_at AS DOUBLE PRECISION) AS due_at, head, result
    FROM ${tasks} WHERE task_id = ${later}`)
  return {
    read: Effect.fnUntraced(function*(taskId) {
      const [row] = yield* Effect.mapError(read([taskId]), storeFailure.fromSql("read"))
      if (row === undefined) return Option.none()
      const [version, owner, live, result, body] = row
      return Option.some(yield* decode(taskId, { version, owner, live, result, body }))
    }),
    view: (taskId) =>
      Effect.matchEffect(view([taskId]), {
        onFailure: (error) => Effect.fail(storeFailure.fromSql("view")(error)),
        onSuccess: ([row]) => row === undefined ? Effect.succeedNone : Effect.fromResult(viewed(damaged, taskId, row))
      })
  }
}

const readingMany = (
  { damaged, fail, sql, tasks }: Table
): Pick<TaskStore["Service"], "due" | "countLive" | "list"> => ({
  due: (now, limit) =>
    sql<DueRow>`SELECT task_id, CAST(version AS TEXT) AS version, CAST(live AS TEXT) AS live
      FROM ${tasks} WHERE due_at <= ${now}${ifWritable({ sql, tasks })} ORDER BY due_at LIMIT ${limit}`.pipe(
      Effect.matchEffect({
        onFailure: fail("due"),
        onSuccess: (rows) =>
          Effect.succeed(rows.map(({ live, task_id, version }): DueTask => (
            { taskId: task_id, version: TaskRecord.dueVersion(integer(version)), live: flag(live) !== false }
          )))
      })
    ),

  countLive: (owner) =>
    sql<{ readonly live: Integer }>`SELECT count(*) AS live FROM ${tasks} WHERE owner = ${owner} AND live = 1`.pipe(
      Effect.mapBoth({ onFailure: storeFailure.fromSql("countLive"), onSuccess: ([row]) => Number(row?.live ?? 0) })
    ),

  list: readable.make(damaged, ({ after, limit, live, owner }: ListOptions) =>
    sql<ListedRow>`SELECT task_id, ${columns(sql)} FROM ${tasks} WHERE ${
      sql.and([
        sql`task_id > ${after ?? ""}`,
        ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
        // Literals: a database uses an index of live tasks only where it can see that they are asked for.
        ...(live === undefined ? [] : [live ? sql`live = 1` : sql`live = 0`])
      ])
    } ORDER BY task_id LIMIT ${limit}`.pipe(
      Effect.mapBoth({
        onFailure: storeFailure.fromSql("list"),
        onSuccess: (rows) => rows.map((row) => unchecked(row.task_id, row))
      })
    )
  )
})

/** Postgres refuses to lock rows, though there be none, where it would refuse to write. */
const ifWritable = ({ sql, tasks }: Pick<Table, "sql" | "tasks">): Statement.Fragment =>
  sql.onDialectOrElse({
    pg: () => sql` AND NOT EXISTS (SELECT 1 FROM ${tasks} WHERE false FOR KEY SHARE)`,
    orElse: () => sql.literal("")
  })

const isOne = (live: Integer): boolean => Number(live) === 1

/** An integer where the text is one; else what it is, for whoever says what is wrong. */
const integer = (text: IntegerText): unknown => text !== null && /^-?[0-9]+$/.test(text) ? Number(text) : text

/** A number, however the driver reads it. */
const plain = (value: Column): unknown =>
  typeof value === "bigint" ? Number(value) : typeof value === "string" ? integer(value) : value

const flag = (live: Column): unknown => {
  const value = plain(live)
  return value === 1 ? true : value === 0 ? false : live
}

const unchecked = (taskId: string, { body, live, owner, result, version }: Row) =>
  ({ taskId, version: integer(version), owner, live: flag(live), body, result })

const decode = (taskId: string, row: Row): Effect.Effect<Task.Stored, TaskStoreError> =>
  Effect.fromResult(Result.mapError(
    TaskRecord.decode(unchecked(taskId, row)),
    (corrupt) => new TaskStoreError({ operation: "read", ...corrupt })
  ))

const viewed = (
  damaged: readable.Damaged,
  taskId: string,
  [version, owner, live, dueAt, head, result]: ViewRow
): Result.Result<Option.Option<TaskView>, TaskStoreError> =>
  Result.mapBoth(damaged.view({ taskId, version: plain(version), owner, live: flag(live), dueAt, head, result }), {
    onSuccess: Option.some,
    onFailure: (corrupt) => new TaskStoreError({ operation: "view", ...corrupt })
  })
