/**
 * Prepared statements by their SQL, at most `capacity` of them.
 *
 * Two generations instead of a linked list: a hit costs one map look-up, and a statement used since the last turn
 * survives the next one. Dropped statements are finalized when they are collected, and all of them on close.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite"

/** A statement with the driver flags it is currently set to, so that they are only set when they change. */
export interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  bigints: boolean
  arrays: boolean
}

/** What may follow the one statement: whitespace, semicolons and comments. */
const trailer = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[^]*?(?:\*\/|$))*$/

/**
 * Prepares one statement; throws when `sql` holds more than one.
 *
 * SQLite prepares the first statement and `node:sqlite` drops the rest without a word, so half a migration would
 * seem to have run.
 */
export const prepare = (db: DatabaseSync, sql: string): Prepared => {
  if (!sql.isWellFormed()) throw new TypeError("The SQL text holds a lone surrogate, which UTF-8 cannot carry")
  const statement = db.prepare(sql)
  const rest = sql.slice(statement.sourceSQL.length)
  if (!trailer.test(rest)) throw new TypeError(`The SQL text holds more than one statement, from: ${rest.trim()}`)
  return { statement, returnsRows: statement.columns().length > 0, bigints: false, arrays: false }
}

/** Statements kept for reuse. */
export interface Statements {
  readonly get: (sql: string) => Prepared
  readonly size: () => number
}

/** Makes an empty cache; a capacity below 2 keeps nothing. */
export const make = (db: DatabaseSync, capacity: number): Statements => {
  const half = Math.floor(capacity / 2)
  let young = new Map<string, Prepared>()
  let old = new Map<string, Prepared>()

  const keep = (sql: string, prepared: Prepared): Prepared => {
    if (half === 0) return prepared
    if (young.size >= half) {
      old = young
      young = new Map()
    }
    young.set(sql, prepared)
    return prepared
  }

  const promote = (sql: string): Prepared => {
    const found = old.get(sql)
    if (found === undefined) return keep(sql, prepare(db, sql))
    old.delete(sql)
    return keep(sql, found)
  }

  return {
    get: (sql) => young.get(sql) ?? promote(sql),
    size: () => young.size + old.size
  }
}
