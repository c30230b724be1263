/**
 * Where tasks are kept, by flags: for `serve`, and for the operators' commands that look into a store.
 *
 * @since 0.2.0
 */
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as SqliteClient from "@effect-mcp-tasks/sqlite/SqliteClient"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
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
    Flag.withDefault(Redacted.make("postgres://127.0.0.1:5432/postgres"))
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
export type Store = Layer.Layer<TaskStore.TaskStore | TaskSignal.TaskSignal, CliFailure.CliFailure>

const failing = (what: string) => (error: { readonly message: string }): Store =>
  Layer.unwrap(Effect.fail(CliFailure.usage(`${what} cannot be used: ${error.message}`)))

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
        Layer.catch(failing(given.file))
      )
    case "redis":
      return Layer.merge(TaskStore.layerRedis, TaskSignal.layerRedis).pipe(
        Layer.provide(NodeRedis.layer({ url: given.redis })),
        Layer.catch(failing("Redis"))
      )
    case "postgres":
      return Layer.merge(TaskStore.layerSql, TaskSignal.layerPostgres).pipe(
        Layer.provide(PgClient.layer({ url: given.database })),
        Layer.catch(failing("Postgres"))
      )
  }
}
