/**
 * What stands between the replicas of a campaign and their storage: it cuts connections, loses what the storage says,
 * and makes it slow.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, createServer, type Socket } from "node:net"

/**
 * What a proxy can do to the connections that go through it.
 *
 * @category models
 * @since 0.2.0
 */
export interface Proxy {
  readonly port: number
  /** Drops every connection. New ones are let in. */
  readonly cut: Effect.Effect<void>
  /** What the storage says is lost while the effect runs; what it is told arrives. Connections are dropped after it. */
  readonly mute: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What the storage says comes so many milliseconds late while the effect runs. */
  readonly slow: (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const open = (target: number) => {
  const pairs = new Set<() => void>()
  let isMute = false
  let delay = 0

  const join = (client: Socket): void => {
    const storage = connect(target, "127.0.0.1")
    const end = () => {
      pairs.delete(end)
      client.destroy()
      storage.destroy()
    }
    pairs.add(end)
    for (const socket of [client, storage]) socket.setNoDelay(true).on("error", end).on("close", end)
    client.on("data", (chunk) => storage.write(chunk))
    const say = (chunk: Buffer) => {
      if (!client.destroyed) client.write(chunk)
    }
    // Whatever comes late keeps its order: each timer says what is first, not what it was set for.
    const late: Array<Buffer> = []
    storage.on("data", (chunk) => {
      if (isMute) return
      if (delay === 0 && late.length === 0) return say(chunk)
      late.push(chunk)
      setTimeout(() => {
        const first = late.shift()
        if (first !== undefined) say(first)
      }, delay)
    })
  }

  const cut = () => {
    pairs.forEach((end) => end())
  }
  return {
    server: createServer(join),
    cut,
    setMute: (to: boolean) => {
      isMute = to
    },
    setDelay: (to: number) => {
      delay = to
    }
  }
}

/**
 * Starts a proxy in front of a port of this machine, as long as the scope lives.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (target: number): Effect.Effect<Proxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { cut, server, setDelay, setMute } = open(target)
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.sync(() => {
          server.close()
          cut()
        })
    )
    const address = server.address()
    return {
      port: typeof address === "object" && address !== null ? address.port : 0,
      cut: Effect.sync(cut),
      mute: (effect) =>
        Effect.acquireUseRelease(
          Effect.sync(() => setMute(true)),
          () => effect,
          () =>
            Effect.sync(() => {
              cut()
              setMute(false)
            })
        ),
      slow: (millis) => (effect) =>
        Effect.acquireUseRelease(
          Effect.sync(() => setDelay(millis)),
          () => effect,
          () => Effect.sync(() => setDelay(0))
        )
    }
  })
