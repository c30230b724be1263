/**
 * The example server as one of several: the same tools, on a storage that all of them share.
 *
 * What differs from one storage to another is which, and its client. `docs/guides/running-replicas.md` shows the
 * difference, and a test runs both.
 *
 * @since 0.2.0
 */
import { Replicated, Storage, TaskOwner } from "@effect-mcp-tasks/engine"
import { Dispatcher, HealthRoutes, HttpTransport } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeRedis } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Layer, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import * as Reports from "./Reports.ts"
import * as Tools from "./tools.ts"

const routes = Layer.merge(HttpTransport.layer(), HealthRoutes.layer)

const server = HttpTransport.layerEndSubscriptions.pipe(
  Layer.provideMerge(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
  Layer.provide(Dispatcher.layer({ name: "effect-mcp-tasks-replica", version: "0.1.0" })),
  Layer.provide([Replicated.layerWith({ lease: "3 seconds" }), TaskOwner.layerAnonymous]),
  Layer.provide(Tools.layer),
  Layer.provide(Reports.layer)
)

/**
 * A replica whose tasks are in a SQLite file: for a few processes of one machine.
 *
 * @since 0.2.0
 */
export const layerSqlite = (filename: string) =>
  server.pipe(
    Layer.provide(Storage.layerSqlite),
    Layer.provide(SqliteClient.layer({ filename }))
  )

/**
 * A replica whose tasks are in Redis.
 *
 * @since 0.2.0
 */
export const layerRedis = (url: string, prefix?: string) =>
  server.pipe(
    Layer.provide(Storage.layerRedisWith({ prefix })),
    Layer.provide(NodeRedis.layer({ url, disableOfflineQueue: true }).pipe(Storage.closeWithin("2 seconds")))
  )

/**
 * A replica whose tasks are in Postgres, in a schema.
 *
 * @since 0.2.0
 */
export const layerPostgres = (url: string, schema = "public") =>
  server.pipe(
    Layer.provide(Storage.layerPostgres),
    Layer.provide(
      PgClient.layer({ url: Redacted.make(url), startupOptions: `-c search_path=${schema}` }).pipe(
        Storage.closeWithin("2 seconds")
      )
    )
  )
