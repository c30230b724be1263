/**
 * One of several servers that share a Redis or a Postgres: `node ... replica.ts --redis URL` or `--postgres URL`.
 *
 * Says on the standard output where it is, and logs to the standard error. SIGTERM lets what runs come to its end, and
 * hands the rest to the others.
 *
 * @since 0.2.0
 */
import { HttpStartup } from "@effect-mcp-tasks/server"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as ReplicaServer from "./replicaServer.ts"

const flags = {
  port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on; 0 takes a free one"), Flag.withDefault(0)),
  redis: Flag.String("redis").pipe(Flag.withDescription("URL of the Redis that is shared"), Flag.optional),
  postgres: Flag.String("postgres").pipe(Flag.withDescription("URL of the Postgres that is shared"), Flag.optional),
  name: Flag.String("name").pipe(
    Flag.withDescription("Prefix of the keys, or schema of the tables"),
    Flag.withDefault("mcp_tasks")
  )
}

const cannotStart = (userMessage: string) => Effect.fail(new CliError.UserError({ userMessage, cause: userMessage }))

/** The port comes first: whoever cannot have it must not touch what is shared. The welcome comes when all answer. */
const launch = <E>(replica: Layer.Layer<never, E, HttpServer.HttpServer>, port: number) => {
  const welcome = Layer.effectDiscard(
    HttpServer.addressFormattedWith((address) =>
      Console.log(`Serving MCP tasks at ${address}/mcp, one of several (process ${process.pid})`)
    )
  )
  return Layer.provide(welcome, replica).pipe(
    Layer.provide(
      HttpStartup.layer(NodeHttpServer.layer, createServer, {
        host: "127.0.0.1",
        port
      })
    ),
    HttpStartup.launch
  )
}

const serve = Command.make(
  "replica",
  flags,
  Effect.fnUntraced(function*({ name, port, postgres, redis }) {
    if (Option.isSome(redis)) return yield* launch(ReplicaServer.layerRedis(redis.value, name), port)
    if (Option.isSome(postgres)) return yield* launch(ReplicaServer.layerPostgres(postgres.value, name), port)
    return yield* cannotStart("Say what is shared: --redis URL or --postgres URL")
  })
)

serve.pipe(
  Command.withDescription("Serves the example tools as one of several processes"),
  Command.run({ version: "0.1.0" }),
  Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))),
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
