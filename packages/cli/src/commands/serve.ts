/**
 * `serve`: the example server, on the store that the flags name.
 *
 * @since 0.2.0
 */
import * as Reports from "@effect-mcp-tasks/examples/Reports"
import * as Server from "@effect-mcp-tasks/examples/server"
import type { TaskStoreError } from "@effect-mcp-tasks/engine/TaskStore"
import type { WorkersUnavailable } from "@effect-mcp-tasks/engine/TaskWorkers"
import * as HttpStartup from "@effect-mcp-tasks/server/HttpStartup"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import * as CliFailure from "../CliFailure.ts"
import * as Store from "../Store.ts"

const port = Flag.Int("port").pipe(
  Flag.withDescription("Port to listen on, on 127.0.0.1; 0 takes a free one"),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))),
  Flag.withDefault(3334)
)

/**
 * A file or a memory is this process's alone. A database may have others on it, now or later: two embedded servers
 * would take up each other's tasks when they start.
 */
const serverOn = (
  given: Store.Input
): Layer.Layer<
  never,
  CliFailure.CliFailure | TaskStoreError | WorkersUnavailable,
  Reports.Reports | HttpServer.HttpServer
> => {
  switch (given.store) {
    case "memory":
    case "sqlite":
      return Layer.provide(Server.layer, Store.of(given, { exclusive: true }))
    case "redis":
    case "postgres":
      return Layer.provide(Server.layerReplicated, Store.shared({ ...given, store: given.store }))
  }
}

/**
 * `serve`: the example server.
 *
 * @category commands
 * @since 0.2.0
 */
export const serve = Command.make("serve", { ...Store.input, port }, (given) =>
  Effect.gen(function*() {
    if (given.store === "sqlite") {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* fs.makeDirectory(path.dirname(given.file), { recursive: true })
    }
    const welcome = HttpServer.addressFormattedWith((address) =>
      Console.log(`Serving MCP tasks at ${address}/mcp, kept in ${given.store === "sqlite" ? given.file : given.store}`)
    )
    return yield* Layer.provideMerge(Layer.effectDiscard(welcome), serverOn(given)).pipe(
      Layer.provide(Reports.layer),
      Layer.provide(
        HttpStartup.layer(NodeHttpServer.layer, createServer, {
          host: "127.0.0.1",
          port: given.port
        })
      ),
      Layer.launch
    )
  }).pipe(
    Effect.catchTag("ServeError", (error) =>
      CliFailure.usage(
        Option.getOrElse(HttpStartup.reason(error), () => CliFailure.reasonOf(error)),
        "Take another port with --port, or --port 0 for a free one"
      )),
    Effect.catchTag(["PlatformError", "TaskStoreError", "WorkersUnavailable"], (error) =>
      CliFailure.usage(CliFailure.reasonOf(error)))
  )).pipe(
    Command.withDescription("Serve two example tools, whose calls become tasks"),
    Command.withExamples([
      { command: "mcp-tasks serve" },
      { command: "mcp-tasks serve --store redis --port 0" }
    ])
  )
