/** What becomes of tokens when the issuer's keys change, or cannot be had. */
import { JwtVerifier } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { FetchHttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as jose from "jose"
import { createServer } from "node:http"
import { ada, type Answer, judge, makeKey, options, published, sign, start } from "./Issuer.ts"
import { settle } from "./TestServer.ts"

describe("the keys", () => {
  it.effect("are fetched once, when the first token comes", () =>
    Effect.gen(function*() {
      const { key, state, verifier } = yield* start()
      assert.strictEqual(state.fetches, 0)
      const token = yield* sign(key)
      const owners = yield* Effect.forEach(Array.from({ length: 50 }), () => judge(verifier, token), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([new Set(owners), state.fetches], [new Set([ada]), 1])
    }))

  it.effect("are fetched again after ten minutes, and a withdrawn one is refused from then on", () =>
    Effect.gen(function*() {
      const { key, state, verifier } = yield* start()
      const token = yield* sign(key)
      assert.strictEqual(yield* judge(verifier, token), ada)
      state.answer = published([yield* makeKey("second")])
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(yield* judge(verifier, token), ada)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* judge(verifier, token), "The key of the token is not known")
      assert.strictEqual(state.fetches, 2)
    }))

  it.effect("are looked at again for a new name, so that rotation needs no restart", () =>
    Effect.gen(function*() {
      const { key, state, verifier } = yield* start()
      assert.strictEqual(yield* judge(verifier, yield* sign(key)), ada)
      const second = yield* makeKey("second")
      state.answer = published([key, second])
      yield* TestClock.adjust("31 seconds")
      assert.strictEqual(yield* judge(verifier, yield* sign(second)), ada)
      assert.strictEqual(yield* judge(verifier, yield* sign(key)), ada)
      assert.strictEqual(state.fetches, 2)
    }))

  it.effect("are fetched at most every 30 seconds, whatever names are invented", () =>
    Effect.gen(function*() {
      const { key, state, verifier } = yield* start()
      for (let second = 0; second < 60; second++) {
        const token = yield* sign(key, {}, { kid: `invented ${second}` })
        assert.strictEqual(yield* judge(verifier, token), "The key of the token is not known")
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(state.fetches, 2)
    }))

  const outages: ReadonlyArray<readonly [name: string, answer: Answer]> = [
    ["no connection", "nothing"],
    ["a server error", { status: 500, body: "{\"keys\":[]}" }],
    ["a redirect", { status: 302, body: "" }],
    ["a page instead of keys", { status: 200, body: "<html>" }],
    ["another document", { status: 200, body: "{\"key\":[]}" }],
    ["null", { status: 200, body: "null" }]
  ]
  for (const [name, answer] of outages) {
    it.effect(`that cannot be had, by ${name}, leave nobody in and call no token invalid [K9]`, () =>
      Effect.gen(function*() {
        const { key, state, verifier } = yield* start()
        const token = yield* sign(key)
        const sound = state.answer
        state.answer = answer
        assert.strictEqual(yield* judge(verifier, token), "unavailable")
        assert.strictEqual(yield* judge(verifier, token), "unavailable")
        assert.strictEqual(state.fetches, 1)
        state.answer = sound
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* judge(verifier, token), ada)
      }))
  }

  it.effect("that do not come in five seconds are not waited for longer", () =>
    Effect.gen(function*() {
      const { key, state, verifier } = yield* start()
      state.answer = "never"
      const token = yield* sign(key)
      const asking = yield* Effect.forkChild(judge(verifier, token), { startImmediately: true })
      // What is asked for from then on is a matter of the test's time.
      while (state.fetches === 0) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* settle
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(asking), "unavailable")
    }))

  it.effect("that are known outlive an outage for ten minutes; unknown names wait for its end [K9]", () =>
    Effect.gen(function*() {
      const { key, state, verifier } = yield* start()
      const token = yield* sign(key)
      const unknown = yield* sign(key, {}, { kid: "second" })
      assert.strictEqual(yield* judge(verifier, token), ada)
      state.answer = "nothing"
      yield* TestClock.adjust("5 minutes")
      for (let time = 0; time < 3; time++) {
        assert.strictEqual(yield* judge(verifier, unknown), "unavailable")
        assert.strictEqual(yield* judge(verifier, token), ada)
      }
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* judge(verifier, token), "unavailable")
    }))

  it.effect("that are broken or private are the issuer's fault, not the token's", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("first")
      const secret = yield* Effect.promise(() => jose.exportJWK(key.privateKey))
      const broken: ReadonlyArray<jose.JWK> = [
        { ...key.jwk, ...secret },
        { ...key.jwk, x: "AAAA" },
        { ...key.jwk, y: "!" }
      ]
      for (const jwk of broken) {
        const { verifier } = yield* start({}, [{ ...key, jwk }])
        assert.strictEqual(yield* judge(verifier, yield* sign(key)), "unavailable", JSON.stringify(jwk))
      }
    }))
})

describe("the key endpoint", () => {
  it.live("is asked over HTTP, and may not send us elsewhere", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("first")
      const asked: Array<string | undefined> = []
      const server = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createServer((request, response) => {
            asked.push(request.url)
            if (request.url === "/moved") response.writeHead(302, { location: "/jwks" }).end()
            else response.writeHead(200).end(JSON.stringify({ keys: [key.jwk] }))
          })
        ),
        (server) => Effect.callback<void>((done) => void server.close(() => done(Effect.void)).closeAllConnections())
      )
      const port = yield* Effect.callback<number>((done) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          done(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0))
        })
      })
      const at = (path: string) =>
        JwtVerifier.make({ ...options, jwksUri: `http://127.0.0.1:${port}${path}` }).pipe(
          Effect.flatMap((verifier) => Effect.flatMap(sign(key), (token) => judge(verifier, token))),
          Effect.provide(FetchHttpClient.layer)
        )
      assert.strictEqual(yield* at("/jwks"), ada)
      assert.strictEqual(yield* at("/moved"), "unavailable")
      assert.deepStrictEqual(asked, ["/jwks", "/moved"])
    }))
})
