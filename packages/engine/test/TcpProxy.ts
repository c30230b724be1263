/** Stands between a client and its server, to lose what tests want lost. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** What a proxy can do to the connections that go through it. */
export interface TcpProxy {
  readonly port: number
  /** How many connections go through it now. */
  readonly connections: Effect.Effect<number>
  /** Drops every connection. New ones are let in. */
  readonly cut: Effect.Effect<void>
  /** From now on, what the server says is lost; what the client says arrives. */
  readonly loseReplies: Effect.Effect<void>
  /** From now on, present connections bring nothing in either direction, and do not end. New ones do. */
  readonly silence: Effect.Effect<void>
  /** Ends `loseReplies`, for new connections and for those that are left. */
  readonly pass: Effect.Effect<void>
  /** Sends new connections to another server. */
  readonly redirect: (port: number) => Effect.Effect<void>
}

/** Starts a proxy in front of a port of this machine, as long as the scope lives. */
export const make = (targetPort: number) =>
  Effect.acquireRelease(
    Effect.promise(() => start(targetPort)),
    ({ stop }) => Effect.sync(stop)
  )

const start = (targetPort: number): Promise<TcpProxy & { readonly stop: () => void }> => {
  const pairs = new Set<readonly [Socket, Socket]>()
  let target = targetPort
  let isLosing = false
  let silenced = 0
  let made = 0

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1")
    const pair = [client, upstream] as const
    const mine = ++made
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.setNoDelay(true).on("error", end).on("close", end)
    client.on("data", (chunk) => {
      if (mine > silenced) upstream.write(chunk)
    })
    upstream.on("data", (chunk) => {
      if (!isLosing && mine > silenced) client.write(chunk)
    })
  })
  const cut = () => {
    for (const [client, upstream] of pairs) {
      client.destroy()
      upstream.destroy()
    }
  }

  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        connections: Effect.sync(() => pairs.size),
        cut: Effect.sync(cut),
        loseReplies: Effect.sync(() => {
          isLosing = true
        }),
        silence: Effect.sync(() => {
          silenced = made
        }),
        pass: Effect.sync(() => {
          isLosing = false
        }),
        redirect: (port) =>
          Effect.sync(() => {
            target = port
          }),
        stop: () => {
          server.close()
          cut()
        }
      })
    })
  })
}
