/**
 * Keeps a database file for one process that asks for it, while others may still look into it.
 *
 * SQLite's own exclusive mode would shut out readers too. So the lock is on an empty database beside the file, which
 * nothing else uses. The operating system holds it, and lets it go with the process, however that ends.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as SqlError from "effect/sql/SqlError"
import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as Failure from "./failure.ts"
import * as Writable from "./writable.ts"

const retryDelay = Duration.millis(50)

/** The log goes by the name of the file too: SQLite itself warns that a file with two names gets corrupt. */
const linked = (location: string, names: number): SqlError.SqlError => {
  const message = `SQLite open: ${location} has ${names} names (hard links), and cannot be kept under all of them: ` +
    `remove the others, or copy the file`
  const reason = new SqlError.ConnectionError({ cause: new Error(message), message, operation: "open" })
  return new SqlError.SqlError({ reason })
}

const isLocked = (error: SqlError.SqlError): boolean => error.reason._tag === "LockTimeoutError"

/** Holds the lock of `database` for the life of the scope; waits as long for it as for any other lock. */
export const hold = (
  database: DatabaseSync,
  busyTimeoutMillis: number
): Effect.Effect<void, SqlError.SqlError, Scope.Scope> => {
  const location = database.location()
  // What is in memory belongs to its connection.
  if (location === null) return Effect.void
  const names = Result.getOrUndefined(Result.try(() => statSync(location).nlink)) ?? 1
  if (names > 1) return Effect.fail(linked(location, names))
  const file = `${location}-lock`
  const failure = (cause: unknown) => {
    const error = Failure.fromCause(cause, "open", `${file}, by which the file is kept for one process`)
    return isLocked(error)
      ? Failure.fromCause(cause, "open", `${location} is kept by another process that opened it with \`exclusive\``)
      : error
  }
  const lock = Effect.acquireRelease(
    Effect.try({ try: () => new DatabaseSync(file), catch: failure }),
    (held) => Effect.sync(() => held.close())
  )
  // On a file that it may not write, SQLite begins an exclusive transaction as one that only reads.
  return Effect.flatMap(Effect.andThen(Writable.check(file, [""]), lock), (held) =>
    Effect.try({ try: () => held.exec("BEGIN EXCLUSIVE"), catch: failure }).pipe(
      Effect.retry({
        while: isLocked,
        schedule: Schedule.spaced(retryDelay),
        times: Math.ceil(busyTimeoutMillis / Duration.toMillis(retryDelay))
      }),
      // The other process lives in real time, whatever this program's clock is.
      Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
    ))
}
