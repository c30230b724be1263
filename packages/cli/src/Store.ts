/**
 * Where tasks are kept, by flags: for `serve`, and for the operators' commands that look into a store.
 *
 * @since 0.2.0
 */
import * as Storage from "@effect-mcp-tasks/engine/Storage"
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as SqliteClient from "@effect-mcp-tasks/sqlite/SqliteClient"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import * as CliFailure from "./CliFailure.ts"

/**
 * The flags that name a store.
 *
 * @category flags
 * @since 0.2.0
 */
export const input = {
  store: Flag.Literals("store", ["memory", "sqlite", "redis", "postgres"]).pipe(
    Flag.withDescription("Where the tasks are kept"),
    Flag.withDefault("sqlite")
  ),
  file: Flag.String("file").pipe(
    Flag.withDescription("The file of a SQLite store"),
    Flag.withMetavar("FILE"),
    Flag.withDefault(".data/tasks.sqlite")
  ),
  redis: Flag.String("redis-url").pipe(
    Flag.withDescription("The address of a Redis store; REDIS_URL unless given"),
    Flag.withFallbackConfig(Config.String("REDIS_URL")),
    Flag.withDefault("redis://127.0.0.1:6379")
  ),
  database: Flag.Redacted("database-url").pipe(
    Flag.withDescription("The address of a Postgres store; DATABASE_URL unless given"),
    Flag.withFallbackConfig(Config.Redacted("DATABASE_URL")),
    Flag.withDefault(Redacted.make("postgres://postgres@127.0.0.1:5432/postgres"))
  )
}

/**
 * What the flags were.
 *
 * @category models
 * @since 0.2.0
 */
export interface Input {
  readonly store: "memory" | "sqlite" | "redis" | "postgres"
  readonly file: string
  readonly redis: string
  readonly database: Redacted.Redacted
}

/**
 * A store, and what tells others of changes in it.
 *
 * @category models
 * @since 0.2.0
 */
export type Store = Layer.Layer<Stored, CliFailure.CliFailure>

type Stored = TaskStore.TaskStore | TaskSignal.TaskSignal

const addresses = {
  redis: "Give the address with --redis-url or REDIS_URL, as in redis://127.0.0.1:6379",
  postgres: "Give the address with --database-url or DATABASE_URL, as in postgres://user:password@host:5432/database"
}

const unusable = (what: string, hint: string | undefined) => (error: unknown) =>
  CliFailure.usage(`${what} cannot be used: ${CliFailure.reasonOf(error)}`, hint)

const without =
  <A>(what: string, hint: string | undefined) => (error: unknown): Layer.Layer<A, CliFailure.CliFailure> =>
    Layer.unwrap(Effect.fail(unusable(what, hint)(error)))

const redisUrl = (text: string): Effect.Effect<string, CliFailure.CliFailure> => {
  const url = URL.parse(text)
  return url !== null && /^rediss?:$/.test(url.protocol)
    ? Effect.succeed(text)
    // What does not parse may still have a password in it, and is not shown.
    : Effect.fail(CliFailure.usage("That is not the address of a Redis", addresses.redis))
}

/**
 * The store that the flags name; a SQLite file for this process only, where that is asked for.
 *
 * @category constructors
 * @since 0.2.0
 */
export const of = (given: Input, { exclusive }: { readonly exclusive: boolean } = { exclusive: false }): Store => {
  switch (given.store) {
    case "memory":
      return Layer.merge(TaskStore.layerMemory, TaskSignal.layerMemory)
    case "sqlite":
      return Layer.merge(TaskStore.layerSql, TaskSignal.layerMemory).pipe(
        Layer.provide(SqliteClient.layer({ filename: given.file, exclusive })),
        Layer.catch(without<Stored>(given.file, undefined))
      )
    case "redis":
      return Layer.unwrap(Effect.map(redisUrl(given.redis), (url) =>
        Layer.merge(TaskStore.layerRedis, TaskSignal.layerRedis).pipe(
          Layer.provide(NodeRedis.layer({ url })),
          Layer.catch(without<Stored>("Redis", addresses.redis))
        )))
    case "postgres":
      return Layer.merge(TaskStore.layerSql, TaskSignal.layerPostgres).pipe(
        Layer.provide(PgClient.layer({ url: given.database })),
        Layer.catch(without<Stored>("Postgres", addresses.postgres))
      )
  }
}

