/**
 * Texts between the processes that share a SQL database, through a table that each of them looks at.
 *
 * Rows are counted by the database, so that no clock matters. Only the newest are kept: whoever is further behind has
 * lost hints.
 *
 * @since 0.1.0
 */
import * as Array from "effect/Array"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as migrations from "./migrations.ts"
import type { Wire } from "./remoteSignal.ts"

/** How many rows are kept, and how many are read at a time. */
const kept = 10_000
const pageSize = 1_000

/** One write in so many also removes what is too old. */
const cleanUpEvery = 100

/** Signals that come within this time share a row. */
const pause = "20 millis"

const createTable = (table: string) =>
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const id = sql.literal(sql.onDialectOrElse({
      pg: () => "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
      orElse: () => "INTEGER PRIMARY KEY"
    }))
    yield* sql`CREATE TABLE ${sql(table)} (id ${id}, message TEXT NOT NULL)`
  })

type Integer = number | string | bigint

/**
 * Makes the wire, after bringing its table up to date.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: {
  readonly table: string
  readonly interval: Duration.Duration
}) {
  const { interval, table } = options
  yield* migrations.run(table, ["id", "message"], { "0001_signals": createTable(table) })
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const signals = sql`${sql(table)}`
  const newest = sql<{ readonly id: Integer | null }>`SELECT max(id) AS id FROM ${signals}`
  const after = (id: number) =>
    sql<{ readonly id: Integer; readonly message: string }>`SELECT id, message FROM ${signals}
      WHERE id > ${id} ORDER BY id LIMIT ${pageSize}`
  let writes = 0

  const wire: Wire<SqlError> = {
    send: Effect.fnUntraced(function*(texts) {
      for (const page of Array.chunksOf(texts, pageSize)) {
        yield* sql`INSERT INTO ${signals} ${sql.insert(Array.map(page, (message) => ({ message })))}`
      }
      if (++writes % cleanUpEvery === 0) {
        yield* sql`DELETE FROM ${signals} WHERE id <= (SELECT max(id) - ${kept} FROM ${signals})`
      }
      yield* Effect.sleep(pause)
    }),
    listen: Effect.map(newest, ([row]) => {
      let last = Number(row?.id ?? 0)
      return Effect.gen(function*() {
        yield* Effect.sleep(interval)
        const rows = yield* after(last)
        last = Number(rows.at(-1)?.id ?? last)
        return rows.map(({ message }) => message)
      })
    })
  }
  return wire
})
