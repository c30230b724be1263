/**
 * Opens a database file and answers for its settings: each is read back from the connection, so one that SQLite
 * ignored fails here and not as lost data later.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as SqlError from "effect/sql/SqlError"
import { statSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Failure from "./failure.ts"
import * as Writable from "./writable.ts"

/** The settings of a connection, resolved. */
export interface Settings {
  readonly filename: string
  readonly readonly: boolean
  readonly busyTimeoutMillis: number
  readonly synchronous: "NORMAL" | "FULL"
}

/** Bytes the write-ahead log is cut back to at the first reset after it has grown beyond them. */
const journalSizeLimit = 16 * 1024 * 1024

const synchronousLevel = { NORMAL: 1, FULL: 2 } as const

/** How long to wait before asking again for a lock that SQLite does not wait for itself. */
const lockRetryDelay = Duration.millis(5)

const pragma = (db: DatabaseSync, sql: string): unknown => {
  const row = db.prepare(`PRAGMA ${sql}`).get()
  return row === undefined ? undefined : Object.values(row)[0]
}

const expectPragma = (db: DatabaseSync, name: string, expected: unknown): void => {
  const actual = pragma(db, name)
  if (actual !== expected) throw new Error(`PRAGMA ${name} is ${String(actual)} instead of ${String(expected)}`)
}

const SQLITE_BUSY = 5

const isBusy = (cause: unknown): boolean =>
  Option.exists(Failure.resultCode(cause), (code) => (code & 0xff) === SQLITE_BUSY)

/**
 * Throws unless the file can be written.
 *
 * SQLite opens a file it may not write as read-only, without a word, and turns BEGIN IMMEDIATE on it into a plain
 * read; so this writes a header field it read before, and rolls back. A busy answer proves the same: a read-only
 * connection never asks for the write lock.
 */
const expectWritable = (db: DatabaseSync): void => {
  const probe = Result.try({
    try: () => {
      db.exec("BEGIN IMMEDIATE")
      db.exec(`PRAGMA user_version = ${String(pragma(db, "user_version"))}`)
    },
    catch: (cause) => cause
  })
  if (db.isTransaction) db.exec("ROLLBACK")
  if (Result.isFailure(probe) && !isBusy(probe.failure)) throw probe.failure
}

const configure = (db: DatabaseSync, settings: Settings): void => {
  // Reads the header, so that a file that is no database is found now. Nothing waits for a lock in here: a retry
  // outside does, without blocking the event loop.
  pragma(db, "schema_version")
  if (!settings.readonly && db.location() !== null) {
    if (pragma(db, "journal_mode") !== "wal") pragma(db, "journal_mode = WAL")
    expectPragma(db, "journal_mode", "wal")
    expectWritable(db)
    pragma(db, `journal_size_limit = ${journalSizeLimit}`)
    expectPragma(db, "journal_size_limit", journalSizeLimit)
  }
  db.exec(`PRAGMA synchronous = ${settings.synchronous}`)
  expectPragma(db, "synchronous", synchronousLevel[settings.synchronous])
  db.exec("PRAGMA foreign_keys = ON")
  expectPragma(db, "foreign_keys", 1)
  pragma(db, `busy_timeout = ${settings.busyTimeoutMillis}`)
  expectPragma(db, "busy_timeout", settings.busyTimeoutMillis)
}

const isDirectory = (path: string): Option.Option<boolean> =>
  Result.try(() => statSync(path, { throwIfNoEntry: false })).pipe(
    Result.getSuccess,
    Option.flatMap(Option.fromUndefinedOr),
    Option.map((stats) => stats.isDirectory())
  )

/** Says why a path could not be opened; SQLite gives one code for all of it. Looks only: opening would drop locks. */
const diagnose = (filename: string): string => {
  const found = isDirectory(filename)
  if (Option.contains(found, true)) return `${filename} is a directory`
  if (Option.isSome(found)) return `${filename} exists but may not be opened, or its directory may not be written`
  const parent = dirname(filename)
  return Option.contains(isDirectory(parent), true)
    ? `${filename} does not exist and cannot be created`
    : `${parent}, where ${filename} should be, is not an existing directory`
}

const SQLITE_CANTOPEN = 14

const openFailure = (filename: string) => (cause: unknown): SqlError.SqlError => {
  const cannotOpen = Option.exists(Failure.resultCode(cause), (code) => (code & 0xff) === SQLITE_CANTOPEN)
  return Failure.fromCause(cause, "open", cannotOpen ? diagnose(filename) : filename)
}

const isLocked = (error: SqlError.SqlError): boolean => error.reason._tag === "LockTimeoutError"

/** Closes the connection; keeps the planner's statistics fresh first, unless another connection is writing. */
const close = (db: DatabaseSync, settings: Settings): Effect.Effect<void> =>
  Effect.try({
    try: () => {
      if (settings.readonly || db.isTransaction) return
      db.exec("PRAGMA busy_timeout = 0")
      db.exec("PRAGMA analysis_limit = 400")
      db.exec("PRAGMA optimize")
    },
    catch: (cause) => Failure.fromCause(cause, "close", settings.filename)
  }).pipe(
    Effect.catch((error) => Effect.logDebug("PRAGMA optimize did not run before closing SQLite", error)),
    Effect.andThen(Effect.sync(() => db.close()))
  )

/** Opens the database for the life of the scope. */
export const open = (settings: Settings): Effect.Effect<DatabaseSync, SqlError.SqlError, Scope.Scope> => {
  const { busyTimeoutMillis, filename, readonly } = settings
  const failure = openFailure(filename)
  // SQLite would make a log beside a file that it may only read, with the modes of that file, and leave it there.
  const writable = readonly ? Effect.void : Writable.check(filename, ["", "-wal", "-shm"])
  const opened = Effect.acquireRelease(
    Effect.try({
      try: () => {
        const db = new DatabaseSync(filename, { readOnly: readonly, allowExtension: true })
        // Allowed above so that `loadExtension` can be; SQL itself must never load one.
        db.enableLoadExtension(false)
        return db
      },
      catch: failure
    }),
    (db) => close(db, settings)
  )
  return Effect.tap(Effect.andThen(writable, opened), (db) =>
    Effect.try({ try: () => configure(db, settings), catch: failure }).pipe(
      // Turning on WAL needs the file for itself, and SQLite does not apply its busy timeout to that.
      Effect.retry({
        while: isLocked,
        schedule: Schedule.spaced(lockRetryDelay),
        times: Math.ceil(busyTimeoutMillis / Duration.toMillis(lockRetryDelay))
      }),
      // Another process holds the lock, in real time whatever this program's clock is.
      Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
    ))
}

/** Refuses settings SQLite would clamp or ignore. */
export const resolveTimeout = (timeout: Duration.Duration): Effect.Effect<number, SqlError.SqlError> => {
  const millis = Math.ceil(Duration.toMillis(timeout))
  if (millis >= 0 && millis <= 2 ** 31 - 1) return Effect.succeed(millis)
  const message = `SQLite open: busyTimeout must be between 0 and ${2 ** 31 - 1} ms, not ${millis} ms`
  return Effect.fail(
    new SqlError.SqlError({
      reason: new SqlError.ConnectionError({ cause: new RangeError(message), message, operation: "open" })
    })
  )
}