/**
 * What processes share that serve on one Redis or one Postgres.
 *
 * @category constructors
 * @since 0.2.0
 */
export const shared = (
  given: Input & { readonly store: "redis" | "postgres" }
): Layer.Layer<Storage.Storage, CliFailure.CliFailure> =>
  given.store === "redis"
    ? Layer.unwrap(Effect.map(redisUrl(given.redis), (url) =>
      Storage.layerRedis.pipe(
        Layer.provide(NodeRedis.layer({ url, disableOfflineQueue: true }).pipe(Storage.closeWithin("5 seconds"))),
        Layer.catch(without<Storage.Storage>("Redis", addresses.redis))
      )))
    : Storage.layerPostgres.pipe(
      Layer.provide(PgClient.layer({ url: given.database }).pipe(Storage.closeWithin("5 seconds"))),
      Layer.catch(without<Storage.Storage>("Postgres", addresses.postgres))
    )

/** The table in which every SQL task store counts its migrations. */
const mark = "mcp_tasks_migrations"

const isStore = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql.onDialectOrElse({
    pg: () => sql`SELECT 1 WHERE to_regclass(${mark}) IS NOT NULL`,
    orElse: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${mark}`
  })
  return found.length > 0
})

const refusing = <E>(
  what: string,
  hint: string,
  client: Layer.Layer<SqlClient.SqlClient, E>
): Effect.Effect<void, CliFailure.CliFailure> =>
  isStore.pipe(
    Effect.provide(client),
    Effect.mapError(unusable(what, hint)),
    Effect.flatMap((isThere) => isThere ? Effect.void : Effect.fail(CliFailure.usage(`${what} is no task store`, hint)))
  )

/**
 * Fails unless there is a task store where the flags say: to look into one must not make one. Nothing is written.
 *
 * @category guards
 * @since 0.2.0
 */
export const mustExist = Effect.fnUntraced(function*(
  given: Input
): Effect.fn.Return<void, CliFailure.CliFailure, FileSystem.FileSystem> {
  const elsewhere = "Name another with --file, or another --store"
  switch (given.store) {
    case "memory":
      return yield* CliFailure.usage("A store in memory belongs to its server: there is nothing to see from outside")
    case "sqlite": {
      const fs = yield* FileSystem.FileSystem
      if (!(yield* Effect.orElseSucceed(fs.exists(given.file), () => false))) {
        return yield* CliFailure.usage(`There is no file ${given.file}`, elsewhere)
      }
      return yield* refusing(given.file, elsewhere, SqliteClient.layer({ filename: given.file, readonly: true }))
    }
    case "postgres":
      return yield* refusing("This Postgres", addresses.postgres, PgClient.layer({ url: given.database }))
    case "redis":
      // It has no schema that would have to be made first.
      return yield* Effect.void
  }
})

const damaged = /corrupt|malformed|not a (?:SQLite )?database/i

/**
 * What failed in a store, why, and for a damaged file what can still be done.
 *
 * @category errors
 * @since 0.2.0
 */
export const failure = ({ file, store }: Input, error: unknown): CliFailure.CliFailure => {
  if (error instanceof CliFailure.CliFailure) return error
  const reason = CliFailure.reasonOf(error)
  if (store !== "sqlite") return CliFailure.usage(reason)
  const recover = `\`sqlite3 ${CliFailure.shellWord(file)} .recover\``
  return CliFailure.usage(
    `${file}: ${reason}`,
    damaged.test(reason)
      ? `The file is damaged: stop its server, copy it, and go back to a backup or try ${recover}`
      : undefined
  )
}
