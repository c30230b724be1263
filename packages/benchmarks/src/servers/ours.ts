/**
 * Our server, on the store that `--store` names, composed as anyone would: nothing in it is there for the benchmark
 * but the limit on live tasks, which the workloads exceed on purpose, and what `serve` sets for all servers.
 *
 * @since 0.1.0
 */
import {
  CurrentTask,
  Embedded,
  TaskLimits,
  TaskOwner,
  TaskStore,
  TaskTool,
  TaskTools
} from "@effect-mcp-tasks/engine"
import { Dispatcher, HttpTransport } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { parseArgs } from "node:util"
import { askKey, askRequest, askText, quickText, sizedText } from "../tools.ts"
import { announce, endpoint } from "./child.ts"

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "memory" },
    file: { type: "string", default: ":memory:" },
    synchronous: { type: "string", default: "NORMAL" },
    port: { type: "string", default: "0" }
  }
})

const policy = { ttl: "1 hour", pollInterval: "1 second" } as const

const Kit = Toolkit.make(
  Tool.make("quick_job", { description: "Completes at once", success: Schema.String })
    .annotate(TaskTool.Policy, policy),
  Tool.make("ask_job", { description: "Asks one question, then completes", success: Schema.String })
    .annotate(TaskTool.Policy, policy),
  Tool.make("slow_job", { description: "Works until it is cancelled", success: Schema.String })
    .annotate(TaskTool.Policy, policy),
  Tool.make("sized_job", {
    description: "Completes at once with a text of the given size",
    parameters: Schema.Struct({ bytes: Schema.Int }),
    success: Schema.String
  }).annotate(TaskTool.Policy, policy)
)

const Confirmation = Schema.Struct({ confirm: Schema.Boolean })

const KitLive = Kit.toLayer({
  quick_job: () => Effect.succeed(quickText),
  sized_job: ({ bytes }) => Effect.succeed(sizedText(bytes)),
  slow_job: () => Effect.never,
  ask_job: () =>
    Effect.gen(function*() {
      const task = yield* CurrentTask.CurrentTask
      yield* Effect.orDie(task.elicit(askKey, { message: askRequest.params.message, schema: Confirmation }))
      return askText
    })
})

const Store = values.store === "sqlite"
  ? TaskStore.layerSql.pipe(Layer.provide(
    SqliteClient.layer({ filename: values.file, synchronous: values.synchronous === "FULL" ? "FULL" : "NORMAL" })
  ))
  : TaskStore.layerMemory

const Mcp = HttpTransport.layer({ path: endpoint }).pipe(
  Layer.provide(Dispatcher.layer({ name: "ours", version: "0.1.0" })),
  Layer.provide(Embedded.layer),
  Layer.provide(TaskTools.layer(Kit).pipe(Layer.provide(KitLive))),
  Layer.provide(Store),
  Layer.provide(TaskLimits.layer({ maxLiveTasks: 1_000_000 }))
)

// As `serve` has it for the other servers: a timer for each idle connection is a few percent of a request.
const listening = () => createServer({ keepAliveTimeout: 0 })

const Announced = Layer.effectDiscard(
  HttpServer.addressFormattedWith((address) => Effect.sync(() => announce(`${address}${endpoint}`)))
)

HttpRouter.serve(Mcp, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide(TaskOwner.layerAnonymous),
  Layer.merge(Announced),
  Layer.provide(NodeHttpServer.layer(listening, { port: Number(values.port), host: "127.0.0.1" })),
  Layer.launch,
  NodeRuntime.runMain
)
