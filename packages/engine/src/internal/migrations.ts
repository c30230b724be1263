/**
 * Brings tables up to date. Processes that start together wait for the one that does it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Migrator from "effect/sql/Migrator"
import type * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"

type Migrations = Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>>

const isLock = (error: unknown): boolean =>
  SqlError.isSqlError(error)
    ? error.reason._tag === "LockTimeoutError"
    : error instanceof Migrator.MigrationError && error.cause !== undefined && isLock(error.cause)

/**
 * Runs the migrations that have not been run. They are counted in a table of the same name with `_migrations` behind.
 *
 * @since 0.1.0
 */
export const run = (table: string, migrations: Migrations) =>
  Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: `${table}_migrations` }).pipe(
    Effect.retry({ while: isLock, schedule: Schedule.spaced("100 millis"), times: 50 })
  )
