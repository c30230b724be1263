import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Failure from "../src/internal/failure.ts"
import * as Place from "../src/internal/place.ts"
import { nobody, runChild } from "./ChildProcess.ts"
import * as TempDatabase from "./TempDatabase.ts"

const table = Effect.fnUntraced(function*(filename: string) {
  const sql = yield* TempDatabase.client({ filename })
  yield* sql`CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, body BLOB)`
  return sql
})

describe("opening", () => {
  const failsToOpen = Effect.fnUntraced(function*(filename: string, readonly = false) {
    const failure = yield* Effect.flip(TempDatabase.client({ filename, readonly }))
    assert.strictEqual(failure._tag, "SqlError")
    assert.strictEqual(failure.reason.operation, "open")
    assert.include(failure.message, filename)
    return failure
  })

  it.effect("a directory", () =>
    Effect.gen(function*() {
      const failure = yield* failsToOpen(yield* TempDatabase.directory)
      assert.strictEqual(failure.reason._tag, "ConnectionError")
      assert.include(failure.message, "is a directory")
    }))

  it.effect("a file in a directory that does not exist", () =>
    Effect.gen(function*() {
      const failure = yield* failsToOpen(join(yield* TempDatabase.directory, "missing", "db.sqlite"))
      assert.strictEqual(failure.reason._tag, "ConnectionError")
      assert.include(failure.message, "not an existing directory")
    }))

  it.effect("a file below another file", () =>
    Effect.gen(function*() {
      const file = yield* TempDatabase.file
      writeFileSync(file, "")
      const failure = yield* failsToOpen(join(file, "db.sqlite"))
      assert.include(failure.message, "not an existing directory")
    }))

  it.effect("a missing file, read-only", () =>
    Effect.gen(function*() {
      const failure = yield* failsToOpen(yield* TempDatabase.file, true)
      assert.include(failure.message, "does not exist")
    }))

  for (const readonly of [false, true]) {
    it.effect(`a text file${readonly ? ", read-only" : ""}`, () =>
      Effect.gen(function*() {
        const filename = yield* TempDatabase.file
        writeFileSync(filename, "this is not a database\n".repeat(100))
        const failure = yield* failsToOpen(filename, readonly)
        assert.include(failure.message, "not a SQLite database")
      }))
  }

  it.effect("a name with a NUL in it", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(TempDatabase.client({ filename: "a\0b" }))
      assert.include(failure.message, "null bytes")
    }))

  it.effect("with a busy timeout SQLite would clamp", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(TempDatabase.client({ busyTimeout: "Infinity" }))
      assert.include(failure.message, "busyTimeout")
    }))

  for (const journal of ["wal", "delete"]) {
    it.effect(`a file the process may not write, in ${journal} mode`, () =>
      Effect.gen(function*() {
        const filename = yield* TempDatabase.file
        const db = new DatabaseSync(filename)
        db.exec(`PRAGMA journal_mode = ${journal}`)
        db.exec("CREATE TABLE t (x)")
        db.close()
        // SQLite can read a WAL database only where it can create its shared-memory file.
        chmodSync(dirname(filename), 0o777)
        chmodSync(filename, 0o444)
        const { code, output } = yield* runChild("open.ts", [filename], nobody)
        assert.strictEqual(code, 1, output)
        assert.include(output, "SqlError")
        assert.include(output, `the database is read-only: ${filename} may not be written`)
        // A log that was left here would have the modes of the file, and keep out whoever comes when it has others.
        assert.deepStrictEqual(readdirSync(dirname(filename)), [basename(filename)])
        chmodSync(filename, 0o666)
        assert.strictEqual((yield* runChild("open.ts", [filename], nobody)).code, 0)
      }))
  }

  it.effect("a file with a log that the process may not write names the log", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const db = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(filename)),
        (db) => Effect.sync(() => db.close())
      )
      db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
      chmodSync(dirname(filename), 0o777)
      chmodSync(filename, 0o666)
      chmodSync(`${filename}-shm`, 0o666)
      chmodSync(`${filename}-wal`, 0o444)
      const { code, output } = yield* runChild("open.ts", [filename], nobody)
      assert.strictEqual(code, 1, output)
      assert.include(output, `${filename}-wal may not be written`)
    }))
})

