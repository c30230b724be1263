/**
 * A whole server in one layer, for a program of one process.
 *
 * @since 0.1.0
 */
import * as Embedded from "@effect-mcp-tasks/engine/Embedded"
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import type { TaskStore, TaskStoreError } from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type { Stdio } from "effect/Stdio"
import * as Dispatcher from "./Dispatcher.ts"
import * as HttpTransport from "./HttpTransport.ts"
import * as StdioTransport from "./StdioTransport.ts"

/**
 * What a server offers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Offer<Tools extends Record<string, Tool.Any>> extends Dispatcher.ServerInfo {
  readonly toolkit: Toolkit.Toolkit<Tools>
}

/**
 * What a server offers, and how it is reached.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskServerOptions<Tools extends Record<string, Tool.Any>>
  extends Offer<Tools>, HttpTransport.HttpOptions
{}

/**
 * What a server offers, and how the standard streams are served.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioServerOptions<Tools extends Record<string, Tool.Any>>
  extends Offer<Tools>, StdioTransport.StdioOptions
{}

/**
 * Serves the tools of a toolkit over HTTP and runs their tasks in this process.
 *
 * **When to use**
 *
 * For a program that serves nothing else. It is `HttpTransport.layer`, `HttpTransport.layerEndSubscriptions`,
 * `Dispatcher.layer`, `Embedded.layer` and `TaskTools.layer` in one; take those where a router of your own serves
 * more, or several processes share a store.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = <Tools extends Record<string, Tool.Any>>(
  options: TaskServerOptions<Tools>
): Layer.Layer<
  never,
  TaskStoreError,
  | TaskStore
  | CurrentOwner
  | HttpServer.HttpServer
  | Tool.HandlersFor<Tools>
  | Tool.HandlerServices<Tools[keyof Tools]>
> =>
  HttpTransport.layerEndSubscriptions.pipe(
    Layer.provideMerge(HttpRouter.serve(HttpTransport.layer(options), { disableLogger: true })),
    Layer.provide(layerDispatcher(options))
  )

/**
 * Serves the tools of a toolkit on the standard streams and runs their tasks in this process.
 *
 * **When to use**
 *
 * For a server that a desktop host starts, with `StdioTransport.launch`. Log messages of everything in it go to the
 * standard error; give the program that same logger for what is outside.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = <Tools extends Record<string, Tool.Any>>(
  options: StdioServerOptions<Tools>
): Layer.Layer<
  never,
  TaskStoreError,
  TaskStore | CurrentOwner | Stdio | Tool.HandlersFor<Tools> | Tool.HandlerServices<Tools[keyof Tools]>
> =>
  StdioTransport.layer(options).pipe(
    Layer.provide(layerDispatcher(options)),
    Layer.provide(StdioTransport.layerLogger)
  )

const layerDispatcher = <Tools extends Record<string, Tool.Any>>(
  { instructions, name, title, toolkit, version, websiteUrl }: Offer<Tools>
) =>
  Dispatcher.layer({ name, version, title, websiteUrl, instructions }).pipe(
    Layer.provide(Embedded.layer),
    Layer.provide(TaskTools.layer(toolkit))
  )
