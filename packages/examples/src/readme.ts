/**
 * The server in the README, which shows this file from the first import on. A test compares the two and runs it.
 *
 * @since 0.1.0
 */
import { CurrentTask, TaskOwner, TaskStore, TaskTool } from "@effect-mcp-tasks/engine"
import { HttpStartup, TaskServer } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
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

TaskServer.layerHttp({ name: "countdown", version: "1.0.0", toolkit }).pipe(
  Layer.provide([Handlers, TaskStore.layerSql, TaskOwner.layerAnonymous]),
  Layer.provide(SqliteClient.layer({ filename: "tasks.sqlite", exclusive: true })),
  Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, {
    host: "127.0.0.1",
    port: Number(process.env.PORT ?? 3000)
  })),
  HttpStartup.launch,
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
