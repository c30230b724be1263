/**
 * `serve`: the example server, on the store that the flags name.
 *
 * @since 0.2.0
 */
import * as Reports from "@effect-mcp-tasks/examples/Reports"
import * as Server from "@effect-mcp-tasks/examples/server"
import * as HttpStartup from "@effect-mcp-tasks/server/HttpStartup"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
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
    return yield* Layer.merge(Server.layer, Layer.effectDiscard(welcome)).pipe(
      Layer.provide(Reports.layer),
      Layer.provide(Store.of(given, { exclusive: true })),
      Layer.provide(
        HttpStartup.layer(NodeHttpServer.layer, createServer, {
          host: "127.0.0.1",
          port: given.port
        })
      ),
      Layer.launch
    )
  }).pipe(
    Effect.catchTag("ServeError", ({ cause }) =>
      CliFailure.usage(
        `Port ${given.port} cannot be used: ${CliFailure.reasonOf(cause)}`,
        "Take another with --port, or --port 0 for a free one"
      )),
    Effect.catchTag(["PlatformError", "TaskStoreError"], (error) =>
      CliFailure.usage(CliFailure.reasonOf(error)))
  )).pipe(
    Command.withDescription("Serve two example tools, whose calls become tasks"),
    Command.withExamples([
      { command: "mcp-tasks serve" },
      { command: "mcp-tasks serve --store redis --port 0" }
    ])
  )