describe("opening a file that is not in WAL mode yet", () => {
  const locked = Effect.gen(function*() {
    const filename = yield* TempDatabase.file
    const holder = new DatabaseSync(filename)
    holder.exec("CREATE TABLE t (x)")
    holder.exec("BEGIN IMMEDIATE")
    return { filename, holder }
  })

  it.effect("waits for another connection's lock", () =>
    Effect.gen(function*() {
      const { filename, holder } = yield* locked
      const opening = yield* Effect.forkScoped(TempDatabase.client({ filename }), { startImmediately: true })
      assert.isUndefined(opening.pollUnsafe(), "the first attempt found the lock")
      holder.close()
      const sql = yield* Fiber.join(opening)
      assert.deepStrictEqual(yield* sql`PRAGMA journal_mode`.values, [["wal"]])
    }))

  it.effect("gives up after the busy timeout", () =>
    Effect.gen(function*() {
      const { filename, holder } = yield* locked
      const failure = yield* Effect.flip(TempDatabase.client({ filename, busyTimeout: "20 millis" }))
      assert.strictEqual(failure.reason._tag, "LockTimeoutError")
      assert.include(failure.message, filename)
      holder.close()
    }))
})

describe("running", () => {
  it.effect("reports a lock held by another connection", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      yield* table(filename)
      const waiting = yield* TempDatabase.client({ filename, busyTimeout: "20 millis" })
      const holder = new DatabaseSync(filename)
      holder.exec("BEGIN IMMEDIATE")
      const failure = yield* Effect.flip(waiting`INSERT INTO t (name) VALUES ('a')`)
      assert.strictEqual(failure.reason._tag, "LockTimeoutError")
      assert.isTrue(failure.isRetryable)
      assert.include(failure.message, "another connection held its lock for longer than the busy timeout")
      holder.exec("ROLLBACK")
      holder.close()
      yield* waiting`INSERT INTO t (name) VALUES ('a')`
    }))

  it.effect("opens while another connection holds the write lock", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      yield* table(filename)
      const holder = new DatabaseSync(filename)
      holder.exec("BEGIN IMMEDIATE")
      const sql = yield* TempDatabase.client({ filename, busyTimeout: 0 })
      assert.deepStrictEqual(yield* sql`SELECT * FROM t`, [])
      holder.close()
    }))

  it.effect("reports a full database and goes on reading", () =>
    Effect.gen(function*() {
      const sql = yield* table(yield* TempDatabase.file)
      yield* sql`PRAGMA max_page_count = 8`
      const failure = yield* Effect.flip(
        sql.withTransaction(sql`INSERT INTO t (name, body) VALUES ('a', zeroblob(1000000))`)
      )
      assert.include(failure.message, "the database is full")
      assert.deepStrictEqual(yield* sql`SELECT * FROM t`, [])
      yield* sql`INSERT INTO t (name) VALUES ('small')`
    }))

  it.effect("reports a write through a read-only client", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      yield* table(filename)
      const sql = yield* TempDatabase.client({ filename, readonly: true })
      assert.deepStrictEqual(yield* sql.withTransaction(sql`SELECT * FROM t`), [])
      const failure = yield* Effect.flip(sql`INSERT INTO t (name) VALUES ('a')`)
      assert.include(failure.message, "the database is read-only")
    }))

  it.effect("reports a corrupt file", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* table(filename)
        for (let i = 0; i < 50; i++) yield* sql`INSERT INTO t (name, body) VALUES (${`n${i}`}, zeroblob(1000))`
      }))
      const descriptor = openSync(filename, "r+")
      writeSync(descriptor, new Uint8Array(4096 * 4).fill(0xa5), 0, 4096 * 4, 4096)
      closeSync(descriptor)
      const sql = yield* TempDatabase.client({ filename })
      const failure = yield* Effect.flip(sql`SELECT count(*) FROM t WHERE body IS NOT NULL`)
      assert.include(failure.message, "the database file is corrupt")
      assert.isFalse(failure.isRetryable)
    }))

  it.effect("tells constraint violations apart", () =>
    Effect.gen(function*() {
      const sql = yield* table(yield* TempDatabase.file)
      yield* sql`INSERT INTO t (id, name) VALUES (1, 'a')`
      const duplicateKey = yield* Effect.flip(sql`INSERT INTO t (id, name) VALUES (1, 'b')`)
      assert.deepInclude(duplicateKey.reason, { _tag: "UniqueViolation", constraint: "t.id" })
      const duplicateName = yield* Effect.flip(sql`INSERT INTO t (id, name) VALUES (2, 'a')`)
      assert.deepInclude(duplicateName.reason, { _tag: "UniqueViolation", constraint: "t.name" })
      const missing = yield* Effect.flip(sql`INSERT INTO t (id) VALUES (3)`)
      assert.strictEqual(missing.reason._tag, "ConstraintError")
      assert.include(missing.message, "NOT NULL constraint failed: t.name")
    }))

  it.effect("reports bad SQL as an error, prepared or not", () =>
    Effect.gen(function*() {
      const sql = yield* TempDatabase.client()
      for (const run of [sql`SELEC 1`, sql`SELEC 1`.unprepared, sql`SELEC 1`.valuesUnprepared, sql`SELEC 1`.raw]) {
        assert.include((yield* Effect.flip(run)).message, "syntax error")
      }
      assert.include((yield* Effect.flip(sql.unsafe("SELECT '\ud800'"))).message, "lone surrogate")
    }))
})

