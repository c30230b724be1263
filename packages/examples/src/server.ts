/**
 * The example server: tools, a store, an engine and a transport, put together.
 *
 * Read it from the bottom up: each line gives what the lines above it ask for. To keep tasks elsewhere, give another
 * store; nothing else changes.
 *
 * @since 0.1.0
 */
import { Embedded, Replicated, TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { Dispatcher, HttpTransport } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as Reports from "./Reports.ts"
import * as Tools from "./tools.ts"

const layerRunBy = <Engine, E, R>(engine: Layer.Layer<Engine, E, R>) =>
  HttpTransport.layerEndSubscriptions.pipe(
    Layer.provideMerge(HttpRouter.serve(HttpTransport.layer(), { disableLogger: true, disableListenLog: true })),
    Layer.provide(Dispatcher.layer({ name: "effect-mcp-tasks-example", version: "0.1.0" })),
    Layer.provide(engine),
    Layer.provide(Tools.layer),
    Layer.provide(TaskOwner.layerAnonymous)
  )

/**
 * Serves the tools over HTTP at `/mcp`, on the HTTP server, the store and the outside world that are provided. The
 * store is for this process alone.
 *
 * @since 0.1.0
 */
export const layer = layerRunBy(Embedded.layer)

/**
 * Does so on a storage that other processes share.
 *
 * @since 0.2.0
 */
export const layerReplicated = layerRunBy(Replicated.layer)

/**
 * Serves the tools with their tasks in a SQLite file, and the pretended reports as the outside world.
 *
 * @since 0.1.0
 */
export const layerSqlite = (filename: string) =>
  layer.pipe(
    Layer.provide(TaskStore.layerSql),
    Layer.provide(SqliteClient.layer({ filename, exclusive: true })),
    Layer.provide(Reports.layer)
  )
