/** The state of a call on its way through the client: what opens it, and that nothing else does. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { RequestState } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, type Schema } from "effect"
import { Base64 } from "effect/encoding"
import { TestClock } from "effect/testing"
import { accept, type Body, name, refuses, start, wants } from "./RoundServer.ts"

const answers = { name: accept({ name: "Ada" }) }

/** What is said of every state that is not taken, whatever is the matter with it. */
const refusal = "params.requestState is not one that is valid for this call"

const secret = (fill: number) => Redacted.make(Base64.encode(new Uint8Array(32).fill(fill)))

const sealedWith = (first: number, ...others: ReadonlyArray<number>) => ({
  state: RequestState.layer({ keys: [secret(first), ...others.map(secret)] })
})

describe("requestState", () => {
  it.effect("is refused when any of it was changed, cut or added to [F8, I5]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const { state } = yield* wants(server.call("plain"), "name")
      const changed = [
        ...Array.from({ length: state.length }, (_, at) =>
          `${state.slice(0, at)}${state[at] === "A" ? "B" : "A"}${state.slice(at + 1)}`),
        state.slice(1),
        state.slice(0, -1),
        `${state}A`,
        `${state}=`,
        `${state}-TAMPERED`,
        ` ${state}`,
        "",
        "A".repeat(10),
        "A".repeat(2_000_000)
      ]
      for (const requestState of changed) {
        const words = yield* refuses(server.call("plain", { inputResponses: answers, requestState }), -32602)
        assert.strictEqual(words, refusal)
      }
      const done = yield* server.call("plain", { inputResponses: answers, requestState: state })
      assert.strictEqual(done.result["resultType"], "complete")
    }))

  it.effect("is refused in any other spelling of the same bytes [F8]", () =>
    Effect.gen(function*() {
      // A last character may have bits that stand for nothing: how many, the length decides.
      for (const message of ["a", "ab", "abc"]) {
        const server = yield* start({ body: (task) => task.elicit("name", { ...name, message }) })
        const { state } = yield* wants(server.call("plain"), "name")
        for (const last of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=") {
          if (state.endsWith(last)) continue
          yield* refuses(server.call("plain", { requestState: `${state.slice(0, -1)}${last}` }), -32602)
        }
      }
    }))

  it.effect("is refused when it is no text, and so are answers that are no object [F8, F9]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      for (const requestState of [null, 1, true, {}, ["a"]]) {
        assert.strictEqual(yield* refuses(server.call("plain", { requestState }), -32602), refusal)
      }
      for (const inputResponses of [null, 1, "a", []]) {
        const words = yield* refuses(server.call("plain", { inputResponses }), -32602)
        assert.strictEqual(words, "params.inputResponses must be an object")
      }
    }))

  it.effect("opens for its owner only [F8, I5]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const { state } = yield* wants(server.call("plain"), "name")
      const retry = { inputResponses: answers, requestState: state }
      const others = [
        TaskOwner.anonymous,
        TaskOwner.principal({ issuer: "https://issuer.example", subject: "bob" }),
        TaskOwner.principal({ issuer: "https://other.example", subject: "ada" }),
        TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada", tenant: "t" })
      ]
      for (const owner of others) {
        assert.strictEqual(yield* refuses(server.call("plain", retry, { owner }), -32602), refusal)
      }
      const owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" })
      assert.strictEqual((yield* server.call("plain", retry, { owner })).result["resultType"], "complete")
    }))

  it.effect("opens for the same tool with the same arguments only, in whatever order they come [F8]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const given = { text: "a", n: 1, extra: { x: [1, null], "2": "b" } }
      const { state } = yield* wants(server.call("plain", { arguments: given }), "name")
      const retry = { inputResponses: answers, requestState: state }
      const others: ReadonlyArray<Schema.JsonObject> = [
        {},
        { text: "a" },
        { ...given, n: 2 },
        { ...given, text: "A" },
        { ...given, extra: { x: [null, 1], "2": "b" } },
        { ...given, extra: { x: [1], "2": "b" } },
        { ...given, more: null }
      ]
      for (const args of others) {
        assert.strictEqual(yield* refuses(server.call("plain", { ...retry, arguments: args }), -32602), refusal)
      }
      yield* refuses(server.call("resumable", { ...retry, arguments: given }), -32602)
      const reordered = { extra: { "2": "b", x: [1, null] }, n: 1, text: "a" }
      const done = yield* server.call("plain", { ...retry, arguments: reordered })
      assert.strictEqual(done.result["resultType"], "complete")
    }))

  it.effect("arguments left out are the same as none", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const { state } = yield* wants(server.call("plain", { arguments: {} }), "name")
      const done = yield* server.ask("tools/call", { name: "plain", inputResponses: answers, requestState: state })
      assert.strictEqual(done.result["resultType"], "complete")
    }))

  it.effect("opens for 1 hour unless said otherwise [F8]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const { state } = yield* wants(server.call("plain"), "name")
      const retry = { inputResponses: answers, requestState: state }
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual((yield* server.call("plain", retry)).result["resultType"], "complete")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* refuses(server.call("plain", retry), -32602), refusal)
    }))

  it.effect("opens until it expires, and each round has a time of its own [F8]", () =>
    Effect.gen(function*() {
      const body: Body = (task) => Effect.andThen(task.elicit("name", name), task.elicit("more", name))
      const server = yield* start({ body }, { state: RequestState.layer({ ttl: "5 seconds" }) })
      const { state } = yield* wants(server.call("plain"), "name")
      const retry = { inputResponses: answers, requestState: state }
      yield* TestClock.adjust("4 seconds")
      const second = yield* wants(server.call("plain", retry), "more")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* refuses(server.call("plain", retry), -32602), refusal)
      yield* TestClock.adjust("3 seconds")
      const last = { inputResponses: { more: accept({ name: "Bob" }) }, requestState: second.state }
      assert.strictEqual((yield* server.call("plain", last)).result["resultType"], "complete")
    }))

  it.effect("shows nothing of what it holds, and is another each time [F8]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const [one, two] = [yield* wants(server.call("plain"), "name"), yield* wants(server.call("plain"), "name")]
      assert.notStrictEqual(one.state, two.state)
      assert.match(one.state, /^[\w-]+$/)
      const seen = Buffer.from(one.state, "base64url").toString("latin1")
      for (const word of ["name", "Which", "elicitation", "expiresAt"]) assert.notInclude(seen, word)
    }))
})

