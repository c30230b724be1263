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
import * as Dispatcher from "./Dispatcher.ts"
import * as HttpTransport from "./HttpTransport.ts"

/**
 * What a server offers, and how it is reached.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskServerOptions<Tools extends Record<string, Tool.Any>>
  extends Dispatcher.ServerInfo, HttpTransport.HttpOptions
{
  readonly toolkit: Toolkit.Toolkit<Tools>
}

/**
 * Serves the tools of a toolkit over HTTP and runs their tasks in this process.
 *
 * **When to use**
 *
 * For a program that serves nothing else. It is `HttpTransport.layer`, `Dispatcher.layer`, `Embedded.layer` and
 * `TaskTools.layer` in one; take those where a router of your own serves more, or several processes share a store.
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
> => {
  const { instructions, name, title, toolkit, version, websiteUrl } = options
  return HttpRouter.serve(HttpTransport.layer(options), { disableLogger: true }).pipe(
    Layer.provide(Dispatcher.layer({ name, version, title, websiteUrl, instructions })),
    Layer.provide(Embedded.layer),
    Layer.provide(TaskTools.layer(toolkit))
  )
}
