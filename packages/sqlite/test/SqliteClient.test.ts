import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, DateTime, Deferred, Effect, Exit, Fiber, Layer, Schema, Stream, Tracer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { existsSync, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as TempDatabase from "./TempDatabase.ts"

const counter = Effect.fnUntraced(function*(config: Partial<SqliteClient.SqliteClientConfig> = {}) {
  const sql = yield* TempDatabase.client(config)
  yield* sql`CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)`
  yield* sql`INSERT INTO counter VALUES (1, 0)`
  const bump = sql`UPDATE counter SET n = n + 1`
  const read = Effect.map(sql<{ n: number }>`SELECT n FROM counter`, (rows) => rows[0]?.n)
  return { sql, bump, read }
})

const pragma = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, name: string) {
  const rows = yield* sql.unsafe(`PRAGMA ${name}`).values
  return rows[0]?.[0]
})

describe("queries", () => {
  it.effect("inserts, reads, updates and deletes", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      yield* sql`CREATE TABLE note (id TEXT PRIMARY KEY, body TEXT)`
      const inserted = yield* sql`INSERT INTO note ${sql.insert([{ id: "a", body: "1" }, { id: "b", body: "2" }])}`
      assert.deepStrictEqual(inserted, [])
      const updated = yield* sql`UPDATE note SET ${sql.update({ body: "3" })} WHERE id = ${"a"} RETURNING *`
      assert.deepStrictEqual(updated.map((row) => ({ ...row })), [{ id: "a", body: "3" }])
      assert.deepStrictEqual(yield* sql`SELECT id, body FROM note ORDER BY id`.values, [["a", "3"], ["b", "2"]])
      const deleted = yield* sql`DELETE FROM note WHERE id IN ${sql.in(["a", "b"])}`.raw
      assert.deepInclude(deleted, { changes: 2 })
      assert.deepStrictEqual(yield* sql`SELECT * FROM note`, [])
    }))

  it.effect("renames columns both ways, and not when asked not to", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client({
        transformQueryNames: (name) => name.toLowerCase(),
        transformResultNames: (name) => name.toUpperCase()
      })
      yield* sql`CREATE TABLE t (${sql("NAME")} TEXT)`
      yield* sql`INSERT INTO t ${sql.insert({ NAME: "x" })}`
      assert.deepStrictEqual(yield* sql`SELECT * FROM t`, [{ NAME: "x" }])
      assert.deepStrictEqual((yield* sql`SELECT * FROM t`.withoutTransform).map((row) => ({ ...row })), [{ name: "x" }])
    }))

  it.effect("executes a text that is known, in whatever transaction it is asked for", () =>
    Effect.gen(function*() {
      const { read, sql } = yield* counter({ transformResultNames: (name) => name.toUpperCase() })
      const add = (n: number) => sql.executeValues("UPDATE counter SET n = n + ? RETURNING n", [n])
      assert.deepStrictEqual(yield* add(2), [[2]])
      yield* Effect.exit(sql.withTransaction(Effect.andThen(add(3), Effect.fail("no"))))
      assert.deepStrictEqual(yield* add(0), [[2]])
      const failure = yield* Effect.flip(sql.executeValues("SELECT nothing", []))
      assert.deepStrictEqual(failure.reason._tag, (yield* Effect.flip(sql.unsafe("SELECT nothing"))).reason._tag)
      assert.isUndefined(yield* read)
    }))

  it.effect("executes within a span where there is a tracer", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Effect.provideService(sql.executeValues("SELECT ? AS one", [1]), Tracer.Tracer, tracer)
      assert.deepStrictEqual(spans.map(({ attributes }) => attributes.get("db.query.text")), ["SELECT ? AS one"])
    }))

  it.effect("streams rows, holding the connection until the stream ends", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      const rows = sql<{ i: number }>`WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s LIMIT 1000)
        SELECT i FROM s`.stream
      const writer = yield* Deferred.make<Fiber.Fiber<unknown, unknown>>()
      const seen = yield* rows.pipe(
        Stream.tap(({ i }) =>
          i !== 1
            ? Effect.void
            : Effect.flatMap(Effect.forkDetach(bump, { startImmediately: true }), (f) => Deferred.succeed(writer, f))
        ),
        Stream.runFold(() => 0, (sum, { i }) => sum + i)
      )
      assert.strictEqual(seen, 500_500)
      yield* Fiber.join(yield* Deferred.await(writer))
      assert.strictEqual(yield* read, 1)
      const few = yield* Stream.runCollect(Stream.take(rows, 3))
      assert.deepStrictEqual(few.map(({ i }) => i), [1, 2, 3])
      assert.strictEqual(yield* read, 1, "an abandoned stream gives the connection back")
    }))

  it.effect("refuses a second statement in one text instead of dropping it", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      const failure = yield* Effect.flip(sql.unsafe("CREATE TABLE a (x); CREATE TABLE b (x)"))
      assert.include(failure.message, "more than one statement")
      assert.deepStrictEqual(yield* sql`SELECT name FROM sqlite_master`, [])
      assert.deepStrictEqual(yield* sql.unsafe("SELECT 1 ; -- done\n /* really */ ;").values, [[1]])
    }))
})

