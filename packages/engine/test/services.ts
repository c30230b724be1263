/**
 * Finds the servers that tests of several packages need.
 *
 * A server is looked for where `REDIS_URL` or `DATABASE_URL` says, then on this machine, and at last started from its
 * binary for the length of a test file. Without one, the tests are shown as skipped; with `REQUIRE_SERVICES=1` they
 * fail.
 */
import { PgClient } from "@effect/sql-pg"
import { describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { createConnection } from "node:net"
import * as clients from "./clients.ts"
import * as OwnServer from "./OwnServer.ts"

/** A server that tests may use, or why there is none. */
export type Service = { readonly name: string; readonly url: string } | {
  readonly name: string
  readonly missing: string
}

const isRequired = process.env["REQUIRE_SERVICES"] === "1"

/** Whether somebody accepts connections there; a busy machine may take its time. */
const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port, timeout: 10_000 })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once("connect", () => end(true)).once("error", () => end(false)).once("timeout", () => end(false))
  })

interface Known {
  readonly name: string
  readonly variable: string
  readonly port: number
  readonly local: string
  /** Starts a server that lives as long as the test file. */
  readonly start: () => Promise<string | undefined>
  readonly binary: string
}

const find = async ({ binary, local, name, port, start, variable }: Known): Promise<Service> => {
  const url = process.env[variable]
  if (url !== undefined && url !== "") return { name, url }
  if (await listens(port)) return { name, url: local }
  const started = await start()
  return started === undefined
    ? { name, missing: `no ${variable}, nothing on port ${port}, no ${binary} on the PATH` }
    : { name, url: started }
}

/** The Redis server that tests share. They keep to keys of their own. */
export const redis = await find({
  name: "Redis",
  variable: "REDIS_URL",
  port: 6379,
  local: "redis://127.0.0.1:6379",
  start: () => OwnServer.startRedisForFile(),
  binary: "redis-server"
})

/** The Postgres server that tests share. They keep to schemas of their own. */
export const postgres = await find({
  name: "Postgres",
  variable: "DATABASE_URL",
  port: 5432,
  local: "postgres://postgres@127.0.0.1:5432/postgres",
  start: OwnServer.startPostgresForFile,
  binary: "postgres"
})

/** The binary from which tests start Redis servers that they may break. */
export const redisBinary: Service = OwnServer.hasRedis
  ? { name: "redis-server", url: "" }
  : { name: "redis-server", missing: "no redis-server on the PATH" }

/** The binaries from which tests start Postgres servers that they may break. */
export const postgresBinary: Service = OwnServer.hasPostgres
  ? { name: "postgres", url: "" }
  : { name: "postgres", missing: "no postgres and initdb on the PATH" }

const failed = (title: string) =>
  it(title, () => {
    throw new Error(`REQUIRE_SERVICES=1, but ${title}`)
  })

const skipped = (title: string) =>
  describe.skipIf(true)(title, () => {
    it("is skipped", () => undefined)
  })

/** Declares tests that need a server: they run, or are seen not to, or fail where servers are required. */
export const withService = (service: Service, declare: (url: string) => void): void => {
  if ("url" in service) return declare(service.url)
  const declareMissing = isRequired ? failed : skipped
  declareMissing(`${service.name} is needed: ${service.missing}`)
}

/** A name that no other test uses. */
export const uniqueName = (): string => `test_${randomUUID().replaceAll("-", "")}`

const dropKeys = Effect.fnUntraced(function*(pattern: string) {
  const redis = yield* Redis.Redis
  let cursor = "0"
  do {
    const [next, keys] = yield* redis.send<[string, ReadonlyArray<string>]>(
      "SCAN", cursor, "MATCH", pattern, "COUNT", "1000"
    )
    cursor = next
    if (keys.length > 0) yield* redis.send("UNLINK", ...keys)
  } while (cursor !== "0")
}, Effect.orDie)

/** Removes the keys of a pattern when the scope closes. */
export const dropKeysAfter = (pattern: string) =>
  Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => dropKeys(pattern)))

const administering = (url: string) => {
  const admin = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
  return (statement: string) =>
    Effect.provide(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)), Layer.fresh(admin))
}

/** A new database, which goes with the scope. `administer` reaches the server by another one. */
export const postgresNewDatabase = Effect.fnUntraced(function*(url: string) {
  const name = uniqueName()
  const administer = administering(url)
  yield* Effect.acquireRelease(
    administer(`CREATE DATABASE ${name}`),
    () => Effect.orDie(administer(`DROP DATABASE ${name} WITH (FORCE)`))
  )
  const address = new URL(url)
  address.pathname = `/${name}`
  return { name, url: address.href, administer }
})

/** A new schema, which goes with the scope. */
export const postgresNewSchema = Effect.fnUntraced(function*(url: string) {
  const schema = uniqueName()
  const run = administering(url)
  yield* Effect.acquireRelease(
    run(`CREATE SCHEMA ${schema}`),
    () => Effect.orDie(run(`DROP SCHEMA ${schema} CASCADE`))
  )
  return schema
})

/** A client whose unqualified names are in a new schema, which goes with the scope. */
export const postgresClient = (url: string, options: Partial<PgClient.PgPoolConfig> = {}) =>
  Layer.unwrap(Effect.map(postgresNewSchema(url), (schema) => clients.postgres(url, schema, options)))

/** The schema of a client. */
export const currentSchema = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly schema: string }>`SELECT current_schema() AS schema`
  return row?.schema ?? ""
})
