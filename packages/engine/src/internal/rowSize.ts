/**
 * How large a row of a SQL database may be, so that its client can read it.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as TaskRecord from "../TaskRecord.ts"
import { TaskStoreError } from "../TaskStoreError.ts"

type Operation = TaskStoreError["operation"]

/**
 * Encodes a task, if what it becomes can be read again.
 *
 * @since 0.2.0
 */
export type Encode = (
  operation: Operation,
  encoded: () => TaskRecord.TaskRecord
) => Effect.Effect<TaskRecord.TaskRecord, TaskStoreError>

/** What a client of Postgres reads at most, where it does not say: `maxMessageSize` of `@effect/sql-pg`. */
const defaultMessageSize = 16 * 1024 * 1024

/**
 * How many bytes the texts of one row may have, so that the client can read it.
 *
 * @since 0.1.0
 */
export const largestRow = (sql: SqlClient.SqlClient): number =>
  sql.onDialectOrElse({
    pg: () => {
      const config: unknown = Predicate.hasProperty(sql, "config") ? sql.config : undefined
      const size = Predicate.hasProperty(config, "maxMessageSize") ? config.maxMessageSize : undefined
      return typeof size === "number" ? size : defaultMessageSize
    },
    orElse: () => Infinity
  })

/** The names, lengths and numbers of a row come to less. */
const rowOverhead = 1024

/**
 * Refuses what is larger: a client that is sent more than it can read drops its connection, and would do so with every
 * later read.
 *
 * @since 0.1.0
 */
export const encodeUpTo = (largest: number): Encode => {
  const encoder = new TextEncoder()
  const bytes = (text: string | null) => text === null ? 0 : encoder.encode(text).length
  return (operation, encoded) =>
    Effect.suspend(() => {
      const record = encoded()
      const { body, head, owner, result } = record
      const units = body.length + head.length + owner.length + (result?.length ?? 0) + rowOverhead
      // A code unit becomes at most three bytes, so that few records have to be measured.
      if (units * 3 <= largest) return Effect.succeed(record)
      const size = bytes(result) + Math.max(bytes(body), bytes(head) + bytes(owner)) + rowOverhead
      return size <= largest ? Effect.succeed(record) : Effect.fail(tooLarge(operation, size, largest))
    })
}

const tooLarge = (operation: Operation, size: number, largest: number): TaskStoreError =>
  new TaskStoreError({
    operation,
    reason: "TooLarge",
    cause: new RangeError(`A row of ${size} bytes; the client's maxMessageSize allows ${largest}`)
  })
