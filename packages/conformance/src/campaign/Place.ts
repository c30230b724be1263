/**
 * Where a campaign keeps its tasks, and what can go wrong there.
 *
 * @since 0.2.0
 */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { StorageName } from "./CampaignStorage.ts"
import * as OwnServer from "./OwnServer.ts"
import * as Proxy from "./Proxy.ts"

/**
 * Something that goes wrong with the storage, for as long as an effect runs.
 *
 * @category models
 * @since 0.2.0
 */
export interface Trouble {
  readonly name: string
  readonly during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, unknown, R>
}

/**
 * Where a campaign keeps its tasks, and what can go wrong there.
 *
 * @category models
 * @since 0.2.0
 */
export interface Place {
  /** A file of SQLite, or the URL of a server. */
  readonly at: string
  readonly troubles: ReadonlyArray<Trouble>
}

/**
 * A trouble was named that this storage does not have.
 *
 * @category errors
 * @since 0.2.0
 */
export class UnknownTrouble extends Schema.TaggedError<UnknownTrouble>()("UnknownTrouble", {
  name: Schema.String,
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `There is no trouble "${this.name}" here; there are: ${this.known.join(", ")}`
  }
}

/**
 * Which place.
 *
 * @category models
 * @since 0.2.0
 */
export interface PlaceOptions {
  readonly store: StorageName
  /** The name of the schema of Postgres. */
  readonly name: string
  readonly directory: string
  /** Whether to take a server of one's own, so that it can be broken. */
  readonly isTroubled: boolean
}

const onPostgres = (url: string) => (statement: string) =>
  Effect.asVoid(
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)),
      PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }),
      { local: true }
    )
  )

const onRedis = (url: string) => (command: string, ...args: ReadonlyArray<string>) =>
  Effect.asVoid(
    Effect.provide(
      Effect.flatMap(Redis.Redis, (redis) => redis.send(command, ...args)),
      NodeRedis.layer({ url }),
      { local: true }
    )
  )

/** What is done before and after; the second also when the effect is interrupted. */
const between = <E>(first: Effect.Effect<void, E>, last: Effect.Effect<void, E>): Trouble["during"] => (effect) =>
  Effect.acquireUseRelease(first, () => effect, () => last)

const ofConnections = (proxy: Proxy.Proxy): ReadonlyArray<Trouble> => [
  { name: "cut", during: (effect) => Effect.andThen(proxy.cut, effect) },
  { name: "answers lost", during: proxy.mute },
  { name: "slow", during: proxy.slow(300) }
]

/** A server of its own behind a proxy, as the replicas see it. */
const behind = Effect.fnUntraced(function*(server: OwnServer.OwnServer) {
  const proxy = yield* Proxy.make(server.port)
  const at = new URL(server.url)
  at.port = String(proxy.port)
  return { at: at.href, proxy }
})

const redis = Effect.fnUntraced(function*(directory: string) {
  const server = yield* OwnServer.redis(directory)
  const { at, proxy } = yield* behind(server)
  const tell = onRedis(server.url)
  const limit = (bytes: string) => tell("CONFIG", "SET", "maxmemory", bytes)
  return {
    at,
    troubles: [
      ...ofConnections(proxy),
      { name: "restarted", during: server.away("SIGKILL") },
      { name: "paused", during: server.paused },
      { name: "scripts flushed", during: (effect) => Effect.andThen(tell("SCRIPT", "FLUSH"), effect) },
      // Nobody listens there: it serves what it has, for reading, until it is a primary again.
      { name: "read-only", during: between(tell("REPLICAOF", "127.0.0.1", "1"), tell("REPLICAOF", "NO", "ONE")) },
      { name: "full", during: between(limit("1"), limit("0")) }
    ]
  } satisfies Place as Place
})

const postgres = Effect.fnUntraced(function*(directory: string, name: string) {
  const server = yield* OwnServer.postgres(directory)
  const { at, proxy } = yield* behind(server)
  const tell = onPostgres(server.url)
  const readOnly = (to: "on" | "off") =>
    Effect.andThen(tell(`ALTER SYSTEM SET default_transaction_read_only = ${to}`), tell("SELECT pg_reload_conf()"))
  yield* tell(`CREATE SCHEMA ${name}`)
  return {
    at,
    troubles: [
      ...ofConnections(proxy),
      { name: "restarted", during: server.away("SIGINT") },
      { name: "crashed", during: server.away("SIGQUIT") },
      { name: "read-only", during: between(readOnly("on"), readOnly("off")) },
      {
        name: "connections ended",
        during: (effect) =>
          Effect.andThen(
            tell("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"),
            effect
          )
      }
    ]
  } satisfies Place as Place
})

/** Another process writes to the file for longer than it should; whoever waits for that does nothing else. */
const locked = (file: string): Trouble["during"] => (effect) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const database = new DatabaseSync(file)
      database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE")
      return database
    }),
    (database) =>
      Effect.andThen(
        Effect.forkChild(Effect.andThen(Effect.sleep("3 seconds"), Effect.sync(() => unlock(database)))),
        effect
      ),
    (database) => Effect.sync(() => unlock(database))
  )

const unlock = (database: DatabaseSync): void => {
  if (!database.isOpen) return
  database.exec("COMMIT")
  database.close()
}

/** A schema of its own on a server that others use too. */
const shared = Effect.fnUntraced(function*(name: string) {
  const url = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres"
  const tell = onPostgres(url)
  yield* Effect.acquireRelease(
    tell(`CREATE SCHEMA ${name}`),
    () => Effect.orDie(tell(`DROP SCHEMA ${name} CASCADE`))
  )
  return { at: url, troubles: [] } satisfies Place as Place
})

/**
 * Makes the place, as long as the scope lives.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = ({ directory, isTroubled, name, store }: PlaceOptions) => {
  switch (store) {
    case "sqlite": {
      const at = join(directory, "tasks.sqlite")
      const place: Place = { at, troubles: isTroubled ? [{ name: "locked", during: locked(at) }] : [] }
      return Effect.succeed(place)
    }
    case "redis": {
      const place: Place = { at: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379", troubles: [] }
      return isTroubled ? redis(directory) : Effect.succeed(place)
    }
    case "postgres":
      return isTroubled ? postgres(directory, name) : shared(name)
  }
}

/**
 * The same place with only those troubles; fails when it has none of such a name.
 *
 * @category trouble
 * @since 0.2.0
 */
export const narrow = (place: Place, names: ReadonlyArray<string>): Effect.Effect<Place, UnknownTrouble> => {
  const known = place.troubles.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  return unknown === undefined
    ? Effect.succeed({ ...place, troubles: place.troubles.filter(({ name }) => names.includes(name)) })
    : Effect.fail(new UnknownTrouble({ name: unknown, known }))
}

/**
 * Gets a place into one of its troubles, by chance, while an effect runs; gives back which.
 *
 * @category trouble
 * @since 0.2.0
 */
export const trouble = Effect.fnUntraced(function*<A, E, R>(
  { troubles }: Place,
  effect: Effect.Effect<A, E, R>
) {
  const chosen = troubles[yield* Random.nextIntBetween(0, Math.max(0, troubles.length - 1))]
  if (chosen === undefined) return yield* Effect.die(new Error("There is no trouble here"))
  yield* chosen.during(effect)
  return chosen.name
})
