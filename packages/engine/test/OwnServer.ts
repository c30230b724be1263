/** Redis and Postgres servers that tests start from binaries, break as they like, and throw away. */
import { afterAll } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chownSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"

const answers = (command: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0

/** Whether `redis-server` can be started. */
export const hasRedis = answers("redis-server", "--version")

/** Whether `initdb` and `postgres` can be started. */
export const hasPostgres = answers("initdb", "--version") && answers("postgres", "--version")

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
export const freePort = async (): Promise<number> => {
  const first = lowestPort + process.pid % places * portsEach
  for (let tries = 0; tries < portsEach; tries++) {
    const port = first + looked++ % portsEach
    if (await isFree(port)) return port
  }
  throw new Error(`All ports from ${first} to ${first + portsEach - 1} are taken`)
}

const makeDirectory = (name: string): string => mkdtempSync(join(tmpdir(), `effect-mcp-tasks-${name}-`))

const exited = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once("exit", () => resolve())
  })

/** Resolves when the output of a server says that it is ready; rejects when the server ends before. */
const ready = (child: ChildProcess, sign: RegExp): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = ""
    const hear = (chunk: unknown) => {
      output += String(chunk)
      if (sign.test(output)) resolve()
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", hear)
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${output}`)))
  })

/** What a killed Postgres leaves behind: its sessions have its memory until they notice that it is gone. */
const isHeldYet = /pre-existing shared memory block/
const maxStarts = 100

/** A server of a test's own. */
export interface OwnServer {
  readonly port: number
  readonly url: string
  /** Ends it with a signal, and waits until it has ended. */
  readonly kill: (signal?: NodeJS.Signals) => Effect.Effect<void>
  /** Starts it again on the same port, over the same files. */
  readonly start: Effect.Effect<void>
  /** Stops it from running, without closing a connection. */
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

/** How to start a kind of server. */
interface Kind {
  readonly port: number
  readonly url: string
  readonly run: () => ChildProcess
  readonly sign: RegExp
  readonly directory: string
}

const manage = ({ directory, port, run, sign, url }: Kind) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      let child = run()
      await ready(child, sign)
      return {
        port,
        url,
        kill: (signal: NodeJS.Signals = "SIGKILL") =>
          Effect.promise(() => {
            child.kill(signal)
            return exited(child)
          }),
        start: Effect.promise(async () => {
          let failure: unknown
          for (let tries = 0; tries < maxStarts; tries++) {
            child = run()
            failure = await ready(child, sign).catch((error: unknown) => error)
            if (failure === undefined) return
            if (!isHeldYet.test(String(failure))) break
            await setTimeout(100)
          }
          throw failure
        }),
        pause: Effect.sync(() => void child.kill("SIGSTOP")),
        resume: Effect.sync(() => void child.kill("SIGCONT"))
      }
    }),
    ({ kill }) =>
      Effect.andThen(kill("SIGKILL"), Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  )

const redisKind = async (options: ReadonlyArray<string>): Promise<Kind> => {
  const port = await freePort()
  const directory = makeDirectory("redis")
  return {
    port,
    directory,
    url: `redis://127.0.0.1:${port}`,
    sign: /Ready to accept connections/,
    run: () =>
      spawn("redis-server", [
        "--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--save", "",
        "--repl-diskless-sync-delay", "0", ...options
      ])
  }
}

/** A Redis server with these options, as long as the scope lives. */
export const redis = (...options: ReadonlyArray<string>) =>
  Effect.flatMap(Effect.promise(() => redisKind(options)), manage)

/** Postgres refuses to run as root, so there it runs as nobody. */
const unprivileged = () => {
  if (userInfo().uid !== 0) return {}
  const id = (flag: string) => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout)
  return { uid: id("-u"), gid: id("-g") }
}

const postgresKind = async (options: ReadonlyArray<string>): Promise<Kind> => {
  const port = await freePort()
  const directory = makeDirectory("postgres")
  const user = unprivileged()
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid)
  const data = join(directory, "data")
  const made = spawnSync("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"], {
    encoding: "utf8",
    cwd: directory,
    ...user
  })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  return {
    port,
    directory,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    sign: /ready to accept connections/,
    run: () =>
      spawn("postgres", ["-D", data, "-p", String(port), "-k", directory, "-h", "127.0.0.1", ...options], {
        cwd: directory,
        ...user
      })
  }
}

/** A Postgres server with these options, as long as the scope lives. */
export const postgres = (...options: ReadonlyArray<string>) =>
  Effect.flatMap(Effect.promise(() => postgresKind(options)), manage)

/** Starts a server that ends with the test file: a worker may be killed before it hears that it exits. */
const forFile = async (has: boolean, kind: () => Promise<Kind>): Promise<string | undefined> => {
  if (!has) return undefined
  const { directory, run, sign, url } = await kind()
  const child = run()
  const stop = () => {
    child.kill("SIGKILL")
    rmSync(directory, { recursive: true, force: true })
  }
  process.once("exit", stop)
  afterAll(() => {
    process.off("exit", stop)
    stop()
    return exited(child)
  })
  await ready(child, sign)
  return url
}

/** Starts a Redis server that ends with the test file; nothing without the binary. */
export const startRedisForFile = (...options: ReadonlyArray<string>): Promise<string | undefined> =>
  forFile(hasRedis, () => redisKind(options))

/** Starts a Postgres server that ends with the test file; nothing without the binaries. */
export const startPostgresForFile = (): Promise<string | undefined> => forFile(hasPostgres, () => postgresKind([]))
