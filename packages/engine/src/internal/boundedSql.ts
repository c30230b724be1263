/**
 * Postgres with a limit to how long a statement is waited for. A client has none: over a connection that carries
 * nothing any more and is not closed, a statement would be waited for without end, and so would the task behind it.
 *
 * A statement that is given up is interrupted. The client of `@effect/sql-pg` then asks the server to cancel it, and
 * where the connection says nothing for another 5 seconds, closes it, so that its pool makes another. That needs
 * nothing of its private parts.
 *
 * @since 0.2.0
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import * as SqlError from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"

/**
 * How long a statement is waited for. As for Redis: one that is lost, given up, and sent again over another connection
 * is through within the default lease.
 *
 * @since 0.2.0
 */
export const limit = Duration.seconds(5)

/** How long one is waited for while a layer starts: it may be a migration, or wait for that of another process. */
const longestStart = Duration.minutes(1)

/** A server that is there has cancelled a statement by then. */
const soon = Duration.seconds(1)

const tooLate = (after: Duration.Duration): SqlError.SqlError => {
  const message = `The database did not answer within ${Duration.format(after)}`
  return new SqlError.SqlError({
    reason: new SqlError.StatementTimeoutError({ cause: new Error(message), message, operation: "query" })
  })
}

type Bound = <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>) => Effect.Effect<A, SqlError.SqlError, R>

/**
 * Fails what takes longer than it may at the moment, also within what cannot be interrupted. Its connection is seen to
 * in the background, and `onSilence` told if it has not said anything after a second.
 */
const bounding = (now: () => Duration.Duration, scope: Scope.Scope, onSilence: Effect.Effect<void>): Bound =>
(statement) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const after = now()
      const fiber = yield* Effect.forkDetach(statement, { startImmediately: true })
      const answer = yield* restore(Effect.timeoutOption(Fiber.await(fiber), after)).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(fiber))
      )
      if (Option.isSome(answer)) return yield* answer.value
      const interrupted = yield* Effect.forkDetach(Fiber.interrupt(fiber), { startImmediately: true })
      yield* Effect.timeoutOption(Fiber.await(interrupted), soon).pipe(
        Effect.flatMap((ended) => Option.isNone(ended) ? onSilence : Effect.void),
        Effect.forkIn(scope)
      )
      return yield* tooLate(after)
    })
  )

/** A connection, all of whose statements are bounded. */
const boundedConnection = (bound: Bound, connection: Connection): Connection => ({
  execute: (...args) => bound(connection.execute(...args)),
  executeRaw: (...args) => bound(connection.executeRaw(...args)),
  executeStream: (...args) => connection.executeStream(...args),
  executeValues: (...args) => bound(connection.executeValues(...args)),
  executeValuesUnprepared: (...args) => bound(connection.executeValuesUnprepared(...args)),
  executeUnprepared: (...args) => bound(connection.executeUnprepared(...args))
})

/** Runs a statement that is already one of ours: it has its span, and has been transformed if anybody does so. */
const plainly = <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>) =>
  Effect.withTracerEnabled(Effect.provideService(statement, Statement.CurrentTransformer, undefined), false)

/** Any connection of a client: it lends one for each statement, or the one of the transaction that is open. */
const anyOf = (sql: SqlClient.SqlClient): Connection => ({
  execute: (text, parameters) => plainly(sql.unsafe(text, parameters)),
  executeRaw: (text, parameters) => plainly(sql.unsafe(text, parameters).raw),
  executeStream: (text, parameters) => sql.unsafe(text, parameters).stream,
  executeValues: (text, parameters) => plainly(sql.unsafe(text, parameters).values),
  executeValuesUnprepared: (text, parameters) => plainly(sql.unsafe(text, parameters).valuesUnprepared),
  executeUnprepared: (text, parameters) => plainly(sql.unsafe(text, parameters).unprepared)
})

/** The texts of Postgres; what is particular to its client is not among our statements. */
const compiler = Statement.makeCompiler<never>({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: Statement.defaultEscape(`"`),
  onRecordUpdate: () => ["", []],
  onCustom: () => ["", []]
})

const isPostgres = (sql: SqlClient.SqlClient): sql is PgClient.PgClient => "~@effect/sql-pg/PgClient" in sql