describe("RequestState.layer", () => {
  it.effect("lets another process open what the first has sealed, with the same keys only [C7, F8]", () =>
    Effect.gen(function*() {
      const first = yield* start({}, sealedWith(1))
      const { state } = yield* wants(first.call("plain"), "name")
      const retry = { inputResponses: answers, requestState: state }
      const replica = yield* start({}, sealedWith(1))
      assert.strictEqual((yield* replica.call("plain", retry)).result["resultType"], "complete")
      for (const stranger of [yield* start({}, sealedWith(2)), yield* start({})]) {
        assert.strictEqual(yield* refuses(stranger.call("plain", retry), -32602), refusal)
      }
    }))

  it.effect("changes the key without a gap: add the new one, seal with it, drop the old one", () =>
    Effect.gen(function*() {
      const [old, both, next, last] = [
        yield* start({}, sealedWith(1)),
        yield* start({}, sealedWith(1, 2)),
        yield* start({}, sealedWith(2, 1)),
        yield* start({}, sealedWith(2))
      ]
      const opens = (from: typeof old, to: typeof old) =>
        Effect.gen(function*() {
          const { state } = yield* wants(from.call("plain"), "name")
          const { error } = yield* to.call("plain", { inputResponses: answers, requestState: state })
          return error === undefined
        })
      for (const [from, to] of [[old, both], [both, old], [both, next], [next, both], [next, last], [last, next]]) {
        assert.isTrue(yield* opens(from ?? old, to ?? old))
      }
      assert.isFalse(yield* opens(old, last))
      assert.isFalse(yield* opens(last, old))
    }))

  it.effect("refuses to start with a secret that is none", () =>
    Effect.gen(function*() {
      for (const bad of ["", "secret", Base64.encode(new Uint8Array(31)), Base64.encode(new Uint8Array(33)), "%"]) {
        const error = yield* Effect.flip(Layer.build(RequestState.layer({ keys: [secret(1), Redacted.make(bad)] })))
        assert.match(error.message, /^Request state key no\. 2 is not 32 bytes in base64/)
        if (bad !== "") assert.notInclude(error.message, bad)
      }
    }).pipe(Effect.scoped))

  it.effect("without keys, says once that no other process can open what this one seals; with keys, nothing", () =>
    Effect.gen(function*() {
      const [alone, shared]: [Array<string>, Array<string>] = [[], []]
      const first = yield* start({}, { logs: alone })
      assert.deepStrictEqual(alone, [])
      yield* wants(first.call("plain"), "name")
      yield* wants(first.call("plain"), "name")
      assert.deepStrictEqual(alone.map((line) => line.slice(0, 60)), [
        "requestState is sealed with a key that only this process has"
      ])
      yield* wants((yield* start({}, { ...sealedWith(1), logs: shared })).call("plain"), "name")
      assert.deepStrictEqual(shared, [])
    }))

  it.effect("gives out no state that is too long to be carried", () =>
    Effect.gen(function*() {
      const state = RequestState.layer({ maxLength: 2_000 })
      const server = yield* start({
        body: (task) => task.elicit("name", { ...name, message: "x".repeat(2_000) })
      }, { state })
      const words = yield* refuses(server.call("plain"), -32603)
      assert.strictEqual(words, "The tool has gathered more than a client can be given to carry")
    }))

  it.effect("takes back no state that is longer than it gives out [F8]", () =>
    Effect.gen(function*() {
      const body: Body = (task) => task.elicit("name", { ...name, message: "x".repeat(2_000) })
      const withLength = (maxLength: number) => ({ state: RequestState.layer({ keys: [secret(1)], maxLength }) })
      const generous = yield* start({ body }, withLength(100_000))
      const strict = yield* start({ body }, withLength(2_000))
      const { state } = yield* wants(generous.call("plain"), "name")
      const retry = { inputResponses: answers, requestState: state }
      assert.strictEqual((yield* generous.call("plain", retry)).result["resultType"], "complete")
      assert.strictEqual(yield* refuses(strict.call("plain", retry), -32602), refusal)
    }))
})
