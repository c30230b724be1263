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
 * What a server that is alone in its program offers, and how it is reached.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpServerOptions<Tools extends Record<string, Tool.Any>> extends TaskServerOptions<Tools> {
  /** Where Prometheus reads metrics, such as `/metrics`; nowhere unless given. */
  readonly metricsPath?: HttpRouter.PathInput | undefined
}

/**
 * What a server offers, and how the standard streams are served.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioServerOptions<Tools extends Record<string, Tool.Any>>
  extends Offer<Tools>, StdioTransport.StdioOptions
{}

/** What a whole server needs besides a router and an owner for each request. */
type Needed<Tools extends Record<string, Tool.Any>> =
  | TaskStore
  | Tool.HandlersFor<Tools>
  | Tool.HandlerServices<Tools[keyof Tools]>

/**
 * Serves the tools of a toolkit on a router, and runs their tasks in this process.
 *
 * **When to use**
 *
 * Where callers are authenticated by router middleware, which provides `CurrentOwner` to this layer, or where the
 * router serves more. It is `HttpTransport.layer`, `Dispatcher.layer`, `Embedded.layer` and `TaskTools.layer` in one;
 * take those where several processes share a store. Metrics are `HttpTransport.layerMetrics`, on a router that asks
 * nobody who they are.
 *
 * **Example** (Authenticated callers)
 *
 * ```ts
 * HttpTransport.layerEndSubscriptions.pipe(
 *   Layer.provideMerge(
 *     HttpRouter.serve(TaskServer.layer({ name, version, toolkit }).pipe(Layer.provide(authenticated.layer)))
 *   )
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <Tools extends Record<string, Tool.Any>>(
  options: TaskServerOptions<Tools>
): Layer.Layer<
  Dispatcher.Dispatcher,
  TaskStoreError,
  Needed<Tools> | HttpRouter.HttpRouter | HttpRouter.Request<"Requires", CurrentOwner>
> => Layer.provideMerge(HttpTransport.layer(options), dispatcher(options))

/**
 * Serves the tools of a toolkit over HTTP and runs their tasks in this process, for one owner.
 *
 * **When to use**
 *
 * For a program that serves nothing else, with `TaskOwner.layerAnonymous`: everyone who can reach the address is the
 * same owner. Where requests say who they are from, use `layer`.
 *
 * **Gotchas**
 *
 * The server that is provided listens before this layer is there, and after. Make it with `HttpStartup.layer`, or
 * requests that come early are never answered, and those that come late are refused.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = <Tools extends Record<string, Tool.Any>>(
  options: HttpServerOptions<Tools>
): Layer.Layer<never, TaskStoreError, Needed<Tools> | CurrentOwner | HttpServer.HttpServer> =>
  HttpTransport.layerEndSubscriptions.pipe(
    Layer.provideMerge(HttpRouter.serve(routes(options), { disableLogger: true })),
    Layer.provide(HttpTransport.layerRedactQuery),
    Layer.provide(dispatcher(options))
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
): Layer.Layer<never, TaskStoreError, Needed<Tools> | CurrentOwner | Stdio> =>
  StdioTransport.layer(options).pipe(
    Layer.provide(dispatcher(options)),
    Layer.provide(StdioTransport.layerLogger)
  )

const routes = ({ metricsPath, ...options }: HttpTransport.HttpOptions & Pick<HttpServerOptions<{}>, "metricsPath">) =>
  metricsPath === undefined
    ? HttpTransport.layer(options)
    : Layer.merge(HttpTransport.layer(options), HttpTransport.layerMetrics({ ...options, path: metricsPath }))

const dispatcher = <Tools extends Record<string, Tool.Any>>(
  { instructions, name, title, toolkit, version, websiteUrl }: Offer<Tools>
): Layer.Layer<Dispatcher.Dispatcher, TaskStoreError, Needed<Tools>> =>
  Dispatcher.layer({ name, version, title, websiteUrl, instructions }).pipe(
    Layer.provide(Embedded.layer),
    Layer.provide(TaskTools.layer(toolkit))
  )