/** How many connections a pool has at the most, where nothing else is said. */
const poolSize = 10

const maxConnections = (sql: SqlClient.SqlClient): number => {
  const config: unknown = isPostgres(sql) ? sql.config : undefined
  return Predicate.hasProperty(config, "maxConnections") ? Number(config.maxConnections ?? poolSize) : poolSize
}

const spanAttributes = (sql: SqlClient.SqlClient): ReadonlyArray<readonly [string, unknown]> => {
  if (!isPostgres(sql)) return [["db.system.name", "postgresql"]]
  const { database, host, port, spanAttributes, username } = sql.config
  return [
    ...Object.entries(spanAttributes ?? {}),
    ["db.system.name", "postgresql"],
    ["db.namespace", database ?? username ?? "postgres"],
    ["server.address", host ?? "localhost"],
    ["server.port", port ?? 5432]
  ]
}

/**
 * Where one connection of a pool has fallen silent, all may have, and whoever is lent the next one would wait as long.
 * So all that are not in use are asked something at once, and those that do not answer are given up. A connection is
 * kept for a second, or the pool would lend the same one again.
 */
const lookThrough = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  // Not those of whoever waited: a transaction may be among them.
  const surroundings = yield* Effect.context<never>()
  let isAtIt = false
  const one = Effect.scoped(
    Effect.flatMap(sql.reserve, (connection) =>
      Effect.andThen(connection.executeUnprepared("SELECT 1", [], undefined), Effect.never))
  )
  const all = Effect.forEach(
    Array.from({ length: maxConnections(sql) }, () => Effect.ignoreCause(Effect.timeoutOption(one, soon))),
    (looked) => looked,
    { discard: true, concurrency: "unbounded" }
  )
  return Effect.suspend(() => {
    if (isAtIt) return Effect.void
    isAtIt = true
    return Effect.ensuring(all, Effect.sync(() => {
      isAtIt = false
    })).pipe(Effect.updateContext((_: Context.Context<never>) => surroundings))
  })
})

const bounded = Effect.fnUntraced(function*(client: SqlClient.SqlClient, now: () => Duration.Duration) {
  const sql = client.withoutTransforms()
  const bound = bounding(now, yield* Effect.scope, yield* lookThrough(sql))
  const any = boundedConnection(bound, anyOf(sql))
  const made = yield* SqlClient.make({
    acquirer: Effect.succeed(any),
    borrower: (use) => use(any),
    transactionAcquirer: Effect.map(bound(sql.reserve), (connection) => boundedConnection(bound, connection)),
    // Whoever has begun a transaction, and by whichever client: what belongs to it finds it.
    transactionService: sql.transactionService,
    prepareTransactionControls: true,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    commit,
    compiler,
    driver: sql.driver,
    spanAttributes: spanAttributes(sql)
  })
  // How large a row may be is asked of it.
  return isPostgres(sql) ? Object.assign(made, { config: sql.config }) : made
})

/** Postgres says `ROLLBACK` where it was to commit a transaction in which a statement has failed. */
const commit = (connection: Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) => {
    if (!Predicate.hasProperty(result, "command") || result.command !== "ROLLBACK") return Effect.void
    const message = "The transaction was rolled back, since a statement in it had failed"
    return Effect.fail(
      new SqlError.SqlError({
        reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "commit" })
      })
    )
  })

/**
 * Gives a layer the same SQL client, whose statements on Postgres fail after 5 seconds without an answer; after a
 * minute while the layer is made. They may be carried out all the same. On other databases it is the very same client.
 *
 * @since 0.2.0
 */
export const within = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R | SqlClient.SqlClient> =>
  Layer.unwrap(Effect.sync(() => {
    let longest = longestStart
    const client = Layer.effect(
      SqlClient.SqlClient,
      Effect.flatMap(SqlClient.SqlClient, (client) =>
        client.onDialectOrElse({
          pg: () =>
            Effect.provideServiceEffect(bounded(client, () => longest), Reactivity.Reactivity, Reactivity.make),
          orElse: () => Effect.succeed(client)
        }))
    )
    return layer.pipe(
      Layer.tap(() => Effect.sync(() => {
        longest = limit
      })),
      Layer.provide(client)
    )
  }))
