/**
 * Whether a file and what lies beside it may be written, asked without opening any of them.
 *
 * SQLite opens what it may not write as read-only, without a word. With a log, that is an error later on; with a lock,
 * it is no lock at all.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as SqlError from "effect/sql/SqlError"
import { accessSync, constants, realpathSync } from "node:fs"
import * as Failure from "./failure.ts"

const SQLITE_READONLY = 8

const refusals: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"])

const isReadable = (path: string): boolean => Result.isSuccess(Result.try(() => accessSync(path, constants.R_OK)))

/** What the system says against writing to a file that is there, and may be read. */
const refusal = (path: string): unknown => {
  const asked = Result.try({ try: () => accessSync(path, constants.W_OK), catch: (cause) => cause })
  if (Result.isSuccess(asked) || !isReadable(path)) return undefined
  const cause = asked.failure
  return Predicate.hasProperty(cause, "code") && refusals.has(cause.code) ? cause : undefined
}

/** Fails where one of the files that begin with this name, and end so, may be read but not written. */
export const check = (name: string, endings: ReadonlyArray<string>): Effect.Effect<void, SqlError.SqlError> =>
  Effect.suspend(() => {
    // What lies beside a file lies where links lead to.
    const location = Result.getOrElse(Result.try(() => realpathSync(name)), () => name)
    for (const path of endings.map((ending) => location + ending)) {
      const cause = refusal(path)
      if (!Predicate.isObject(cause)) continue
      const readOnly = Object.assign(cause, { errcode: SQLITE_READONLY })
      return Effect.fail(Failure.fromCause(readOnly, "open", `${path} may not be written`))
    }
    return Effect.void
  })
