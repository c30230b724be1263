/**
 * An eye on the connection of a client of Redis: one that looks open and brings nothing is made anew.
 *
 * A connection can go silent without an end: a balancer forgets it, a machine is gone, and nobody says so. The client
 * would write into it for a quarter of an hour. So whoever gives up waiting for an answer, and has seen nobody get one
 * meanwhile, asks once more, and has the client connect anew when that brings nothing either. What was under way fails,
 * and may have been carried out. A Redis that is only slow answers somebody in that time.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import type * as Scope from "effect/Scope"

/** What a client of `node-redis` can do that `Redis` cannot. */
interface Client {
  readonly isOpen: boolean
  readonly isReady: boolean
  readonly sendCommand: (command: ReadonlyArray<string>) => Promise<unknown>
  readonly destroy: () => void
  readonly connect: () => Promise<unknown>
  readonly on: (event: string, listener: () => void) => unknown
  readonly off: (event: string, listener: () => void) => unknown
}

// The key of `@effect/platform-node`'s own service, which `NodeRedis.layer` gives beside `Redis`. To import it would
// load that driver for everyone who uses another.
const NodeRedis = Context.Service<"NodeRedis", { readonly client: Client }>("@effect/platform-node/NodeRedis")

/** How long the last question waits, after one that was given up. */
const lastPatience = Duration.seconds(4)

/** How long a new connection may be open before it is of use. */
const handshake = Duration.seconds(5)

/** For the old connection to have ended before the new one begins. */
const pause = Duration.millis(10)

/** What is known of a client's connection, by all who use it. */
interface Connection {
  /** How many use it. */
  users: number
  /** How many answers have come. */
  answers: number
  /** Asks once more, in the background, unless there has been an answer after so many. */
  readonly doubt: (answers: number) => void
  readonly leave: () => void
}

const connections = new WeakMap<Client, Connection>()

/** Runs effects in the background, until they are told to end. */
const background = (context: Context.Context<never>) => {
  const fibers = new Set<Fiber.Fiber<void>>()
  const fork = Effect.runForkWith(context)
  return {
    run: (effect: Effect.Effect<void>) => {
      const fiber = fork(effect)
      fibers.add(fiber)
      fiber.addObserver(() => fibers.delete(fiber))
    },
    end: () => {
      for (const fiber of fibers) fiber.interruptUnsafe()
    }
  }
}

/** Calls back when a new connection is open and not ready yet, and when it is, or is no more. */
const onHandshake = (client: Client, begins: () => void, ends: () => void): () => void => {
  const after = ["ready", "reconnecting", "error", "end"]
  client.on("connect", begins)
  for (const event of after) client.on(event, ends)
  return () => {
    client.off("connect", begins)
    for (const event of after) client.off(event, ends)
  }
}

const make = (client: Client, context: Context.Context<never>): Connection => {
  const { end, run } = background(context)
  let isDoubted = false
  let isSaid = false
  let handshakes = 0

  const renew = Effect.gen(function*() {
    if (!isSaid) yield* Effect.logWarning("Redis does not answer on a connection that is open; it is made anew")
    isSaid = true
    client.destroy()
    yield* Effect.sleep(pause)
    // It tries until it is connected, and says what goes wrong as it does after each lost connection.
    yield* Effect.ignore(Effect.tryPromise(() => client.connect()))
  })

  const asking = (answers: number) =>
    Effect.gen(function*() {
      const asked = Effect.ignore(Effect.tryPromise(() => client.sendCommand(["PING"])))
      const answer = yield* Effect.timeoutOption(asked, lastPatience)
      isDoubted = false
      if (Option.isSome(answer)) connection.answers++
      if (connection.answers === answers && client.isReady) yield* renew
    })

  const forget = onHandshake(client, () => {
    const mine = ++handshakes
    const isStuck = () => mine === handshakes && client.isOpen && !client.isReady
    run(Effect.delay(Effect.suspend(() => isStuck() ? renew : Effect.void), handshake))
  }, () => {
    handshakes++
    if (client.isReady) isSaid = false
  })

  const connection: Connection = {
    users: 0,
    answers: 0,
    doubt: (answers) => {
      if (isDoubted || connection.answers !== answers || !client.isReady) return
      isDoubted = true
      run(asking(answers))
    },
    leave: () => {
      if (--connection.users > 0) return
      connections.delete(client)
      forget()
      end()
    }
  }
  return connection
}

/** All who use one client share what is known of it. */
const join = (client: Client): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Effect.context<never>(), (context) => {
      const connection = connections.get(client) ?? make(client, context)
      connections.set(client, connection)
      connection.users++
      return connection
    }),
    ({ leave }) => Effect.sync(leave)
  )

/** Everything but an interruption is an answer, or comes of a connection that is known to be gone. */
const through = (connection: Connection) => <A>(reply: Effect.Effect<A, Redis.RedisError>) =>
  Effect.suspend(() => {
    const { answers } = connection
    return Effect.onExit(reply, (exit) =>
      Effect.sync(() => {
        if (Exit.hasInterrupts(exit)) connection.doubt(answers)
        else connection.answers++
      }))
  })

/**
 * The Redis around it, with all that is asked of it answered in another way.
 *
 * @since 0.2.0
 */
export const mapped = (
  redis: Redis.Redis["Service"],
  change: <A>(reply: Effect.Effect<A, Redis.RedisError>) => Effect.Effect<A, Redis.RedisError>
): Redis.Redis["Service"] => ({
  ...redis,
  send: (command, ...args) => change(redis.send(command, ...args)),
  eval: (script) => {
    const run = redis.eval(script)
    return (...params) => change(run(...params))
  }
})

/**
 * The Redis around it, whose connection is watched where its client is that of `NodeRedis.layer`; others are not known.
 *
 * @since 0.2.0
 */
export const watched: Effect.Effect<Redis.Redis["Service"], never, Redis.Redis | Scope.Scope> = Effect.gen(
  function*() {
    const redis = yield* Redis.Redis
    const node = yield* Effect.serviceOption(NodeRedis)
    if (Option.isNone(node)) return redis
    return mapped(redis, through(yield* join(node.value.client)))
  }
)
