/**
 * Brings tables up to date. Processes that start together wait for the one that does it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"

type Migrations = Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>>

const isLock = (error: unknown): boolean =>
  SqlError.isSqlError(error)
    ? error.reason._tag === "LockTimeoutError"
    : error instanceof Migrator.MigrationError && error.cause !== undefined && isLock(error.cause)

/** Why a database refused: in its client's words, and in its own where those do not say it. */
const reasonOf = (error: unknown): string => {
  if (!SqlError.isSqlError(error)) return Predicate.isError(error) ? error.message : String(error)
  const { cause, message = "" } = error.reason
  const own = Predicate.isError(cause) ? cause.message : ""
  return message.includes(own) ? message : `${message}: ${own}`
}

/**
 * Says which table it is about, why that failed, and what helps: mostly, the database has a table of the same name that
 * somebody else has made.
 */
const explained = (table: string) => (error: Migrator.MigrationError | SqlError.SqlError) => {
  if (SqlError.isSqlError(error) || error.kind !== "Failed") return error
  return new Migrator.MigrationError({
    kind: error.kind,
    cause: error.cause,
    message: `The table ${table} cannot be made: ${reasonOf(error.cause)}. ` +
      `If it is a table of something else, use another database, schema or name of table`
  })
}

/**
 * A table that was made by others, or has lost a column, is noticed now, and not by the first task.
 *
 * @since 0.2.0
 */
export const check = (table: string, columns: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const all = sql.literal(columns.join(", "))
    yield* Effect.mapError(sql`SELECT ${all} FROM ${sql(table)} WHERE 1 = 0`, (error) =>
      error.reason._tag === "ConnectionError" ? error : new Migrator.MigrationError({
        kind: "BadState",
        cause: error,
        message: `The table ${table} is not as it was made: ${reasonOf(error)}. ` +
          `Go back to a backup, or let ${table}_migrations and ${table} be made anew, which loses what is in them`
      }))
  })

const known = (migrations: Migrations): number => Math.max(...Object.keys(migrations).map((name) => parseInt(name, 10)))

/**
 * A table that a newer release has changed is not this one's to write: it would do so by rules that no longer hold.
 * Nothing has been done to it before this, since migrations that are older than the last one are not run.
 */
const checkAge = (table: string, migrations: Migrations) =>
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const newer = yield* sql<{ readonly name: string }>`SELECT name FROM ${sql(`${table}_migrations`)}
      WHERE migration_id > ${known(migrations)} ORDER BY migration_id DESC LIMIT 1`
    const [last] = newer
    if (last === undefined) return
    return yield* new Migrator.MigrationError({
      kind: "BadState",
      message: `The table ${table} was changed by a newer release of this program (${last.name.slice(0, 100)}). ` +
        `Run that release, or go back to a backup from before it`
    })
  })

/**
 * Runs the migrations that have not been run, and looks afterwards whether there are newer ones, and whether the table
 * has its columns. Migrations are counted in a table of the same name with `_migrations` behind.
 *
 * @since 0.1.0
 */
export const run = (table: string, columns: ReadonlyArray<string>, migrations: Migrations) =>
  Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: `${table}_migrations` }).pipe(
    Effect.retry({ while: isLock, schedule: Schedule.spaced("100 millis"), times: 50 }),
    Effect.mapError(explained(table)),
    Effect.andThen(checkAge(table, migrations)),
    Effect.andThen(check(table, columns))
  )
