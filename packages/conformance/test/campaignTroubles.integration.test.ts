/** What a campaign does to its storage is what a network and a server can do, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { connect, createServer, type Server } from "node:net"
import * as Fleet from "../src/campaign/Fleet.ts"
import * as Place from "../src/campaign/Place.ts"
import * as Proxy from "../src/campaign/Proxy.ts"

/** Says back whatever it hears. */
const echo = Effect.acquireRelease(
  Effect.promise(() =>
    new Promise<Server>((resolve) => {
      const server = createServer((socket) => socket.setNoDelay(true).on("data", (chunk) => socket.write(chunk)))
      server.listen(0, "127.0.0.1", () => resolve(server))
    })
  ),
  (server) => Effect.sync(() => server.close())
)

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : assert.fail("The server has no port")
}

const trouble = (name: string): Place.Trouble => ({ name, during: (effect) => effect })

describe("the troubles of a campaign", () => {
  it.live("make answers late, and never the first of two the second", () =>
    Effect.gen(function*() {
      const proxy = yield* Proxy.make(portOf(yield* echo))
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => connect(proxy.port, "127.0.0.1").setNoDelay(true)),
        (socket) => Effect.sync(() => socket.destroy())
      )
      let heard = ""
      client.on("data", (chunk) => heard += String(chunk))
      const asking = (letters: string) =>
        Effect.forEach(letters, (letter) =>
          Effect.andThen(Effect.sync(() => client.write(letter)), Effect.sleep("10 millis")), { discard: true })
      yield* asking("abc")
      yield* proxy.slow(200)(asking("defghi"))
      yield* asking("jklmnopq")
      while (heard.length < 17) yield* Effect.sleep("10 millis")
      assert.strictEqual(heard, "abcdefghijklmnopq")
    }).pipe(Effect.scoped))

  it.effect("come to their end when no replica is up that could be struck meanwhile", () =>
    Effect.gen(function*() {
      const place = { store: "redis", at: "redis://127.0.0.1:1", name: "none", world: "none" } as const
      const fleet = yield* Fleet.make({ ...place, size: 0, isLoud: false })
      const striking = yield* Effect.forkChild(fleet.strike("SIGKILL"))
      yield* TestClock.adjust("3 seconds")
      assert.isUndefined(yield* Fiber.join(striking))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("are those that were named, and a name that is none of them is refused", () =>
    Effect.gen(function*() {
      const place: Place.Place = { at: "somewhere", troubles: ["cut", "slow", "full"].map(trouble) }
      const { troubles } = yield* Place.narrow(place, ["full", "cut"])
      assert.deepStrictEqual(troubles.map(({ name }) => name), ["cut", "full"])
      const error = yield* Effect.flip(Place.narrow(place, ["cut", "late"]))
      assert.strictEqual(error.message, `There is no trouble "late" here; there are: cut, slow, full`)
    }))
})
