/**
 * Whether a path still leads to the file that was opened.
 *
 * A file that is deleted, or replaced by a restored backup, lives on for whoever has it open. What is written to it
 * then survives nothing, and its next reader would find another file. The same holds for the write-ahead log beside it,
 * and for links by which the file was named.
 */
import * as Clock from "effect/Clock"
import * as Result from "effect/Result"
import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"

/** What an open database is looked after by. */
export interface Place {
  /** Throws where the path leads to another file, or to none; looks at most once in `interval`. */
  readonly check: () => void
}

/** Milliseconds between two looks: each takes some microseconds. */
const interval = 1_000

/** Somebody else moves files, in real time whatever this program's clock is. */
const realTime = (): number => Clock.Clock.defaultValue().currentTimeMillisUnsafe()

/** Device and inode; nothing for a file that is not there, or may not be looked at. */
const identity = (path: string): string | undefined =>
  Result.getOrUndefined(Result.try(() => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found && `${found.dev}:${found.ino}`
  }))

/** The path leads elsewhere. */
export class Misplaced extends Error {}

const gone = (path: string, isThere: boolean): Misplaced =>
  new Misplaced(
    `${path} was ${isThere ? "replaced" : "deleted or moved"} while it was in use, and what is written now would be ` +
      "lost: stop what uses it, put the right file in place, and start again"
  )

/** Looks after a database that was opened under this name; one in memory has no place. */
export const make = (db: DatabaseSync, filename: string, clock = realTime): Place => {
  const path = db.location()
  if (path === null) return { check: () => undefined }
  // SQLite has followed links, and the program may have another working directory one day.
  const names = new Set([path, `${path}-wal`, resolve(filename)])
  const files = [...names].map((file) => ({ file, opened: identity(file) }))
  let looked = clock()
  let wrong: Misplaced | undefined

  const look = (): Misplaced | undefined => {
    for (const known of files) {
      const now = identity(known.file)
      // A log may come later: a database that is only read has none at first.
      if (known.opened === undefined) known.opened = now
      else if (now !== known.opened) return gone(known.file, now !== undefined)
    }
    return undefined
  }

  return {
    check: () => {
      const now = clock()
      // A clock that is set back must not keep it from looking.
      if (Math.abs(now - looked) >= interval) {
        looked = now
        wrong = look()
      }
      // A transaction that has begun can still be rolled back.
      if (wrong !== undefined && !db.isTransaction) throw wrong
    }
  }
}
