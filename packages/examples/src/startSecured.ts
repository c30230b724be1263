/**
 * `npm run start:secured`: serves the example tools on 127.0.0.1 to whoever has a token, beside an issuer that gives
 * out three to try it with.
 *
 * @since 0.2.0
 */
import { HttpStartup } from "@effect-mcp-tasks/server"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger } from "effect"
import { createServer } from "node:http"
import * as Reports from "./Reports.ts"
import * as Secured from "./secured.ts"
import { securedUsage } from "./securedUsage.ts"
import * as ToyIssuer from "./ToyIssuer.ts"

const host = "127.0.0.1"

const port = Number(process.env["PORT"] ?? 3335)

const resource = `http://${host}:${port}/mcp`

const welcome = Layer.effectDiscard(Effect.gen(function*() {
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

const server = Layer.unwrap(
  Effect.map(ToyIssuer.ToyIssuer, ({ issuer, jwksUri }) => Secured.layer({ resource, issuer, jwksUri }))
)

Layer.mergeAll(server, welcome).pipe(
  Layer.provide([
    Reports.layer,
    ToyIssuer.layer,
    HttpStartup.layer(NodeHttpServer.layer, createServer, { host, port })
  ]),
  HttpStartup.launch,
  Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])),
  NodeRuntime.runMain({ teardown: HttpStartup.teardown })
)
