/**
 * The server in the guide on observing, which shows this file from the first import on. A test compares the two and
 * runs it.
 *
 * @since 0.2.0
 */
import { CurrentTask, TaskOwner, TaskStore, TaskTool } from "@effect-mcp-tasks/engine"
import { HttpStartup, TaskServer } from "@effect-mcp-tasks/server"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Config, Effect, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import { createServer } from "node:http"

const Index = Tool.make("index", { parameters: Schema.Struct({ path: Schema.String }), success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "10 minutes" })
const toolkit = Toolkit.make(Index)

const Handlers = toolkit.toLayer({
  index: Effect.fn(function*({ path }) {
    const task = yield* CurrentTask.CurrentTask
    yield* task.report(`Reading ${path}`)
    yield* Effect.withSpan(Effect.sleep("1 second"), "read")
    return "Indexed"
  })
})

/** Traces, metrics and logs to a collector, if there is one. */
const Observability = Layer.unwrap(Effect.map(
  Config.option(Config.String("OTEL_EXPORTER_OTLP_ENDPOINT")),
  Option.match({
    onNone: () => Layer.empty,
    onSome: (baseUrl) =>
      Otlp.layerJson({ baseUrl, resource: { serviceName: "indexer" } }).pipe(Layer.provide(FetchHttpClient.layer))
  })
))

TaskServer.layerHttp({ name: "indexer", version: "1.0.0", toolkit, metricsPath: "/metrics" }).pipe(
  Layer.provide([Handlers, TaskStore.layerMemory, TaskOwner.layerAnonymous]),
  Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, {
    host: "127.0.0.1",
    port: Number(process.env.PORT ?? 3000)
  })),
  Layer.provide(Observability),
  HttpStartup.launch,
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
