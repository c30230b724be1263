/**
 * One replica of a campaign, until it is killed or told to end. Its first line on the standard output is its address.
 *
 * @since 0.2.0
 */
import * as Replicated from "@effect-mcp-tasks/engine/Replicated"
import * as TaskAudit from "@effect-mcp-tasks/engine/TaskAudit"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Dispatcher from "@effect-mcp-tasks/server/Dispatcher"
import * as HealthRoutes from "@effect-mcp-tasks/server/HealthRoutes"
import * as HttpStartup from "@effect-mcp-tasks/server/HttpStartup"
import * as HttpTransport from "@effect-mcp-tasks/server/HttpTransport"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { createServer } from "node:http"
import * as CampaignStorage from "./CampaignStorage.ts"
import * as CampaignTools from "./CampaignTools.ts"
import * as World from "./World.ts"

const flags = {
  store: Flag.Literals("store", CampaignStorage.names),
  at: Flag.String("at"),
  name: Flag.String("name"),
  world: Flag.String("world")
}

const settings = {
  concurrency: 4,
  lease: "2 seconds",
  heartbeat: "1 second",
  grace: "500 millis",
  scan: "3 seconds"
} as const

const audit = (world: string) =>
  Layer.succeed(TaskAudit.TaskAudit, ({ event, taskId }) => World.note(world, { _tag: "Event", taskId, event }))

const routes = Layer.merge(HttpTransport.layer(), HealthRoutes.layer)

/** Said when everything answers, and not before. */
const welcome = Layer.effectDiscard(HttpServer.addressFormattedWith((address) => Console.log(`${address}/mcp`)))

const command = Command.make("replica", flags, ({ at, name, store, world }) =>
  Layer.launch(
    welcome.pipe(
      Layer.provide(HttpTransport.layerEndSubscriptions),
      Layer.provideMerge(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
      Layer.provide(Dispatcher.layer({ name: "campaign", version: "0.1.0" })),
      Layer.provide([Replicated.layerWith(settings), TaskOwner.layerAnonymous]),
      Layer.provide(Layer.provide(TaskTools.layer(CampaignTools.toolkit), CampaignTools.layer(world))),
      Layer.provide([CampaignStorage.layers[store]({ at, name }), audit(world)]),
      Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, {
        host: "127.0.0.1",
        port: 0,
        gracefulShutdownTimeout: "1 second"
      }))
    )
  ))

command.pipe(
  Command.run({ version: "0.1.0" }),
  // The standard output is read for its first line only.
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("This replica failed", cause)
  ),
  Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))),
  NodeRuntime.runMain({ teardown: HttpStartup.teardown, disableErrorReporting: true })
)
