/**
 * `npm run start:secured`: serves the example tools on 127.0.0.1 to whoever has a token, beside an issuer that gives
 * out three to try it with.
 *
 * @since 0.2.0
 */
import { HttpStartup } from "@effect-mcp-tasks/server"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { createServer } from "node:http"
import * as Reports from "./Reports.ts"
import * as Secured from "./secured.ts"
import { securedUsage } from "./securedUsage.ts"
import * as ToyIssuer from "./ToyIssuer.ts"

const host = "127.0.0.1"

// The resource is named in every token, so the port must be known before it is open.
const port = Flag.Int("port").pipe(
  Flag.withDescription("Port to listen on"),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))),
  Flag.withDefault(3335)
)

const welcome = (resource: string) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { sign } = yield* ToyIssuer.ToyIssuer
    const token = (subject: string, scope: string, expires = "1h") =>
      sign({ subject, scope, expires, audience: resource })
    yield* Console.log(securedUsage(resource, {
      ada: yield* token("ada", "reports:write"),
      bob: yield* token("bob", "reports:write"),
      reader: yield* token("rita", "reports:read"),
      expired: yield* token("ada", "reports:write", "-1h")
    }))
  }))

const server = (resource: string) =>
  Layer.unwrap(
    Effect.map(ToyIssuer.ToyIssuer, ({ issuer, jwksUri }) => Secured.layer({ resource, issuer, jwksUri }))
  )

const serve = ({ port }: { readonly port: number }) => {
  const resource = `http://${host}:${port}/mcp`
  return Layer.mergeAll(server(resource), welcome(resource)).pipe(
    Layer.provide([
      Reports.layer,
      ToyIssuer.layer,
      HttpStartup.layer(NodeHttpServer.layer, createServer, { host, port })
    ]),
    HttpStartup.launch
  )
}

Command.make("npm run start:secured --", { port }, serve).pipe(
  Command.withDescription("Serves example tools to whoever has a token"),
  Command.run({ version: "0.1.0" }),
  Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))),
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
