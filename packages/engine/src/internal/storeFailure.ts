/**
 * What a database's own error means to whoever asked a store.
 *
 * @since 0.1.0
 */
import type * as Redis from "effect/persistence/Redis"
import * as Predicate from "effect/Predicate"
import type * as SqlError from "effect/sql/SqlError"
import { TaskStoreError } from "../TaskStoreError.ts"

type Operation = TaskStoreError["operation"]
type Reason = TaskStoreError["reason"]

/** The words that an error of Redis begins with, or has in it when a script passes it on (before Redis 7). */
const redisReasons: ReadonlyArray<readonly [pattern: RegExp, reason: Reason]> = [
  // What our own scripts say of a key of the store that is no task.
  [/\bWRONGKEY\b/, "Misused"],
  [/\bREADONLY\b/, "ReadOnly"],
  [/\bOOM\b|\bMISCONF\b/, "Full"],
  [/\b(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MOVED|ASK)\b/, "NotReady"],
  [/\bWRONGTYPE\b/, "Corrupt"]
]

/** What `node-redis` calls a connection that is gone; it gives these no codes. */
const lost = /^(Socket|SocketClosed|ClientClosed|ClientOffline|ConnectionTimeout|Disconnects)/

const messageOf = (cause: unknown): string => Predicate.isError(cause) ? cause.message : String(cause)

const codeOf = (cause: unknown): unknown => Predicate.hasProperty(cause, "code") ? cause.code : undefined

/** The code of a failed system call, such as `ECONNRESET`. */
const isSystemError = (cause: unknown): boolean => /^E[A-Z]{3,}$/.test(String(codeOf(cause)))

const redisReason = (cause: unknown): Reason => {
  const message = messageOf(cause)
  const isLost = isSystemError(cause) || (Predicate.isError(cause) && lost.test(cause.constructor.name))
  return isLost ? "ConnectionLost" : redisReasons.find(([pattern]) => pattern.test(message))?.[1] ?? "Unavailable"
}

/**
 * Classifies an error of Redis.
 *
 * @since 0.1.0
 */
export const fromRedis = (operation: Operation) => ({ cause }: Redis.RedisError): TaskStoreError => {
  const reason = redisReason(cause)
  // To count is a plain command, about no task.
  return new TaskStoreError({ operation, reason: isOfIndex(operation, reason) ? "Misused" : reason, cause })
}

const isOfIndex = (operation: Operation, reason: Reason): boolean => operation === "countLive" && reason === "Corrupt"

/** SQLSTATE of Postgres (appendix A of its manual), and the primary result codes of SQLite. */
const sqlReasons: ReadonlyMap<unknown, Reason> = new Map<unknown, Reason>([
  ["25006", "ReadOnly"],
  ["53100", "Full"],
  ["53200", "Full"],
  ["57P01", "ConnectionLost"],
  ["57P02", "ConnectionLost"],
  ["57P03", "NotReady"],
  // An owner that no index row can hold, some 2,700 bytes after compression.
  ["54000", "TooLarge"],
  // A value that its column cannot hold, or a number that a client cannot: only damage comes to that.
  ["22003", "Corrupt"],
  ["22P02", "Corrupt"],
  ["ERR_OUT_OF_RANGE", "Corrupt"],
  [8, "ReadOnly"],
  [13, "Full"]
])

const sqlReason = ({ reason }: SqlError.SqlError): Reason => {
  const { cause } = reason
  const errno = Predicate.hasProperty(cause, "errno") ? Number(cause.errno) & 0xff : undefined
  return sqlReasons.get(codeOf(cause)) ?? sqlReasons.get(errno) ??
    (reason._tag === "ConnectionError" ? "ConnectionLost" : "Unavailable")
}

/**
 * Classifies an error of a SQL database.
 *
 * @since 0.1.0
 */
export const fromSql = (operation: Operation) => (error: SqlError.SqlError): TaskStoreError =>
  new TaskStoreError({ operation, reason: sqlReason(error), cause: error })
