/**
 * An authorization server to try things out with: it signs a token for whomever it is told to, with a key that lives
 * as long as the process. It asks nobody to log in, so it is good for nothing else.
 *
 * @since 0.2.0
 */
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { NodeHttpServer } from "@effect/platform-node"
import * as jose from "jose"
import { createServer } from "node:http"

/**
 * What a token is to say.
 *
 * @category models
 * @since 0.2.0
 */
export interface Wish {
  readonly subject: string
  readonly audience: string
  readonly scope: string
  /** How long it is good for, as jose reads it: `1h`. */
  readonly expires: string
}

/**
 * An authorization server to try things out with.
 *
 * @category services
 * @since 0.2.0
 */
export class ToyIssuer extends Context.Service<ToyIssuer, {
  readonly issuer: string
  readonly jwksUri: string
  readonly sign: (wish: Wish) => Effect.Effect<string>
}>()("@effect-mcp-tasks/examples/ToyIssuer") {}

const alg = "ES256"

const make = Effect.gen(function*() {
  const keys = yield* Effect.promise(() => jose.generateKeyPair(alg))
  const jwk = { ...yield* Effect.promise(() => jose.exportJWK(keys.publicKey)), alg, use: "sig", kid: "toy" }
  const route = HttpRouter.add("GET", "/jwks", HttpServerResponse.jsonUnsafe({ keys: [jwk] }))
  const context = yield* Layer.build(
    HttpRouter.serve(route, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
    )
  )
  const issuer = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  return ToyIssuer.of({
    issuer,
    jwksUri: `${issuer}/jwks`,
    sign: ({ audience, expires, scope, subject }) =>
      Effect.promise(() =>
        new jose.SignJWT({ scope })
          .setProtectedHeader({ alg, kid: jwk.kid, typ: "at+jwt" })
          .setIssuer(issuer)
          .setSubject(subject)
          .setAudience(audience)
          .setExpirationTime(expires)
          .sign(keys.privateKey)
      )
  })
})

/**
 * Publishes its key on a free port of the loopback address.
 *
 * @category layers
 * @since 0.2.0
 */
export const layer = Layer.effect(ToyIssuer, make)
