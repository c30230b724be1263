/** An issuer of tokens that tests own: its keys, its key endpoint with all that can go wrong there, its signature. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { JwtVerifier, type TokenVerifier } from "@effect-mcp-tasks/server"
import { Effect, Layer, Redacted, Result } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import * as jose from "jose"

export const issuer = "https://issuer.example"
export const audience = "https://mcp.example/mcp"

/** A key pair with the name that tokens call it by. */
export interface Key {
  readonly kid: string
  readonly alg: string
  readonly privateKey: jose.CryptoKey
  readonly jwk: jose.JWK
}

export const makeKey = (kid: string, alg = "ES256") =>
  Effect.promise(async (): Promise<Key> => {
    const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true })
    return { kid, alg, privateKey, jwk: { ...await jose.exportJWK(publicKey), kid, alg, use: "sig" } }
  })

/** The claims of a sound token; one that is `undefined` is left out. */
export type Claims = Readonly<Record<string, unknown>>

export const claims = { iss: issuer, aud: audience, sub: "ada", exp: 4_000_000_000 }

/** Signs claims, sound unless changed, with a key and its name unless another header is given. */
export const sign = (key: Key, changed: Claims = {}, header: Claims = {}) =>
  Effect.promise(() =>
    new jose.SignJWT(JSON.parse(JSON.stringify({ ...claims, ...changed })))
      .setProtectedHeader(JSON.parse(JSON.stringify({ alg: key.alg, kid: key.kid, ...header })))
      .sign(key.privateKey)
  )

/** What the key endpoint answers with next. */
export type Answer = { readonly status: number; readonly body: string } | "nothing" | "never"

/** The key endpoint as an `HttpClient`, which counts how often it is asked. */
export const endpoint = (keys: ReadonlyArray<Pick<Key, "jwk">>) => {
  const state = { fetches: 0, answer: published(keys) }
  const client = HttpClient.make((request) =>
    Effect.suspend(() => {
      state.fetches++
      if (state.answer === "never") return Effect.never
      if (state.answer === "nothing") {
        return Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, cause: new Error("no route to the issuer") })
          })
        )
      }
      const { body, status } = state.answer
      return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status })))
    })
  )
  return { state, layer: Layer.succeed(HttpClient.HttpClient, client) }
}

/** A sound answer with these keys. */
export const published = (keys: ReadonlyArray<Pick<Key, "jwk">>): Answer => ({
  status: 200,
  body: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })
})

export const options: JwtVerifier.JwtOptions = { issuer, audience, jwksUri: `${issuer}/jwks` }

type Verifier = TokenVerifier.TokenVerifier["Service"]

/** A verifier over an issuer with one key, unless others are given. */
export const start = Effect.fnUntraced(function*(
  changed: Partial<JwtVerifier.JwtOptions> = {},
  keys?: ReadonlyArray<Key>
) {
  const key = keys?.[0] ?? (yield* makeKey("first"))
  const { layer, state } = endpoint(keys ?? [key])
  const verifier = yield* Effect.provide(JwtVerifier.make({ ...options, ...changed }), layer)
  return { key, state, verifier }
})

/** What a verifier says of a token: the owner's key, the reason for refusing it, or that nothing can be said. */
export const judge = Effect.fnUntraced(function*({ verify }: Verifier, token: string) {
  const result = yield* Effect.result(verify(Redacted.make(token)))
  if (Result.isSuccess(result)) return TaskOwner.key(result.success.owner)
  return result.failure._tag === "TokenRefused" ? result.failure.reason : "unavailable"
})

export const ada = TaskOwner.key(TaskOwner.principal({ issuer, subject: "ada" }))
