/**
 * An MCP server over HTTP on the loopback address: tools and store are the caller's, everything else is as in any
 * embedded server.
 *
 * @since 0.1.0
 */
import * as Embedded from "@effect-mcp-tasks/engine/Embedded"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Dispatcher from "@effect-mcp-tasks/server/Dispatcher"
import * as HttpStartup from "@effect-mcp-tasks/server/HttpStartup"
import * as HttpTransport from "@effect-mcp-tasks/server/HttpTransport"
import * as ToolSwitch from "@effect-mcp-tasks/server/ToolSwitch"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"

/**
 * What the server says of itself.
 *
 * @category models
 * @since 0.1.0
 */
export const info = { name: "effect-mcp-tasks-conformance", version: "0.1.0" }

/** How long plain calls may finish in when the server ends; then they are interrupted. */
const grace = "2 seconds"

/**
 * Serves the tools that are provided, on the store that is provided. Port 0 takes a free one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (port: number) =>
  HttpTransport.layerEndSubscriptions.pipe(
    Layer.provideMerge(HttpRouter.serve(HttpTransport.layer(), { disableLogger: true, disableListenLog: true })),
    Layer.provide(Dispatcher.layer(info)),
    Layer.provide(ToolSwitch.layer),
    Layer.provide([Embedded.layer, TaskOwner.layerAnonymous]),
    Layer.provideMerge(
      HttpStartup.layer(NodeHttpServer.layer, createServer, {
        port,
        host: "127.0.0.1",
        gracefulShutdownTimeout: grace
      })
    )
  )

/**
 * The address of the endpoint.
 *
 * @category accessors
 * @since 0.1.0
 */
export const url: Effect.Effect<string, never, HttpServer.HttpServer> = HttpServer.addressFormattedWith((address) =>
  Effect.succeed(`${address}/mcp`)
)