describe("values", () => {
  const roundTrip = Effect.fnUntraced(function*(value: unknown) {
    const sql = yield* TempDatabase.client({ filename: ":memory:" })
    yield* sql`CREATE TABLE v (x)`
    yield* sql`INSERT INTO v VALUES (${value})`
    return (yield* sql`SELECT x FROM v`.values)[0]?.[0]
  })

  it.effect("gives back exactly what was stored", () =>
    Effect.gen(function*() {
      const exact = ["", "é😀\u200b\u{10ffff}", "a\0b", 0, -1, 1.5, 2 ** 53 - 1, -(2 ** 53 - 1), 1e308, Infinity, null]
      for (const value of exact) assert.strictEqual(yield* roundTrip(value), value)
      const bytes = new Uint8Array([0, 255, 10])
      assert.deepStrictEqual(yield* roundTrip(bytes), bytes)
      assert.deepStrictEqual(yield* roundTrip(new Uint8Array()), new Uint8Array())
      assert.deepStrictEqual(yield* roundTrip(new Int8Array([-1])), new Uint8Array([255]))
      assert.deepStrictEqual(yield* Effect.all([roundTrip(true), roundTrip(false), roundTrip(undefined)]), [1, 0, null])
    }))

  it.effect.prop("gives back any well-formed text", { text: Schema.String }, ({ text }) =>
    Effect.gen(function*() {
      const result = yield* Effect.exit(roundTrip(text))
      if (text.isWellFormed()) assert.deepStrictEqual(result, Exit.succeed(text))
      else assert.isTrue(Exit.isFailure(result))
    }))

  it.effect("refuses what it would have to change, and says which parameter", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [unknown, string]> = [
        ["a\ud800", "Parameter 1 holds a lone surrogate"],
        [Number.NaN, "Parameter 1 is NaN"],
        [2n ** 63n, "Parameter 1 does not fit a 64-bit signed integer"],
        [DateTime.toDateUtc(DateTime.makeUnsafe(0)), "Parameter 1 is a Date"],
        [{ a: 1 }, "Parameter 1 is a Object"],
        [Object.create(null), "Parameter 1 is a Object"],
        [() => 1, "Parameter 1 is a function"]
      ]
      for (const [value, message] of cases) {
        const failure = yield* Effect.flip(roundTrip(value))
        assert.strictEqual(failure._tag, "SqlError")
        assert.include(failure.message, message)
      }
    }))

  it.effect("reads integers beyond 2^53 as bigint when asked to, and never rounds them", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      yield* sql`CREATE TABLE v (x INTEGER)`
      yield* sql`INSERT INTO v VALUES (${9007199254740993n})`
      const read = Effect.map(sql<{ x: unknown }>`SELECT x FROM v`, (rows) => rows[0]?.x)
      assert.include((yield* Effect.flip(read)).message, "SafeIntegers")
      assert.strictEqual(yield* Effect.provideService(read, SqlClient.SafeIntegers, true), 9007199254740993n)
      assert.include((yield* Effect.flip(read)).message, "SafeIntegers", "the flag does not stick to the statement")
    }))
})