describe("the place of a database", () => {
  const opened = Effect.gen(function*() {
    const filename = yield* TempDatabase.file
    const db = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(filename)),
      (db) => Effect.sync(() => db.close())
    )
    db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
    let now = 0
    const place = Place.make(db, filename, () => now)
    const check = (after: number) => {
      now += after
      place.check()
    }
    return { filename, db, check }
  })

  for (const name of ["", "-wal"]) {
    it.effect(`is noticed to be empty, then taken, then right again: the file${name}`, () =>
      Effect.gen(function*() {
        const { check, filename } = yield* opened
        const file = filename + name
        check(1_000)
        renameSync(file, `${file}.away`)
        check(999)
        assert.throws(() => check(1), `${file} was deleted or moved while it was in use`)
        assert.throws(() => check(0), "deleted or moved")
        writeFileSync(file, "")
        assert.throws(() => check(1_000), `${file} was replaced while it was in use`)
        unlinkSync(file)
        renameSync(`${file}.away`, file)
        check(1_000)
      }))
  }

  it.effect("is not the one that a link leads to any more", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const link = `${filename}.link`
      symlinkSync(filename, link)
      const db = yield* Effect.acquireRelease(
        Effect.sync(() => new DatabaseSync(link)),
        (db) => Effect.sync(() => db.close())
      )
      let now = 0
      const place = Place.make(db, link, () => now += 1_000)
      place.check()
      unlinkSync(link)
      writeFileSync(`${filename}.other`, "")
      symlinkSync(`${filename}.other`, link)
      assert.throws(() => place.check(), `${link} was replaced while it was in use`)
      unlinkSync(link)
      symlinkSync(filename, link)
      place.check()
    }))

  it.effect("is looked after by every statement but those of a transaction that has begun", () =>
    Effect.gen(function*() {
      const { check, db, filename } = yield* opened
      unlinkSync(filename)
      db.exec("BEGIN IMMEDIATE")
      check(1_000)
      db.exec("ROLLBACK")
      assert.throws(() => check(0), "deleted or moved")
    }))

  it.effect("in memory is none", () =>
    Effect.sync(() => {
      let now = 0
      Place.make(new DatabaseSync(":memory:"), ":memory:", () => now += 5_000).check()
    }))

  it.effect("fails a statement as a lost connection", () =>
    Effect.sync(() => {
      const error = Failure.fromCause(new Place.Misplaced("x was replaced"), "execute")
      assert.deepStrictEqual([error.reason._tag, error.message], ["ConnectionError", "SQLite execute: x was replaced"])
    }))
})

describe("a damaged file", () => {
  it.effect("is named, with what to do", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const sql = yield* TempDatabase.client({ filename })
      yield* sql`CREATE TABLE t (x TEXT)`
      for (let n = 0; n < 50; n++) yield* sql`INSERT INTO t VALUES (${"x".repeat(3_000)})`
      yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
      const bytes = readFileSync(filename)
      const handle = openSync(filename, "r+")
      writeSync(handle, Buffer.alloc(bytes.length - 8_192, 0xff), 0, bytes.length - 8_192, 8_192)
      closeSync(handle)
      const other = yield* TempDatabase.client({ filename })
      const failure = yield* Effect.flip(other`SELECT count(*), max(x) FROM t`)
      assert.include(failure.message, filename)
      assert.include(failure.message, ".recover")
    }))
})
