/**
 * An Effect SQL `Connection` over one open `DatabaseSync`.
 *
 * Each call prepares, binds, steps to the end and resets in one synchronous step, so no statement is open between
 * two calls and none can hold the write-ahead log back. Only a stream keeps its statement, for its own scope.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { DatabaseSync, SQLOutputValue } from "node:sqlite"
import * as Failure from "./failure.ts"
import { bindAll } from "./parameters.ts"
import type * as Place from "./place.ts"
import * as Statements from "./statements.ts"

type TransformRows = Parameters<Connection["execute"]>[2]

/** An open database. */
export interface Opened {
  readonly db: DatabaseSync
  readonly statements: Statements.Statements
  readonly place: Place.Place
}

/** Rows handed downstream at once by a stream. */
const chunkSize = 128

const configure = (prepared: Statements.Prepared, bigints: boolean, arrays: boolean): void => {
  if (prepared.bigints !== bigints) {
    prepared.statement.setReadBigInts(bigints)
    prepared.bigints = bigints
  }
  if (prepared.arrays !== arrays) {
    prepared.statement.setReturnArrays(arrays)
    prepared.arrays = arrays
  }
}

/** A driver call that runs to its end when it is called, and answers with a settled effect. */
export type Step<A> = (fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<A, SqlError>

/** Turns a step into an effect that takes it at once, or once the connection is free. */
export type Run = <A>(step: Step<A>) => Effect.Effect<A, SqlError>

/** What fails says which file it is about; whether that is still the one that was opened is looked at first. */
const stepping = (db: DatabaseSync, place: Place.Place) =>
<A>(operation: Failure.Operation, evaluate: (bigints: boolean) => A): Step<A> =>
(fiber) => {
  const bigints = fiber.getRef(SqlClient.SafeIntegers)
  const result = Result.try({
    try: () => {
      place.check()
      return evaluate(bigints)
    },
    catch: (cause) => Failure.fromCause(cause, operation, Failure.fileOf(db, cause))
  })
  return Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(result.failure)
}

type Stepping = ReturnType<typeof stepping>

const openRows = (db: DatabaseSync, step: Stepping, sql: string, params: ReadonlyArray<unknown>) =>
  Effect.acquireRelease(
    Effect.withFiber(step("stream", (bigints) => {
      // Not from the cache: the same SQL may run on this connection while the stream is open.
      const prepared = Statements.prepare(db, sql)
      configure(prepared, bigints, false)
      return prepared.statement.iterate(...bindAll(params))
    })),
    // Resets the statement, which ends its read transaction.
    (rows) => Effect.sync(() => rows.return?.())
  )

type Rows = NodeJS.Iterator<Record<string, SQLOutputValue>>

const nextChunk = (db: DatabaseSync, rows: Rows, transformRows: TransformRows) =>
  Effect.try({
    try: () => {
      const chunk: Array<Record<string, SQLOutputValue>> = []
      let last = false
      while (!last && chunk.length < chunkSize) {
        const next = rows.next()
        if (next.done === true) last = true
        else chunk.push(next.value)
      }
      const out: ReadonlyArray<unknown> = transformRows === undefined ? chunk : transformRows(chunk)
      return [out, last ? Option.none<undefined>() : Option.some(undefined)] as const
    },
    catch: (cause) => Failure.fromCause(cause, "stream", Failure.fileOf(db, cause))
  })

const values = (prepared: Statements.Prepared, params: ReadonlyArray<unknown>, bigints: boolean) => {
  configure(prepared, bigints, true)
  return prepared.statement.all(...bindAll(params)) as unknown as ReadonlyArray<ReadonlyArray<unknown>>
}

/** Makes the step that runs one statement and answers with each row as its columns, in their order. */
export const valuesOf = ({ db, place, statements }: Opened) => {
  const step = stepping(db, place)
  return (sql: string, params: ReadonlyArray<unknown>) =>
    step("execute", (bigints) => values(statements.get(sql), params, bigints))
}

/**
 * Makes a connection whose statements go through `run`.
 *
 * A stream does not: whoever starts one must hold the lease.
 */
export const make = (opened: Opened, run: Run): Connection => {
  const { db, place, statements } = opened
  const step = stepping(db, place)
  const readValues = valuesOf(opened)
  const rows = (prepared: Statements.Prepared, params: ReadonlyArray<unknown>, bigints: boolean) => {
    configure(prepared, bigints, false)
    return prepared.statement.all(...bindAll(params))
  }
  const transformed = (found: ReadonlyArray<object>, transformRows: TransformRows) =>
    transformRows === undefined ? found : transformRows(found)
  const raw = (prepared: Statements.Prepared, params: ReadonlyArray<unknown>, bigints: boolean) => {
    if (prepared.returnsRows) return rows(prepared, params, bigints)
    configure(prepared, bigints, false)
    return prepared.statement.run(...bindAll(params))
  }

  return {
    execute: (sql, params, transformRows) =>
      run(step("execute", (bigints) => transformed(rows(statements.get(sql), params, bigints), transformRows))),
    executeRaw: (sql, params) => run(step("execute", (bigints) => raw(statements.get(sql), params, bigints))),
    executeValues: (sql, params) => run(readValues(sql, params)),
    executeValuesUnprepared: (sql, params) =>
      run(step("execute", (bigints) => values(Statements.prepare(db, sql), params, bigints))),
    executeUnprepared: (sql, params, transformRows) =>
      run(step("execute", (bigints) => transformed(rows(Statements.prepare(db, sql), params, bigints), transformRows))),
    executeStream: (sql, params, transformRows) =>
      Stream.unwrap(Effect.map(
        openRows(db, step, sql, params),
        (rows) => Stream.paginate(undefined, () => nextChunk(db, rows, transformRows))
      ))
  }
}
