/** A server with several issuers: each token is a matter of the one that it names, reachable or not. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { JwtVerifier, TokenVerifier } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { readFileSync } from "node:fs"
import { judge, type Key, makeKey, published, sign } from "./Issuer.ts"

const audience = "https://mcp.example.com/mcp"
const staff = "https://staff.example.com"
const guests = "https://guests.example.com"

/** The verifier that `docs/guides/securing-a-server.md` shows. */
const shown = JwtVerifier.layerIssuers([
  { issuer: "https://staff.example.com", jwksUri: "https://staff.example.com/jwks", audience },
  { issuer: "https://guests.example.com", jwksUri: "https://guests.example.com/jwks", audience }
])

/** Issuers with a key each, and how often each was asked; one without a key cannot be reached. */
const issuers = (keys: Readonly<Record<string, Key | undefined>>) => {
  const asked: Array<string> = []
  const client = HttpClient.make((request) =>
    Effect.suspend(() => {
      const { origin } = new URL(request.url)
      asked.push(origin)
      const answer = keys[origin] === undefined ? "nothing" : published([keys[origin]])
      if (typeof answer === "object") {
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(answer.body)))
      }
      const reason = new HttpClientError.TransportError({ request, cause: new Error("no route") })
      return Effect.fail(new HttpClientError.HttpClientError({ reason }))
    })
  )
  const build = (layer: Layer.Layer<TokenVerifier.TokenVerifier, never, HttpClient.HttpClient>) =>
    Effect.map(
      Layer.build(Layer.provide(layer, Layer.succeed(HttpClient.HttpClient, client))),
      (context) => Context.get(context, TokenVerifier.TokenVerifier)
    )
  return { asked, build }
}

const ada = (issuer: string) => TaskOwner.key(TaskOwner.principal({ issuer, subject: "ada" }))

describe("several issuers", () => {
  it("are what the guide shows", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    const [, code] = /^```typescript\n(.*?)^```$/ms.exec(read("../../../docs/guides/securing-a-server.md")) ?? []
    assert.include(read("./JwtVerifier.issuers.test.ts"), `const shown = ${code}`)
  })

  it.effect("are asked about their own tokens only, so that one may be out of reach [K2, K3]", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("guests")
      const lost = yield* makeKey("staff")
      const { asked, build } = issuers({ [guests]: key })
      const verifier = yield* build(shown)
      assert.strictEqual(yield* judge(verifier, yield* sign(key, { iss: guests, aud: audience })), ada(guests))
      assert.deepStrictEqual(asked, [guests])
      assert.strictEqual(yield* judge(verifier, yield* sign(lost, { iss: staff, aud: audience })), "unavailable")
      assert.deepStrictEqual(asked, [guests, staff])
      const strange = yield* sign(key, { iss: "https://else.example", aud: audience })
      assert.strictEqual(yield* judge(verifier, strange), "The token is from another issuer")
      assert.strictEqual(yield* judge(verifier, "nonsense"), "The token is not a valid JWT")
      assert.deepStrictEqual(asked, [guests, staff])
    }))

  it.effect("each refuse with their own reason, and cannot speak for the other [K2, K3]", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("guests")
      const other = yield* makeKey("staff")
      const verifier = yield* issuers({ [guests]: key, [staff]: other }).build(shown)
      for (const [iss, own, stranger] of [[guests, key, other], [staff, other, key]] as const) {
        const sound = { iss, aud: audience }
        assert.strictEqual(yield* judge(verifier, yield* sign(own, sound)), ada(iss))
        assert.strictEqual(yield* judge(verifier, yield* sign(own, { ...sound, exp: -10 })), "The token has expired")
        const elsewhere = yield* sign(own, { ...sound, aud: "https://other.example" })
        assert.strictEqual(yield* judge(verifier, elsewhere), "The token is not for this server")
        const forged = yield* sign(stranger, sound)
        assert.strictEqual(yield* judge(verifier, forged), "The key of the token is not known")
      }
    }))

  it.effect("one alone fetches nothing for a token that names another", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("guests")
      const { asked, build } = issuers({ [guests]: key })
      const verifier = yield* build(JwtVerifier.layer({ issuer: guests, jwksUri: `${guests}/jwks`, audience }))
      const token = yield* sign(key, { iss: staff, aud: audience })
      assert.strictEqual(yield* judge(verifier, token), "The token is from another issuer")
      assert.deepStrictEqual(asked, [])
    }))

  const one = { issuer: staff, jwksUri: `${staff}/jwks`, audience }
  for (const [options, reason] of [[[], "no issuer is named"], [[one, one], "an issuer is named twice"]] as const) {
    it.effect(`die with a sentence: ${reason}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(issuers({}).build(JwtVerifier.layerIssuers(options)))
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit), `The JWT verifier cannot be used: ${reason}`)
      }))
  }
})