describe("transactions", () => {
  it.effect("commits, and rolls back on failure", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      yield* sql.withTransaction(bump)
      assert.strictEqual(yield* read, 1)
      const exit = yield* Effect.exit(sql.withTransaction(Effect.andThen(bump, Effect.fail("no"))))
      assert.deepStrictEqual(exit, Exit.fail("no"))
      assert.strictEqual(yield* read, 1)
    }))

  it.effect("rolls back a nested part alone", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* bump
        yield* Effect.ignore(sql.withTransaction(Effect.andThen(bump, Effect.fail("no"))))
        yield* sql.withTransaction(bump)
      }))
      assert.strictEqual(yield* read, 2)
    }))

  it.effect("rolls back when interrupted, and is usable afterwards", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      const started = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        sql.withTransaction(Effect.andThen(Effect.andThen(bump, Deferred.succeed(started, undefined)), Effect.never))
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* read, 0)
      yield* sql.withTransaction(bump)
      assert.strictEqual(yield* read, 1)
    }))

  it.effect("keeps other fibers' statements out of an open transaction", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      const outsider = yield* sql.withTransaction(Effect.gen(function*() {
        yield* bump
        // A root fiber: a child would inherit the transaction.
        const fiber = yield* Effect.sync(() => Effect.runFork(read))
        yield* Effect.yieldNow
        assert.isUndefined(fiber.pollUnsafe(), "the outsider waits for the commit")
        return fiber
      }))
      assert.strictEqual(yield* Fiber.join(outsider), 1)
    }))

  it.effect("takes the write lock when it begins", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const { sql } = yield* counter({ filename })
      const other = yield* TempDatabase.client({ filename, busyTimeout: 0 })
      yield* sql.withTransaction(Effect.gen(function*() {
        const failure = yield* Effect.flip(other.withTransaction(Effect.void))
        assert.strictEqual(failure.reason._tag, "LockTimeoutError")
      }))
      yield* other.withTransaction(Effect.void)
    }))

  it.effect("is usable after a commit that failed", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      yield* sql`CREATE TABLE child (p INTEGER REFERENCES counter (id) DEFERRABLE INITIALLY DEFERRED)`
      const failure = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO child VALUES (99)`))
      assert.strictEqual(failure.reason._tag, "ConstraintError")
      yield* bump
      assert.strictEqual(yield* read, 1)
    }))
})

describe("settings", () => {
  it.effect("are in force on the connection", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client({ busyTimeout: "1234 millis", synchronous: "NORMAL" })
      assert.strictEqual(yield* pragma(sql, "journal_mode"), "wal")
      assert.strictEqual(yield* pragma(sql, "busy_timeout"), 1234)
      assert.strictEqual(yield* pragma(sql, "synchronous"), 1)
      assert.strictEqual(yield* pragma(sql, "foreign_keys"), 1)
      assert.strictEqual(yield* pragma(sql, "journal_size_limit"), 16 * 1024 * 1024)
      assert.strictEqual(sql.config.synchronous, "NORMAL")
      assert.strictEqual(sql.driver, "sqlite-node")
    }))

  it.effect("default to waiting 5 s and to surviving a power loss", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      assert.strictEqual(yield* pragma(sql, "busy_timeout"), 5000)
      assert.strictEqual(yield* pragma(sql, "synchronous"), 2)
    }))

  it.effect("come from Config too", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const layer = SqliteClient.layerConfig({ filename: Config.String("DB") }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DB: filename })))
      )
      const config = yield* Effect.provide(Effect.map(SqliteClient.SqliteClient, (sql) => sql.config), layer)
      assert.strictEqual(config.filename, filename)
    }))

  it.effect("leave no write-ahead log behind that a reader no longer needs", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const sql = yield* TempDatabase.client({ filename, synchronous: "NORMAL" })
      yield* sql`CREATE TABLE t (x BLOB)`
      const write = sql`INSERT INTO t VALUES (zeroblob(1000000))`
      const reader = new DatabaseSync(filename)
      reader.exec("BEGIN")
      reader.prepare("SELECT count(*) FROM t").get()
      for (let i = 0; i < 40; i++) yield* write
      assert.isAbove(statSync(`${filename}-wal`).size, 30_000_000, "an open reader holds the log back")
      reader.close()
      for (let i = 0; i < 20; i++) yield* write
      assert.isAtMost(statSync(`${filename}-wal`).size, 17_000_000)
    }))
})

describe("between two calls", () => {
  // TRUNCATE is refused as busy while any connection still reads the log.
  const checkpointIsFree = (filename: string) =>
    Effect.sync(() => {
      const other = new DatabaseSync(filename)
      const row = other.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
      other.close()
      return row?.["busy"] === 0
    })

  it.effect("no statement stays open, after success, failure or an abandoned stream", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const { bump, read, sql } = yield* counter({ filename })
      assert.strictEqual(yield* read, 0)
      yield* sql`INSERT INTO counter VALUES (2, ${9007199254740993n}), (3, 0)`
      assert.isTrue(yield* checkpointIsFree(filename))
      assert.include((yield* Effect.flip(sql`SELECT * FROM counter`)).message, "SafeIntegers")
      assert.isTrue(yield* checkpointIsFree(filename))
      yield* sql`UPDATE counter SET n = 0`
      // More rows than a stream reads ahead, or the statement would have ended by itself.
      yield* Effect.forEach(Array.from({ length: 1000 }, (_, i) => i + 10), (id) =>
        sql`INSERT INTO counter VALUES (${id}, 0)`, { discard: true })
      const ids = sql`SELECT id FROM counter`.stream
      yield* bump
      yield* Effect.scoped(Effect.gen(function*() {
        const pull = yield* Stream.toPull(ids)
        yield* pull
        assert.isFalse(yield* checkpointIsFree(filename), "an open stream does read the log")
      }))
      assert.isTrue(yield* checkpointIsFree(filename))
      const failing = Stream.mapEffect(ids, () => Effect.fail("stop"))
      assert.strictEqual(yield* Effect.flip(Stream.runDrain(failing)), "stop")
      assert.isTrue(yield* checkpointIsFree(filename))
    }))

  it.effect("a reservation keeps other fibers out", () =>
    Effect.gen(function*() {
      const { bump, read, sql } = yield* counter()
      const fiber = yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* sql.reserve
        const fiber = yield* Effect.forkDetach(bump, { startImmediately: true })
        yield* Effect.yieldNow
        assert.deepStrictEqual(yield* connection.executeValues("SELECT n FROM counter", []), [[0]])
        return fiber
      }))
      yield* Fiber.join(fiber)
      assert.strictEqual(yield* read, 1)
    }))
})

describe("life cycle", () => {
  it.effect("closes the file with the scope", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const escaped = yield* Effect.scoped(Effect.gen(function*() {
        const { sql } = yield* counter({ filename })
        assert.isTrue(existsSync(`${filename}-wal`))
        return sql
      }))
      assert.isFalse(existsSync(`${filename}-wal`), "the last connection to close removes the log")
      const failure = yield* Effect.flip(escaped`SELECT 1`)
      assert.strictEqual(failure.reason._tag, "ConnectionError")
      assert.include(failure.message, "closed")
    }))

  it.effect("exports and backs up what is committed", () =>
    Effect.gen(function*() {
      const { bump, sql } = yield* counter()
      yield* bump
      const destination = yield* TempDatabase.file
      assert.isAbove((yield* sql.backup(destination)).totalPages, 0)
      const copy = yield* TempDatabase.client({ filename: destination })
      assert.deepStrictEqual(yield* copy`SELECT n FROM counter`.values, [[1]])
      assert.deepStrictEqual((yield* sql.export).subarray(0, 15), new TextEncoder().encode("SQLite format 3"))
    }))

  it.effect("loads no extension that does not exist, and lets SQL load none", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      assert.include((yield* Effect.flip(sql.loadExtension("./none"))).message, "loadExtension")
      assert.include((yield* Effect.flip(sql`SELECT load_extension('./none')`)).message, "not authorized")
    }))

  it.effect("makes a client from a scope", () =>
    Effect.gen(function*() {
      const sql = yield* SqliteClient.make({ filename: ":memory:" }).pipe(Effect.provide(Reactivity.layer))
      assert.deepStrictEqual(yield* sql`SELECT 1`.values, [[1]])
    }))
})
