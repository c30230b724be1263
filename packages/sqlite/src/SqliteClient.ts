/**
 * An Effect SQL client over `node:sqlite`: one connection to one file, opened for the life of a scope.
 *
 * Guarantees:
 *
 * - A transaction that has committed survives `kill -9`, and a power loss too unless `synchronous` is `"NORMAL"`.
 * - A transaction takes the write lock when it begins, so one that reads and then writes waits for its turn instead
 *   of failing half-way with "database is locked".
 * - The settings are read back from the open connection; one that is not in force fails the layer.
 * - Every failure is a `SqlError` that says what happened. A value is stored exactly or refused.
 * - Once the file is deleted or replaced, statements fail within a second: what they wrote would be lost with the
 * handle.
 * - No statement stays open between two calls, and the write-ahead log is cut back to 16 MiB after it has grown.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as Client from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Tracer from "effect/Tracer"
import { backup as backupDatabase } from "node:sqlite"
import type { DatabaseSync } from "node:sqlite"
import * as RawConnection from "./internal/connection.ts"
import * as Exclusive from "./internal/exclusive.ts"
import * as Failure from "./internal/failure.ts"
import * as Lease from "./internal/lease.ts"
import * as Open from "./internal/open.ts"
import * as Place from "./internal/place.ts"
import * as Statements from "./internal/statements.ts"

/**
 * Identifies a `SqliteClient` at run time.
 *
 * @category type IDs
 * @since 0.1.0
 */
export const TypeId: TypeId = "~@effect-mcp-tasks/sqlite/SqliteClient"

/**
 * The type of `TypeId`.
 *
 * @category type IDs
 * @since 0.1.0
 */
export type TypeId = "~@effect-mcp-tasks/sqlite/SqliteClient"

/**
 * How to open a database.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqliteClientConfig {
  /** A path, a `file:` URI, or `:memory:`. The directory must exist. */
  readonly filename: string
  /** Opens an existing file without the right to write; default `false`. Transactions then begin as plain reads. */
  readonly readonly?: boolean | undefined
  /**
   * How long a statement waits for another connection's lock before it fails with `LockTimeoutError`; default 5 s.
   *
   * **Gotchas**
   *
   * SQLite waits on the thread, so the whole event loop waits with it.
   */
  readonly busyTimeout?: Duration.Input | undefined
  /**
   * When a commit reaches the disk; default `"FULL"`.
   *
   * **Details**
   *
   * `"FULL"` syncs the write-ahead log at each commit: what has been acknowledged survives a power loss, which is
   * also SQLite's own default. `"NORMAL"` syncs at checkpoints only: a commit still survives the death of the
   * process, by `kill -9` too, since the operating system holds the pages; a power loss or a kernel crash can take
   * back the last commits, never corrupt the file. A client that answers "stored" cannot know which of the two its
   * caller meant, so the weaker promise has to be asked for.
   *
   * **Gotchas**
   *
   * A disk that acknowledges a sync from its own volatile cache keeps neither promise. On macOS that is the normal
   * case; run `PRAGMA fullfsync = ON` there.
   */
  readonly synchronous?: "NORMAL" | "FULL" | undefined
  /**
   * Keeps the file for this process; default `false`. Opening fails with `LockTimeoutError` while another process that
   * also asked for this has the file; those that did not ask may still read and write it.
   *
   * **Details**
   *
   * A file that has another name too (a hard link) is refused: the lock and the write-ahead log go by the name, so that
   * both would be there twice.
   *
   * Waits for at most `busyTimeout`, so that a server can be replaced by its successor. The lock is on an empty file
   * beside the database, named after it with `-lock` behind; it ends with the process, by `kill -9` too. `:memory:`
   * needs none.
   */
  readonly exclusive?: boolean | undefined
  /** How many prepared statements to keep; default 200. Below 2, none is kept. */
  readonly statementCacheSize?: number | undefined
  /** Attributes added to the span of each statement. */
  readonly spanAttributes?: Record<string, unknown> | undefined
  /** Renames the columns of results, for example from snake to camel case. */
  readonly transformResultNames?: ((name: string) => string) | undefined
  /** Renames identifiers in queries, for example from camel to snake case. */
  readonly transformQueryNames?: ((name: string) => string) | undefined
}

/**
 * The size of a finished backup, in pages.
 *
 * @category models
 * @since 0.1.0
 */
export interface BackupMetadata {
  readonly totalPages: number
}

/**
 * A `SqlClient` with what only SQLite offers.
 *
 * @category models
 * @since 0.1.0
 */
