/**
 * `npm start`: serves the example tools on 127.0.0.1, with their tasks in a SQLite file.
 *
 * Says on the standard output where it is and how to call it, and logs to the standard error. When it cannot start,
 * it says why in one sentence and ends with exit code 1, having touched no task.
 *
 * @since 0.1.0
 */
import { HttpStartup } from "@effect-mcp-tasks/server"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer, Logger, Path, Predicate, Schema } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as Server from "./server.ts"
import { usage } from "./usage.ts"

const host = "127.0.0.1"

const port = Flag.Int("port").pipe(
  Flag.withDescription("Port to listen on; 0 takes a free one"),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))),
  Flag.withDefault(3334)
)

const file = Flag.String("file").pipe(
  Flag.withDescription("SQLite file that keeps the tasks"),
  Flag.withDefault(".data/tasks.sqlite")
)

const cannotStart = (userMessage: string, cause: unknown) => Effect.fail(new CliError.UserError({ userMessage, cause }))

const isTaken = (cause: unknown) => Predicate.hasProperty(cause, "code") && cause.code === "EADDRINUSE"

const serve = Effect.fnUntraced(function*(options: { readonly port: number; readonly file: string }) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (options.file === "") return yield* cannotStart("--file needs the name of a file", options)
  yield* fs.makeDirectory(path.dirname(options.file), { recursive: true })

  const welcome = Layer.effectDiscard(
    HttpServer.addressFormattedWith((address) => Console.log(usage(`${address}/mcp`, options.file)))
  )
  // The port comes first: a second server on the same port must not take up the tasks of the one that runs.
  // The welcome comes last: until everything is there, requests are answered with 503.
  return yield* Layer.provide(welcome, Server.layerSqlite(options.file)).pipe(
    // A client that never finishes its request must not hold the store open.
    Layer.provide(
      HttpStartup.layer(NodeHttpServer.layer, createServer, {
        host,
        port: options.port
      })
    ),
    Layer.launch
  )
}, (started, { file, port }) =>
  started.pipe(
    Effect.catchTag("ServeError", (error) =>
      cannotStart(
        `Port ${port} ${isTaken(error.cause) ? "is in use" : `cannot be used: ${String(error.cause)}`}. ` +
          `Stop what uses it, or choose another: npm start -- --port ${port === 65_535 ? 0 : port + 1}`,
        error
      )),
    Effect.catchTag(["SqlError", "MigrationError", "TaskStoreError", "PlatformError"], (error) =>
      cannotStart(`${file} cannot be used: ${error.message}. Choose another: npm start -- --file FILE`, error))
  ))

Command.make("npm start --", { port, file }, serve).pipe(
  Command.withDescription("Serves example tools that answer with durable MCP tasks"),
  Command.run({ version: "0.1.0" }),
  Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))),
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
