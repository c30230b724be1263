/** Statements on Postgres that are never answered, without a Postgres. */
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Context, type Duration, Effect, Fiber, Layer, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, SqlError, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import * as boundedSql from "../src/internal/boundedSql.ts"
import { settle } from "./TestTools.ts"

/** Where statements go: some are answered, some never. */
interface Wire {
  /** Whether a statement is not answered from now on. */
  silences: (text: string) => boolean
  /** How long it takes to answer one. */
  delay: Duration.Input
  /** How long it takes to give one up. */
  drain: Duration.Input
  readonly sent: Array<string>
  readonly interrupted: Array<string>
  lent: number
}

const makeWire = (): Wire => ({ silences: () => false, delay: 0, drain: 0, sent: [], interrupted: [], lent: 0 })

const connection = (wire: Wire): SqlConnection.Connection => {
  const answer = (text: string): Effect.Effect<ReadonlyArray<never>> =>
    Effect.suspend(() => {
      wire.sent.push(text.trim().split(/\s+/).slice(0, 2).join(" "))
      if (!wire.silences(text)) return Effect.delay(Effect.succeed([]), wire.delay)
      return Effect.onInterrupt(Effect.never, () =>
        Effect.andThen(Effect.sleep(wire.drain), Effect.sync(() => wire.interrupted.push(text))))
    })
  return {
    execute: answer,
    executeRaw: answer,
    executeStream: () => {
      throw new Error("nobody streams")
    },
    executeValues: answer,
    executeValuesUnprepared: answer,
    executeUnprepared: answer
  }
}

const compiler = Statement.makeCompiler<never>({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: Statement.defaultEscape(`"`),
  onRecordUpdate: () => ["", []],
  onCustom: () => ["", []]
})

const client = (wire: Wire) => {
  const lend: Effect.Effect<SqlConnection.Connection, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => {
      wire.lent++
      return connection(wire)
    }),
    () =>
      Effect.sync(() => {
        wire.lent--
      })
  )
  return Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({ acquirer: lend, compiler, driver: "test", spanAttributes: [] })
  ).pipe(Layer.provide(Layer.effect(Reactivity.Reactivity, Reactivity.make)))
}

/** Hands out the client that a layer is given. */
class Given extends Context.Service<Given, { readonly sql: SqlClient.SqlClient }>()(
  "@effect-mcp-tasks/engine/test/BoundedSql.test/Given"
) {}

/** The client that a layer is given over a wire. */
const open = (
  wire: Wire,
  start: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError> = () => Effect.void
) =>
  Effect.map(
    Layer.build(boundedSql.within(
      Layer.effect(Given, Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* start(sql)
        return { sql }
      }))
    ).pipe(Layer.provide(client(wire)))),
    (context) => Context.get(context, Given).sql
  )

const isTimeout = (error: unknown) => SqlError.isSqlError(error) && error.reason._tag === "StatementTimeoutError"

/** Waits for its end as nobody can who must not be interrupted, and says when that came, in seconds. */
const endOf = Effect.fnUntraced(function*(effect: Effect.Effect<unknown, unknown>) {
  const fiber = yield* Effect.forkChild(Effect.uninterruptible(Effect.flip(effect)))
  yield* settle
  for (let seconds = 0; seconds < 120; seconds++) {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return { seconds, error: yield* Fiber.join(fiber) }
    yield* TestClock.adjust("1 second")
    yield* settle
  }
  return assert.fail("It does not end")
})

