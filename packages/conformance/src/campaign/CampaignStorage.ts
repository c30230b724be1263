/**
 * The storage of a campaign, by name: apart from everything else on the same server, and quick to notice things.
 *
 * @since 0.2.0
 */
import * as Storage from "@effect-mcp-tasks/engine/Storage"
import * as TaskClock from "@effect-mcp-tasks/engine/TaskClock"
import * as TaskQueue from "@effect-mcp-tasks/engine/TaskQueue"
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskWorkers from "@effect-mcp-tasks/engine/TaskWorkers"
import * as SqliteClient from "@effect-mcp-tasks/sqlite/SqliteClient"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/**
 * Where a campaign keeps its tasks.
 *
 * @category models
 * @since 0.2.0
 */
export interface StorageOptions {
  /** A file of SQLite, or the URL of a server. */
  readonly at: string
  /** What names the keys of Redis, or the schema of Postgres. */
  readonly name: string
}

const quick = { pollInterval: "100 millis" } as const

/**
 * The storages by name.
 *
 * @category layers
 * @since 0.2.0
 */
export const layers = {
  sqlite: ({ at }: StorageOptions) =>
    Layer.mergeAll(
      TaskStore.layerSql,
      TaskQueue.layerSqlWith(quick),
      TaskWorkers.layerSql,
      TaskSignal.layerPollWith({ interval: "200 millis" }),
      TaskClock.layerSql
    ).pipe(
      Storage.closeWithin("2 seconds"),
      Layer.provide(SqliteClient.layer({ filename: at, synchronous: "NORMAL" }).pipe(Storage.closeWithin("2 seconds")))
    ),
  redis: ({ at, name }: StorageOptions) =>
    Layer.mergeAll(
      TaskStore.layerRedisWith({ prefix: name }),
      TaskQueue.layerRedisWith({ ...quick, prefix: name }),
      TaskWorkers.layerRedisWith({ prefix: name }),
      TaskSignal.layerRedisWith({ channel: name }),
      TaskClock.layerRedis
    ).pipe(
      Storage.closeWithin("2 seconds"),
      Layer.provide(NodeRedis.layer({ url: at, disableOfflineQueue: true }).pipe(Storage.closeWithin("2 seconds")))
    ),
  postgres: ({ at, name }: StorageOptions) =>
    Layer.mergeAll(
      TaskStore.layerSql,
      TaskQueue.layerSqlWith(quick),
      TaskWorkers.layerSql,
      TaskSignal.layerPostgresWith({ channel: name }),
      TaskClock.layerSql
    ).pipe(
      Storage.closeWithin("2 seconds"),
      Layer.provide(
        PgClient.layer({ url: Redacted.make(at), maxConnections: 6, startupOptions: `-c search_path=${name}` }).pipe(
          Storage.closeWithin("2 seconds")
        )
      )
    )
} satisfies Record<string, (options: StorageOptions) => Layer.Layer<Storage.Storage, unknown>>

/**
 * The name of a storage.
 *
 * @category models
 * @since 0.2.0
 */
export type StorageName = keyof typeof layers

/**
 * Every name of a storage.
 *
 * @category data
 * @since 0.2.0
 */
export const names = ["sqlite", "redis", "postgres"] as const
