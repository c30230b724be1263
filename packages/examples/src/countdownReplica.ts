/**
 * The server in the guide on running replicas, which shows this file from the first import on. A test compares the two,
 * runs it, ends it and starves it.
 *
 * @since 0.2.0
 */
import { CurrentTask, Replicated, Storage, TaskOwner, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher, HealthRoutes, HttpStartup, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer, NodeRedis, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"

const Countdown = Tool.make("countdown", { parameters: Schema.Struct({ from: Schema.Int }), success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "10 minutes", pollInterval: "500 millis", recovery: "resume" })
const toolkit = Toolkit.make(Countdown)

const Handlers = toolkit.toLayer({
  countdown: Effect.fn(function*({ from }) {
    const task = yield* CurrentTask.CurrentTask
    for (let n = from; n > 0; n--) {
      yield* task.report(`${n} ...`)
      yield* Effect.sleep("1 second")
    }
    return "Lift-off"
  })
})

const routes = Layer.merge(HttpTransport.layer(), HealthRoutes.layer)

// From the first to end to the last: subscriptions, requests, handlers, what is shared and its client, the port.
HttpTransport.layerEndSubscriptions.pipe(
  Layer.provideMerge(HttpRouter.serve(routes, { disableLogger: true })),
  Layer.provide([Dispatcher.layer({ name: "countdown", version: "1.0.0" }), HttpTransport.layerRedactQuery]),
  Layer.provide([Replicated.layer, TaskOwner.layerAnonymous]),
  Layer.provide(TaskTools.layer(toolkit).pipe(Layer.provide(Handlers))),
  Layer.provide(Storage.layerRedis),
  Layer.provide(
    NodeRedis.layer({ url: process.env.REDIS_URL ?? "redis://localhost", disableOfflineQueue: true }).pipe(
      Storage.closeWithin("2 seconds")
    )
  ),
  Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, {
    host: "127.0.0.1",
    port: Number(process.env.PORT ?? 3000)
  })),
  HttpStartup.launch,
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
