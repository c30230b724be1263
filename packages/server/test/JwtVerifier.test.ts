/** Which tokens are proof of a caller. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import type { JwtVerifier } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as jose from "jose"
import { ada, audience, claims, issuer, judge, makeKey, sign, start } from "./Issuer.ts"

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

describe("a sound token", () => {
  it.effect("is accepted with each of the allowed algorithms", () =>
    Effect.gen(function*() {
      for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
        const { key, verifier } = yield* start({}, [yield* makeKey("first", alg)])
        assert.strictEqual(yield* judge(verifier, yield* sign(key)), ada, alg)
      }
    }))

  it.effect("gives its scopes, from scope or scp", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start()
      const samples = [
        [{}, []],
        [{ scope: "" }, []],
        [{ scope: "a b" }, ["a", "b"]],
        [{ scp: " a  b " }, ["a", "b"]],
        [{ scp: ["a", "b"] }, ["a", "b"]],
        [{ scope: "a", scp: ["b"] }, ["a"]]
      ] as const
      for (const [changed, scopes] of samples) {
        const caller = yield* verifier.verify(Redacted.make(yield* sign(key, changed)))
        assert.deepStrictEqual(caller.scopes, scopes)
      }
    }))

  it.effect("may be for several audiences, and the verifier may have several names [K3]", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start({ audience: ["https://other.example", audience] })
      assert.strictEqual(yield* judge(verifier, yield* sign(key, { aud: ["https://x.example", audience] })), ada)
      assert.strictEqual(yield* judge(verifier, yield* sign(key, { aud: "https://other.example" })), ada)
    }))

  it.effect("needs no key name where one key fits", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start()
      assert.strictEqual(yield* judge(verifier, yield* sign(key, {}, { kid: undefined })), ada)
    }))

  it.effect("is the same owner when it is refreshed, and another one from another tenant", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start({ tenantClaim: "tid" })
      const owner = (changed: object) =>
        Effect.flatMap(sign(key, { tid: "one", ...changed }), (token) => judge(verifier, token))
      const first = yield* owner({ jti: "1", exp: 4_000_000_000, scope: "a" })
      assert.strictEqual(first, TaskOwner.key(TaskOwner.principal({ issuer, subject: "ada", tenant: "one" })))
      assert.strictEqual(yield* owner({ jti: "2", exp: 4_000_000_999, scope: "b", name: "Ada" }), first)
      assert.notStrictEqual(yield* owner({ tid: "two" }), first)
      assert.notStrictEqual(yield* owner({ sub: "Ada" }), first)
    }))
})

describe("a token that proves nothing", () => {
  it.effect("is refused with the reason [K2, K3]", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start({ tenantClaim: "tid", type: "at+jwt" })
      const stranger = yield* makeKey("first")
      const sound = { tid: "one" }
      const header = { typ: "at+jwt" }
      const samples: ReadonlyArray<readonly [reason: string, changed: object, header?: object]> = [
        ["The token is from another issuer", { iss: "https://issuer.example/" }],
        ["The token is from another issuer", { iss: undefined }],
        ["The token is from another issuer", { iss: [issuer] }],
        ["The token is not for this server", { aud: "https://other.example" }],
        ["The token is not for this server", { aud: ["https://other.example", `${audience}/more`] }],
        ["The token is not for this server", { aud: [] }],
        ["The token is not for this server", { aud: undefined }],
        ["The token is not for this server", { aud: { [audience]: true } }],
        ["The token does not say when it expires", { exp: undefined }],
        ["The token does not say when it expires", { exp: "4000000000" }],
        ["The token is not valid yet", { nbf: 4_000_000_000 }],
        ["The token names no subject", { sub: undefined }],
        ["The subject or the scopes of the token cannot be read", { sub: "" }],
        ["The subject or the scopes of the token cannot be read", { sub: 7 }],
        ["The subject or the scopes of the token cannot be read", { sub: "x".repeat(256) }],
        ["The subject or the scopes of the token cannot be read", { scope: { all: true } }],
        ["The token names no tenant", { tid: undefined }],
        ["The token names no tenant", { tid: "" }],
        ["The token names no tenant", { tid: ["one"] }],
        ["The token is of another type", {}, { typ: "JWT" }],
        ["The token is of another type", {}, { typ: undefined }],
        ["The key of the token is not known", {}, { kid: "second" }],
        ["The token is not a valid JWT", {}, { crit: ["x"], x: true }]
      ]
      for (const [reason, changed, other = {}] of samples) {
        const token = yield* Effect.exit(sign(key, { ...sound, ...changed }, { ...header, ...other }))
        // jose signs nothing that it would not understand: then the token is put together by hand.
        const text = Exit.isSuccess(token)
          ? token.value
          : `${base64({ alg: "ES256", kid: "first", ...header, ...other })}.${base64(claims)}.AAAA`
        assert.strictEqual(yield* judge(verifier, text), reason, JSON.stringify({ changed, other }))
      }
      const forged = yield* sign(stranger, sound, header)
      assert.strictEqual(yield* judge(verifier, forged), "The token is not a valid JWT")
      assert.include(yield* judge(verifier, yield* sign(key, sound, header)), "ada")
    }))

  it.effect("has no signature, a shared secret's, or one that is not allowed [K2]", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("first", "RS256")
      const { verifier } = yield* start({}, [key])
      const body = base64(claims)
      const notAllowed = "The signature algorithm is not allowed"
      for (const alg of ["none", "None", "NONE", "HS256", "HS512", "RS512", "ES256K", "dir", ""]) {
        for (const signature of ["", "AAAA"]) {
          const reason = yield* judge(verifier, `${base64({ alg, kid: "first" })}.${body}.${signature}`)
          assert.include([notAllowed, "The token is not a valid JWT"], reason, alg)
        }
      }
      // The public key is no secret: who signs with its text by HMAC must not pass for the issuer.
      const spki = yield* Effect.promise(async () =>
        jose.exportSPKI(await jose.importJWK(key.jwk, "RS256") as jose.CryptoKey))
      for (const secret of [spki, JSON.stringify(key.jwk), String(key.jwk.n)]) {
        const confused = yield* Effect.promise(() =>
          new jose.SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" })
            .sign(Buffer.from(secret.padEnd(32)))
        )
        assert.strictEqual(yield* judge(verifier, confused), notAllowed)
      }
      const strong = yield* makeKey("first", "PS512")
      assert.strictEqual(yield* judge(verifier, yield* sign(strong)), notAllowed)
    }))

  it.effect("brings its own key, or says where there is one", () =>
    Effect.gen(function*() {
      const { state, verifier } = yield* start()
      const stranger = yield* makeKey("first")
      for (const header of [{ jwk: stranger.jwk }, { jku: "https://evil.example" }, { x5u: "https://evil.example" }]) {
        const reason = yield* judge(verifier, yield* sign(stranger, {}, header))
        assert.strictEqual(reason, "The token is not a valid JWT")
      }
      assert.strictEqual(state.fetches, 1)
    }))

  it.effect("is not one at all", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start()
      const sound = yield* sign(key)
      const invalid = "The token is not a valid JWT"
      const [head = "", body = "", signature = ""] = sound.split(".")
      const samples = [
        "",
        ".",
        "..",
        "a.b.c",
        sound.slice(0, -5),
        `${sound}.`,
        `${sound}=`,
        ` ${sound}`,
        `${head}.${body}`,
        `${head}..${signature}`,
        `${head}.${base64({ ...claims, sub: "bob" })}.${signature}`,
        `${head}.${base64([])}.${signature}`,
        `${base64([])}.${body}.${signature}`,
        `${base64({ alg: "ES256", kid: { $ne: null } })}.${body}.${signature}`
      ]
      for (const token of samples) {
        const reason = yield* judge(verifier, token)
        assert.include([invalid, "The key of the token is not known", "The signature algorithm is not allowed"], reason)
      }
    }))

  it.effect("has expired by Effect's clock, but for a small tolerance [K2]", () =>
    Effect.gen(function*() {
      const { key, verifier } = yield* start({ keysMaxAge: "1 day" })
      yield* TestClock.setTime(1_000_000_000)
      const token = yield* sign(key, { exp: 1_000_060, nbf: 1_000_005 })
      const late = "The token has expired"
      for (const [seconds, verdict] of [[0, ada], [64, ada], [65, late], [3600, late]] as const) {
        yield* TestClock.setTime((1_000_000 + seconds) * 1000)
        assert.strictEqual(yield* judge(verifier, token), verdict, String(seconds))
      }
      yield* TestClock.setTime(999_999_000)
      assert.strictEqual(yield* judge(verifier, token), "The token is not valid yet")
    }))

  it.effect("does not say which of several keys it needs", () =>
    Effect.gen(function*() {
      const keys = [yield* makeKey("first"), yield* makeKey("second")]
      const { key, verifier } = yield* start({}, keys)
      const reason = "The token does not say which key it needs"
      assert.strictEqual(yield* judge(verifier, yield* sign(key, {}, { kid: undefined })), reason)
      assert.strictEqual(yield* judge(verifier, yield* sign(key)), ada)
    }))
})

describe("options that make no sense", () => {
  const samples: ReadonlyArray<readonly [Partial<JwtVerifier.JwtOptions>, string]> = [
    [{ issuer: "" }, "the issuer is empty"],
    [{ audience: "" }, "the audience is empty"],
    [{ audience: [] }, "the audience is empty"],
    [{ audience: [audience, ""] }, "the audience is empty"],
    [{ algorithms: [] }, "asymmetric"],
    [{ algorithms: ["HS256" as "RS256"] }, "asymmetric"],
    [{ algorithms: ["none" as "RS256"] }, "asymmetric"],
    [{ jwksUri: "/jwks" }, "jwksUri is not an absolute URL"],
    [{ jwksUri: "http://issuer.example/jwks" }, "jwksUri must be an https address"],
    [{ jwksUri: "file:///jwks" }, "jwksUri must be an https address"],
    [{ jwksUri: "ftp://localhost/jwks" }, "jwksUri must be an https address"],
    [{ jwksUri: "https://user@issuer.example/jwks" }, "jwksUri must not hold credentials"],
    [{ jwksUri: "https://:secret@issuer.example/jwks" }, "jwksUri must not hold credentials"]
  ]
  for (const [changed, reason] of samples) {
    it.effect(`die with a sentence: ${JSON.stringify(changed)}`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(start(changed))
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit), `The JWT verifier cannot be used: `)
        assert.include(String(exit), reason)
        assert.notInclude(String(exit), "secret")
      }))
  }

  it.effect("but plain http on a loopback address is for trying things out", () =>
    Effect.gen(function*() {
      for (const host of ["localhost:1", "127.0.0.1", "[::1]:8080"]) {
        const { key, verifier } = yield* start({ jwksUri: `http://${host}/jwks` })
        assert.strictEqual(yield* judge(verifier, yield* sign(key)), ada)
      }
    }))
})
