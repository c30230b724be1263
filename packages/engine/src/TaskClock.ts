/**
 * The clock that tasks live by: what dates them, and what decides that one is due.
 *
 * The machines of replicas do not agree on the time, and their clocks are set back and forth. So that all replicas
 * expire a task at the same moment, and none does before its time, replicas take the time from the store that they
 * share. In between, each counts on by its own monotonic clock, which nobody sets.
 *
 * @since 0.2.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as Health from "./Health.ts"
import * as boundedRedis from "./internal/boundedRedis.ts"
import * as boundedSql from "./internal/boundedSql.ts"
import * as loop from "./internal/loop.ts"

/**
 * The time in epoch milliseconds that tasks live by: this machine's clock, unless a layer says otherwise.
 *
 * @category services
 * @since 0.2.0
 */
export const TaskClock: Context.Reference<Effect.Effect<number>> = Context.Reference(
  "@effect-mcp-tasks/engine/TaskClock",
  { defaultValue: () => Clock.currentTimeMillis }
)

/** How often the time is asked for. Two quartz clocks part by less than a millisecond meanwhile. */
const interval = Duration.seconds(10)

/** A reading that took longer, in milliseconds, says too little of when it was made. */
const longestReading = 1_000

const monotonic = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/**
 * Tells the time by another clock, which is read now and then.
 *
 * **Details**
 *
 * `read` gives epoch milliseconds. A reading that fails, or takes longer than a second, is passed over. Where already
 * the first one takes longer, the clock is late by as much until the next: no task ends before its time.
 *
 * **Gotchas**
 *
 * When the clock that is read is itself set back, every replica follows within ten seconds: tasks made before live
 * longer by as much, and none shorter. A machine that sleeps may count too little until its next reading.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerReading = <E>(read: Effect.Effect<number, E>): Layer.Layer<never, E> =>
  Layer.effect(
    TaskClock,
    Effect.gen(function*() {
      const reading = Effect.gen(function*() {
        const before = yield* monotonic
        const time = yield* read
        const after = yield* monotonic
        const took = after - before
        return { took, offset: time - (took <= longestReading ? (before + after) / 2 : after) }
      })
      let { offset } = yield* reading
      yield* loop.run({ name: "clock", rest: interval, restsFirst: true }, () =>
        Effect.map(reading, (next) => {
          if (next.took <= longestReading) offset = next.offset
        }))
      return Effect.map(monotonic, (now) => Math.floor(now + offset))
    })
  ).pipe(Layer.provide(Health.layer))

/**
 * Tells the time by the clock of a SQL database: of the server for Postgres, of the machine for SQLite.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerSql: Layer.Layer<never, SqlError.SqlError, SqlClient.SqlClient> = boundedSql.within(Layer.unwrap(
  Effect.map(SqlClient.SqlClient, (client) => {
    const sql = client.withoutTransforms()
    const now = sql.onDialectOrElse({
      pg: () => sql`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS now`,
      orElse: () => sql`SELECT unixepoch('subsec') * 1000.0 AS now`
    })
    return layerReading(Effect.map(now, ([row]) => Number(row?.["now"])))
  })
))

/**
 * Tells the time by the clock of a Redis server.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedis: Layer.Layer<never, Redis.RedisError, Redis.Redis> = Layer.unwrap(
  Effect.map(Redis.Redis, (redis) =>
    layerReading(
      Effect.map(
        redis.send<ReadonlyArray<string>>("TIME"),
        ([seconds, micros]) => Number(seconds) * 1_000 + Number(micros) / 1_000
      )
    ))
).pipe(Layer.provide(boundedRedis.layer))