export interface SqliteClient extends Client.SqlClient {
  readonly [TypeId]: TypeId
  /** What the client was opened with. */
  readonly config: SqliteClientConfig
  /** Copies the whole database into memory, in the format of a database file. */
  readonly export: Effect.Effect<Uint8Array, SqlError>
  /** Copies the database into another file while it stays open; statements wait until it is done. */
  readonly backup: (destination: string) => Effect.Effect<BackupMetadata, SqlError>
  /** Loads a native extension; SQL text itself never can. */
  readonly loadExtension: (path: string) => Effect.Effect<void, SqlError>
  /**
   * Runs one statement, with its parameters at the question marks, as `unsafe(sql, params).values` does: each row is
   * its columns, in the order of the statement.
   *
   * **When to use**
   *
   * For statements that run all the time: it makes no span where nobody traces, does not build the text each time, and
   * names no columns, which costs more than to read them.
   */
  readonly executeValues: (
    sql: string,
    params: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
  /** Not supported by SQLite. */
  readonly updateValues: never
}

/**
 * The service of the opened SQLite client.
 *
 * @category services
 * @since 0.1.0
 */
export const SqliteClient: Context.Service<SqliteClient, SqliteClient> = Context.Service<SqliteClient>(
  "@effect-mcp-tasks/sqlite/SqliteClient"
)

const spanAttributesOf = (config: SqliteClientConfig): ReadonlyArray<readonly [string, unknown]> => [
  ...Object.entries(config.spanAttributes ?? {}),
  ["db.system.name", "sqlite"]
]

const backupTo = (db: DatabaseSync, destination: string): Effect.Effect<BackupMetadata, SqlError> =>
  Effect.tryPromise({
    try: () => backupDatabase(db, destination),
    catch: (cause) => Failure.fromCause(cause, "backup", destination)
  }).pipe(
    Effect.map((totalPages) => ({ totalPages })),
    // The copy goes on in the background whatever the fiber does; the lease must last as long.
    Effect.uninterruptible
  )

const loadInto = (db: DatabaseSync, path: string): Effect.Effect<void, SqlError> =>
  Effect.acquireUseRelease(
    Effect.sync(() => db.enableLoadExtension(true)),
    () =>
      Effect.try({
        try: () => db.loadExtension(path),
        catch: (cause) => Failure.fromCause(cause, "loadExtension", path)
      }),
    () => Effect.sync(() => db.enableLoadExtension(false))
  )

/**
 * Opens a database for the life of the scope.
 *
 * **Details**
 *
 * The file is put in WAL mode (a database in memory is not), foreign keys are enforced, and transactions start with
 * `BEGIN IMMEDIATE`. Booleans are bound as 1 and 0, `undefined` as NULL; a `Date`, NaN, a lone surrogate or an
 * integer beyond 64 bits is refused. Integers are read as `number` and fail beyond 2^53 - 1, unless
 * `SqlClient.SafeIntegers` is provided as `true`, which reads all of them as `bigint`.
 *
 * **Gotchas**
 *
 * One SQL text is one statement: a second one after a semicolon is refused. A `number` is bound as SQLite REAL and
 * takes the affinity of its column, so a text column would hold `5.0`. An open stream leases the connection until
 * its scope closes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(config: SqliteClientConfig): Effect.fn.Return<
  SqliteClient,
  SqlError,
  Scope.Scope | Reactivity.Reactivity
> {
  const readonly = config.readonly ?? false
  const busyTimeoutMillis = yield* Open.resolveTimeout(Duration.fromInputUnsafe(config.busyTimeout ?? "5 seconds"))
  const synchronous = config.synchronous ?? "FULL"
  const db = yield* Open.open({ filename: config.filename, readonly, busyTimeoutMillis, synchronous })
  if (config.exclusive === true) yield* Exclusive.hold(db, busyTimeoutMillis)
  const place = Place.make(db, config.filename)
  const opened = { db, place, statements: Statements.make(db, config.statementCacheSize ?? 200) }
  const lease = Lease.make(opened)
  const values = RawConnection.valuesOf(opened)

  const client = yield* Client.make({
    ...lease,
    compiler: Statement.makeCompilerSqlite(config.transformQueryNames),
    driver: "sqlite-node",
    prepareTransactionControls: true,
    beginTransaction: readonly ? "BEGIN" : "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: spanAttributesOf(config),
    transformRows: config.transformResultNames && Statement.defaultTransforms(config.transformResultNames).array
  })
  const plain = client.withoutTransforms()
  const exclusively = <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.scoped(Effect.andThen(lease.acquirer, effect))

  return Object.assign(client as SqliteClient, {
    [TypeId]: TypeId,
    config,
    executeValues: (text: string, params: ReadonlyArray<unknown>) =>
      Effect.withFiber((fiber): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError> => {
        // Effect's own tracer shows its spans to nobody.
        const isTraced = fiber.getRef(Tracer.Tracer) !== Tracer.nativeTracer
        if (isTraced || fiber.getRef(Statement.CurrentTransformer) !== undefined) {
          return plain.unsafe(text, params).values
        }
        const transaction = Context.getOrUndefined(fiber.context, client.transactionService)
        return transaction === undefined
          ? lease.take(values(text, params), fiber)
          : transaction[0].executeValues(text, params)
      }),
    export: exclusively(
      Effect.try({ try: () => db.serialize(), catch: (cause) => Failure.fromCause(cause, "export") })
    ),
    backup: (destination: string) => exclusively(backupTo(db, destination)),
    loadExtension: (path: string) => exclusively(loadInto(db, path))
  })
})

const toContext = (client: SqliteClient): Context.Context<SqliteClient | Client.SqlClient> =>
  Context.make(SqliteClient, client).pipe(Context.add(Client.SqlClient, client))

/**
 * Provides `SqliteClient` and `SqlClient` over a database file.
 *
 * **Example** (A database whose commits survive the process, but not the power)
 *
 * ```ts
 * import { SqliteClient } from "@effect-mcp-tasks/sqlite"
 *
 * const Live = SqliteClient.layer({ filename: "tasks.sqlite", synchronous: "NORMAL" })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (config: SqliteClientConfig): Layer.Layer<SqliteClient | Client.SqlClient, SqlError> =>
  Layer.effectContext(Effect.map(make(config), toContext)).pipe(Layer.provide(Reactivity.layer))

/**
 * Provides `SqliteClient` and `SqlClient` with settings read from the program's `Config`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Wrap<SqliteClientConfig>
): Layer.Layer<SqliteClient | Client.SqlClient, SqlError | Config.ConfigError> =>
  Layer.effectContext(Effect.map(Effect.flatMap(Config.unwrap(config), make), toContext)).pipe(
    Layer.provide(Reactivity.layer)
  )