describe("a statement on Postgres", () => {
  it.effect("that is never answered fails after five seconds, and is given up behind its back", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      const sql = yield* open(wire)
      wire.silences = (text) => text === "SELECT a"
      wire.drain = "5 seconds"
      const a = sql`SELECT a`
      for (const statement of [a, a.values, a.raw, a.unprepared, a.valuesUnprepared, a.withoutTransform]) {
        const { error, seconds } = yield* endOf(statement)
        assert.deepStrictEqual([seconds, isTimeout(error), wire.lent > 0], [5, true, true])
      }
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual([wire.interrupted.length, wire.lent], [6, 0])
    }).pipe(Effect.scoped))

  it.effect("that is answered in time is unharmed", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      const sql = yield* open(wire)
      wire.delay = "4900 millis"
      const slow = yield* Effect.forkChild(sql.withTransaction(sql`SELECT a`))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(slow), [])
      assert.deepStrictEqual([wire.sent, wire.lent], [["BEGIN", "SELECT a", "COMMIT"], 0])
    }).pipe(Effect.scoped))

  it.effect("in a transaction fails it, and whatever begins and ends the transaction is bounded too", () =>
    Effect.gen(function*() {
      for (const silent of ["BEGIN", "SELECT a", "COMMIT"]) {
        const wire = makeWire()
        const sql = yield* open(wire)
        wire.silences = (text) => text === silent
        const { error, seconds } = yield* endOf(sql.withTransaction(sql`SELECT a`))
        assert.deepStrictEqual([silent, seconds, isTimeout(error)], [silent, 5, true])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([wire.lent, wire.interrupted], [0, [silent]])
      }
    }).pipe(Effect.scoped))

  it.effect("is waited for a minute while its layer starts: it may be a migration", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      wire.silences = () => true
      const { error, seconds } = yield* endOf(Effect.scoped(open(wire, (sql) => sql`CREATE TABLE a`)))
      assert.deepStrictEqual([seconds, isTimeout(error)], [60, true])
    }).pipe(Effect.scoped))

  it.effect("that the server does not even cancel has all other connections looked at, at once", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      const sql = yield* open(wire)
      wire.silences = () => true
      wire.drain = "5 seconds"
      yield* endOf(sql`SELECT a`)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual([wire.lent, wire.sent], [11, ["SELECT a", ...Array(10).fill("SELECT 1")]])
      yield* TestClock.adjust("1 second")
      wire.silences = () => false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual([wire.lent, wire.interrupted.length], [0, 11])
    }).pipe(Effect.scoped))

  it.effect("that the server cancels has no other looked at", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      const sql = yield* open(wire)
      wire.silences = () => true
      yield* endOf(sql`SELECT a`)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([wire.lent, wire.sent], [0, ["SELECT a"]])
    }).pipe(Effect.scoped))

  it.effect("is given up with whoever waits for it", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      const sql = yield* open(wire)
      wire.silences = () => true
      const waiting = yield* Effect.forkChild(sql`SELECT a`)
      yield* settle
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual([wire.lent, wire.interrupted], [0, ["SELECT a"]])
    }).pipe(Effect.scoped))

  it.effect("finds the transaction that somebody has begun with the client itself", () =>
    Effect.gen(function*() {
      const wire = makeWire()
      const own = yield* Layer.build(client(wire))
      const raw = Context.get(own, SqlClient.SqlClient)
      const given = yield* Layer.build(boundedSql.within(
        Layer.effect(Given, Effect.map(SqlClient.SqlClient, (sql) => ({ sql })))
      ).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, raw))))
      const { sql } = Context.get(given, Given)
      yield* raw.withTransaction(sql`SELECT a`)
      assert.deepStrictEqual(wire.sent, ["BEGIN", "SELECT a", "COMMIT"])
      yield* sql.withTransaction(raw`SELECT b`)
      assert.deepStrictEqual(wire.sent.slice(3), ["BEGIN", "SELECT b", "COMMIT"])
    }).pipe(Effect.scoped))
})

describe("a statement on another database", () => {
  it.effect("goes by the very client", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(boundedSql.within(
        Layer.effect(Given, Effect.map(SqlClient.SqlClient, (sql) => ({ sql })))
      ).pipe(Layer.provideMerge(SqliteClient.layer({ filename: ":memory:" }))))
      assert.strictEqual(Context.get(context, Given).sql, Context.get(context, SqlClient.SqlClient))
    }).pipe(Effect.scoped))
})
