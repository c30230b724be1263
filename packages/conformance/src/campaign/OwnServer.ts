/**
 * A database server of a campaign's own: it is started from its binary, and stopped, frozen and started again over the
 * same files.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chownSync, mkdirSync } from "node:fs"
import { createServer } from "node:net"
import { userInfo } from "node:os"
import { join } from "node:path"

/**
 * A server that a campaign may break.
 *
 * @category models
 * @since 0.2.0
 */
export interface OwnServer {
  readonly port: number
  readonly url: string
  /** Ends it with a signal while the effect runs, and starts it again. */
  readonly away: (signal: NodeJS.Signals) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Stops it from running while the effect runs, without closing a connection. */
  readonly paused: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How to start a kind of server. */
interface Kind {
  readonly port: number
  readonly url: string
  readonly run: () => ChildProcess
  readonly sign: RegExp
}

/**
 * Ports below those that systems give out by themselves, from 32768 on Linux and 49152 on macOS: one of those may be
 * taken by any connection while nobody listens there, even by one that looks for its server.
 */
const lowestPort = 10_000
/** Processes that run beside each other look in different places, by their id. */
const portsEach = 20
const places = 1_000

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

let looked = 0

/** A port on which nobody listens. */
const freePort = async (): Promise<number> => {
  const first = lowestPort + process.pid % places * portsEach
  for (let tries = 0; tries < portsEach; tries++) {
    const port = first + looked++ % portsEach
    if (await isFree(port)) return port
  }
  throw new Error(`All ports from ${first} to ${first + portsEach - 1} are taken`)
}

/** Resolves when the output of a server says that it is ready; rejects when it ends before. */
const ready = (child: ChildProcess, sign: RegExp): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = ""
    const hear = (chunk: unknown) => {
      if (output.length < 100_000) output += String(chunk)
      if (sign.test(output)) resolve()
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", hear)
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${output}`)))
  })

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once("exit", () => resolve())
  })

const manage = ({ port, run, sign, url }: Kind): Effect.Effect<OwnServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    let child = run()
    const kill = (signal: NodeJS.Signals) =>
      Effect.promise(() => {
        child.kill(signal)
        return ended(child)
      })
    yield* Effect.acquireRelease(Effect.promise(() => ready(child, sign)), () => kill("SIGKILL"))
    const start = Effect.promise(() => {
      child = run()
      return ready(child, sign)
    })
    return {
      port,
      url,
      away: (signal) => (effect) => Effect.acquireUseRelease(kill(signal), () => effect, () => start),
      paused: (effect) =>
        Effect.acquireUseRelease(
          Effect.sync(() => child.kill("SIGSTOP")),
          () => effect,
          () => Effect.sync(() => child.kill("SIGCONT"))
        )
    }
  })

/**
 * A Redis that syncs whatever it acknowledges, as long as the scope lives.
 *
 * @category constructors
 * @since 0.2.0
 */
export const redis = (directory: string): Effect.Effect<OwnServer, never, Scope.Scope> =>
  Effect.flatMap(Effect.promise(freePort), (port) =>
    manage({
      port,
      url: `redis://127.0.0.1:${port}`,
      sign: /Ready to accept connections/,
      run: () =>
        spawn("redis-server", [
          "--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--save", "",
          "--appendonly", "yes", "--appendfsync", "always"
        ])
    }))

/** Postgres refuses to run as root, so there it runs as nobody. */
const unprivileged = () => {
  if (userInfo().uid !== 0) return {}
  const id = (flag: string) => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout)
  return { uid: id("-u"), gid: id("-g") }
}

/**
 * A Postgres, as long as the scope lives.
 *
 * @category constructors
 * @since 0.2.0
 */
export const postgres = (parent: string): Effect.Effect<OwnServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(freePort)
    const user = unprivileged()
    const directory = join(parent, "postgres")
    mkdirSync(directory)
    if (user.uid !== undefined && user.gid !== undefined) {
      chownSync(parent, user.uid, user.gid)
      chownSync(directory, user.uid, user.gid)
    }
    const data = join(directory, "data")
    const made = spawnSync("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"], {
      encoding: "utf8",
      cwd: directory,
      ...user
    })
    if (made.status !== 0) return yield* Effect.die(new Error(`initdb failed: ${made.error ?? made.stderr}`))
    return yield* manage({
      port,
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      sign: /ready to accept connections/,
      run: () =>
        spawn("postgres", ["-D", data, "-p", String(port), "-k", directory, "-h", "127.0.0.1"], {
          cwd: directory,
          ...user
        })
    })
  })
