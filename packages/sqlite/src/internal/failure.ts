/**
 * Turns what `node:sqlite` throws into a `SqlError` whose message says what happened and what to look at.
 *
 * The native error stays the `cause` of the reason, with its result code as `errno`.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as SqlError from "effect/sql/SqlError"
import type { DatabaseSync } from "node:sqlite"
import { Misplaced } from "./place.ts"

/** What the client was doing when a call failed. */
export type Operation = "open" | "prepare" | "execute" | "stream" | "export" | "backup" | "loadExtension" | "close"

/** What is about the file as such, so that its name is told. */
const aboutTheFile: ReadonlySet<number> = new Set([8, 10, 11, 13, 14, 26])

/** The primary result codes a caller can do something about: https://www.sqlite.org/rescode.html */
const explanations: ReadonlyMap<number, string> = new Map([
  [5, "the database is locked: another connection held its lock for longer than the busy timeout"],
  [6, "a table is locked by another statement"],
  [8, "the database is read-only"],
  [10, "the disk reported an I/O error"],
  [11, "the database file is corrupt: stop what uses it and go back to a backup, or try \"sqlite3 FILE .recover\""],
  [13, "the database is full: the disk has no space left, or max_page_count is reached"],
  [14, "the database file cannot be opened"],
  [19, "a constraint was violated"],
  [26, "the file is not a SQLite database"]
])

// Waiting cannot help here: the transaction read an old snapshot before it asked to write.
const SQLITE_BUSY_SNAPSHOT = 517
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555
const SQLITE_CONSTRAINT_ROWID = 2579

const errorCode = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined

/** Reads SQLite's extended result code from a native error. */
export const resultCode = (cause: unknown): Option.Option<number> =>
  Predicate.hasProperty(cause, "errcode") && typeof cause.errcode === "number"
    ? Option.some(cause.errcode)
    : Option.none()

const nativeMessage = (cause: unknown): string =>
  Predicate.hasProperty(cause, "message") && typeof cause.message === "string" ? cause.message : String(cause)

const explain = (cause: unknown, code: number | undefined): string | undefined => {
  if (code === SQLITE_BUSY_SNAPSHOT) {
    return "the database changed after this transaction read it: begin with BEGIN IMMEDIATE to write after reading"
  }
  if (code !== undefined) return explanations.get(code & 0xff)
  switch (errorCode(cause)) {
    case "ERR_OUT_OF_RANGE":
      return "an integer beyond 2^53 - 1 was read: provide SqlClient.SafeIntegers as true to read integers as bigint"
    case "ERR_INVALID_STATE":
      return "the client is closed"
  }
}

const describe = (cause: unknown, operation: Operation, code: number | undefined, hint: string | undefined): string => {
  const explanation = [explain(cause, code), hint].filter((part) => part !== undefined).join(": ")
  const message = nativeMessage(cause)
  return explanation === "" ? `SQLite ${operation}: ${message}` : `SQLite ${operation}: ${explanation} (${message})`
}

/** The identifier after "UNIQUE constraint failed:", which SQLite uses for primary keys too. */
const constraintName = (message: string): string => {
  const name = message.slice(message.indexOf(":") + 1).trim()
  return name === "" ? "unknown" : name
}

/** The name of the file, where the error is about that, for `fromCause`. */
export const fileOf = (db: DatabaseSync, cause: unknown): string | undefined => {
  const code = Option.getOrUndefined(resultCode(cause))
  return code !== undefined && aboutTheFile.has(code & 0xff) && db.isOpen ? db.location() ?? undefined : undefined
}

/** Classifies a native error; `hint` adds what only the caller knows, such as the file name. */
export const fromCause = (cause: unknown, operation: Operation, hint?: string): SqlError.SqlError => {
  const code = Option.getOrUndefined(resultCode(cause))
  const message = describe(cause, operation, code, hint)
  if (errorCode(cause) === "ERR_INVALID_STATE" || cause instanceof Misplaced) {
    return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation }) })
  }
  // A second row under one primary key is what other databases call a unique violation; a store that asks
  // "does it exist already?" must get one answer on all of them.
  if (code === SQLITE_CONSTRAINT_PRIMARYKEY || code === SQLITE_CONSTRAINT_ROWID) {
    const constraint = constraintName(nativeMessage(cause))
    return new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ cause, message, operation, constraint }) })
  }
  // `classifySqliteError` reads `errno`, `node:sqlite` writes `errcode`.
  if (code !== undefined && Predicate.isObject(cause)) Object.assign(cause, { errno: code })
  return new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { message, operation }) })
}
