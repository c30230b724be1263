/**
 * Ends the sessions of a Postgres client that are refused every write.
 *
 * Whether a session may write is decided where it leads and when it begins: the server may have been demoted, its
 * address lead to another one by now, or the setting that forbade it be gone. A pool knows nothing of that and lends
 * such a session again and again, since it works for everything but writes. Its client has no way to have it thrown
 * away either, so each session is asked to end itself, which every role may do and every pool notices.
 *
 * @since 0.2.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"

/** What Postgres says when it ends a session: `admin_shutdown`. */
const isEnded = ({ reason: { cause } }: SqlError.SqlError): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === "57P01"

/**
 * Makes what ends such sessions in the background, one after the other, until it is lent one that may write or is new.
 * Does nothing on other databases.
 *
 * **Details**
 *
 * One that has lasted for less than 5 seconds stays: a server that is still read-only is not connected to any faster.
 * The pool lends what was used last, so whoever was just refused is the first to go.
 *
 * @since 0.2.0
 */
export const make = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const scope = yield* Effect.scope
  // Not those of whoever was refused: their transaction is lost.
  const surroundings = yield* Effect.context<never>()
  let isAtIt = false

  const endOne = Effect.map(
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = pg_backend_pid()
      AND backend_start < clock_timestamp() - INTERVAL '5 seconds'
      AND current_setting('transaction_read_only') = 'on'`,
    (ended) => ended.length > 0
  )
  const endAll = Effect.repeat(Effect.catchIf(endOne, isEnded, () => Effect.succeed(true)), { while: (ended) => ended })
    .pipe(
      Effect.catchCause((cause) => Effect.logDebug("Read-only sessions could not be ended", cause)),
      Effect.ensuring(Effect.sync(() => {
        isAtIt = false
      })),
      Effect.updateContext((_: Context.Context<never>) => surroundings)
    )

  const end = Effect.suspend(() => {
    if (isAtIt) return Effect.void
    isAtIt = true
    return Effect.asVoid(Effect.forkIn(endAll, scope))
  })
  return sql.onDialectOrElse({ pg: () => end, orElse: () => Effect.void })
})
