/**
 * The workers that share a store, and how each shows that it is alive: by a count that it raises again and again.
 *
 * No clock is involved. Whoever wants to know whether a worker is alive watches its count: one that has stood still
 * for as long as a lease, by the watcher's own monotonic clock, is a dead worker's. So leases hold whatever the clocks
 * of machines and of stores do, and a worker that was only away, or whose store was, comes back by counting on.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import type * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as boundedRedis from "./internal/boundedRedis.ts"
import * as boundedSql from "./internal/boundedSql.ts"
import * as migrations from "./internal/migrations.ts"

/**
 * What the workers share could not be read or written.
 *
 * @category errors
 * @since 0.2.0
 */
export class WorkersUnavailable extends Schema.TaggedError<WorkersUnavailable>()("WorkersUnavailable", {
  operation: Schema.Literals(["beat", "leave", "beats"]),
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The list of workers could not be used: ${this.operation}`
  }
}

/**
 * The workers that share a store.
 *
 * @category services
 * @since 0.2.0
 */
export class TaskWorkers extends Context.Service<TaskWorkers, {
  /** Adds a worker, or raises its count. */
  readonly beat: (worker: string) => Effect.Effect<void, WorkersUnavailable>
  /** Takes a worker off the list: it goes away, or is dead and what it had has been seen to. */
  readonly leave: (worker: string) => Effect.Effect<void, WorkersUnavailable>
  /** The counts of all workers. */
  readonly beats: Effect.Effect<ReadonlyMap<string, number>, WorkersUnavailable>
}>()("@effect-mcp-tasks/engine/TaskWorkers") {}

/**
 * Knows the workers of this process only.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerMemory: Layer.Layer<TaskWorkers> = Layer.sync(TaskWorkers, () => {
  const beats = new Map<string, number>()
  return {
    beat: (worker) =>
      Effect.sync(() => {
        beats.set(worker, (beats.get(worker) ?? 0) + 1)
      }),
    leave: (worker) =>
      Effect.sync(() => {
        beats.delete(worker)
      }),
    beats: Effect.sync(() => new Map(beats))
  }
})

const unavailable = (operation: WorkersUnavailable["operation"]) =>
  Effect.mapError((cause: unknown) => new WorkersUnavailable({ operation, cause }))

const createTable = (table: string) =>
  Effect.gen(function*() {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    yield* sql`CREATE TABLE ${sql(table)} (worker TEXT NOT NULL PRIMARY KEY, beat BIGINT NOT NULL)`
  })

/**
 * Keeps the list in a table of the SQL database that keeps the tasks; `mcp_task_workers` unless named.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerSqlWith = (options: {
  readonly table?: string | undefined
}): Layer.Layer<TaskWorkers, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  boundedSql.within(Layer.effect(
    TaskWorkers,
    Effect.gen(function*() {
      const table = options.table ?? "mcp_task_workers"
      yield* migrations.run(table, ["worker", "beat"], { "0001_workers": createTable(table) })
      const sql = (yield* SqlClient.SqlClient).withoutTransforms()
      const workers = sql(table)
      return {
        beat: (worker) =>
          sql`INSERT INTO ${workers} (worker, beat) VALUES (${worker}, 1)
            ON CONFLICT (worker) DO UPDATE SET beat = ${workers}.beat + 1`.pipe(Effect.asVoid, unavailable("beat")),
        leave: (worker) =>
          sql`DELETE FROM ${workers} WHERE worker = ${worker}`.pipe(Effect.asVoid, unavailable("leave")),
        beats: sql<{ readonly worker: string; readonly beat: unknown }>`SELECT worker, beat FROM ${workers}`.pipe(
          Effect.map((rows) => new Map(rows.map(({ beat, worker }) => [worker, Number(beat)]))),
          unavailable("beats")
        )
      }
    })
  ))

/**
 * Keeps the list in a table of the SQL database that keeps the tasks.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerSql: ReturnType<typeof layerSqlWith> = layerSqlWith({})

/**
 * Keeps the list in a hash of the Redis that keeps the tasks. The key begins with `prefix` between braces, which is
 * `mcp_tasks` unless named.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedisWith = (options: {
  readonly prefix?: string | undefined
}): Layer.Layer<TaskWorkers, never, Redis.Redis> =>
  Layer.effect(
    TaskWorkers,
    Effect.map(Redis.Redis, (redis) => {
      const key = `{${options.prefix ?? "mcp_tasks"}}:workers`
      return {
        beat: (worker) => redis.send("HINCRBY", key, worker, "1").pipe(Effect.asVoid, unavailable("beat")),
        leave: (worker) => redis.send("HDEL", key, worker).pipe(Effect.asVoid, unavailable("leave")),
        beats: redis.send<unknown>("HGETALL", key).pipe(Effect.map(counts), unavailable("beats"))
      }
    })
  ).pipe(Layer.provide(boundedRedis.layer))

/**
 * Keeps the list in a hash of the Redis that keeps the tasks.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedis: Layer.Layer<TaskWorkers, never, Redis.Redis> = layerRedisWith({})

/** RESP2 lists keys and values in turn; RESP3 clients make an object or a map of them. */
const counts = (reply: unknown): ReadonlyMap<string, number> => {
  const flat = Array.isArray(reply) ? reply : [...(reply instanceof Map ? reply : Object.entries(Object(reply)))].flat()
  const beats = new Map<string, number>()
  for (let index = 0; index + 1 < flat.length; index += 2) beats.set(String(flat[index]), Number(flat[index + 1]))
  return beats
}
