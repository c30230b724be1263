/**
 * "This task changed, look again." A hint between fibers and between processes, and nothing more.
 *
 * Signals may be lost, doubled or late: whoever waits for one also looks again on a heartbeat, so that a lost signal
 * costs time and never correctness.
 *
 * **What every layer guarantees**
 *
 * - A signal reaches the subscribers in its own process at once, whatever becomes of any server.
 * - To publish never fails and never waits, neither for a server nor for a subscriber that does not read. What cannot
 *   be sent in time is dropped.
 * - A signal is for every subscriber of every process. One that does not read costs the others nothing, and bounded
 *   memory: it loses the oldest signals once 16,384 wait for it, and hears what comes once it reads again.
 * - Whoever is interrupted while publishing, subscribing or waiting leaves everyone else as they were.
 * - A layer that goes between processes connects again by itself, ever less often up to every 10 seconds. It says so
 *   in the log once when signals are lost, and once when they arrive again.
 * - It finds out within two heartbeats that a connection which looks open brings nothing.
 *
 * @since 0.1.0
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type * as Migrator from "effect/sql/Migrator"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as Health from "./Health.ts"
import * as boundedRedis from "./internal/boundedRedis.ts"
import * as boundedScope from "./internal/boundedScope.ts"
import * as pollSignal from "./internal/pollSignal.ts"
import * as redisConnection from "./internal/redisConnection.ts"
import * as remoteSignal from "./internal/remoteSignal.ts"

/**
 * "This task changed, look again."
 *
 * @category services
 * @since 0.1.0
 */
export class TaskSignal extends Context.Service<TaskSignal, {
  /** Says that a task has changed. Never fails and never waits for anyone, whether they read or not. */
  readonly publish: (taskId: string) => Effect.Effect<void>
  /**
   * Hears of every task that changes from now on, until the scope closes.
   *
   * **Details**
   *
   * A subscription of its own for each who asks. A layer may drop signals that are not read, or say those of one task
   * once. It has to do so before 50,000 wait for one subscriber, which is where the suite draws the line.
   */
  readonly subscribe: Effect.Effect<PubSub.Subscription<string>, never, Scope.Scope>
}>()("@effect-mcp-tasks/engine/TaskSignal") {}

/** A subscriber that falls further behind than this loses the oldest hints, not memory. */
const backlog = 16_384

/**
 * Carries signals within one process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TaskSignal> = Layer.effect(
  TaskSignal,
  Effect.gen(function*() {
    const hub = yield* Effect.acquireRelease(PubSub.sliding<string>(backlog), PubSub.shutdown)
    return TaskSignal.of({
      publish: (taskId) => Effect.asVoid(PubSub.publish(hub, taskId)),
      subscribe: PubSub.subscribe(hub)
    })
  })
)

/**
 * How signals go from process to process.
 *
 * @category models
 * @since 0.1.0
 */
export interface RemoteOptions {
  /** What the processes have in common; `mcp_tasks`. At most 63 bytes for Postgres. */
  readonly channel?: string | undefined
  /** How often a process makes sure that it hears what is sent; 30 seconds. */
  readonly heartbeat?: Duration.Input | undefined
}

const channelOf = (options: RemoteOptions): string => options.channel ?? "mcp_tasks"

const heartbeatOf = (options: RemoteOptions): Duration.Duration =>
  Duration.fromInputUnsafe(options.heartbeat ?? "30 seconds")

/**
 * Does what `layerRedis` does, with settings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRedisWith = (options: RemoteOptions): Layer.Layer<TaskSignal, never, Redis.Redis> =>
  Layer.effect(
    TaskSignal,
    Effect.gen(function*() {
      const redis = yield* redisConnection.watched
      const channel = channelOf(options)
      // A subscription is a connection of its own, whose beginning cannot be interrupted.
      const subscribed = boundedScope.open(redis.subscribe(channel), boundedRedis.opening)
      return yield* remoteSignal.make({
        send: (texts) =>
          Effect.forEach(texts, (text) => redis.send("PUBLISH", channel, text), {
            discard: true,
            concurrency: "unbounded"
          }),
        listen: Effect.map(subscribed, (arriving) =>
          Effect.map(Queue.takeAll(arriving), (messages) => messages.map(({ message }) => message)))
      }, { heartbeat: heartbeatOf(options) })
    })
  ).pipe(Layer.provide(Health.layer))

/**
 * Carries signals between the processes that share a Redis, by publish and subscribe.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRedis: Layer.Layer<TaskSignal, never, Redis.Redis> = layerRedisWith({})

// The key of `@effect/sql-pg`'s own service. To import it would load that driver for everyone who uses another.
const Postgres = Context.Service<PgClient.PgClient>("@effect/sql-pg/PgClient")

/**
 * Does what `layerPostgres` does, with settings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPostgresWith = (options: RemoteOptions): Layer.Layer<TaskSignal, never, PgClient.PgClient> =>
  Layer.effect(
    TaskSignal,
    Effect.gen(function*() {
      const postgres = yield* Postgres
      const channel = channelOf(options)
      return yield* remoteSignal.make({
        send: (texts) => Effect.forEach(texts, (text) => postgres.notify(channel, text), { discard: true }),
        listen: Effect.map(postgres.listen(channel), (arriving) =>
          Effect.map(Queue.takeAll(arriving), (messages) => messages.map(({ payload }) => payload)))
      }, { heartbeat: heartbeatOf(options) })
    })
  ).pipe(Layer.provide(Health.layer))

/**
 * Carries signals between the processes that share a Postgres, by `LISTEN` and `NOTIFY`; needs `@effect/sql-pg`.
 *
 * **Gotchas**
 *
 * Listening takes one connection of the client's pool for good. A pooler that hands out connections by transaction,
 * such as PgBouncer's default, carries no notifications: use `layerPoll` there.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPostgres: Layer.Layer<TaskSignal, never, PgClient.PgClient> = layerPostgresWith({})

/**
 * How signals are polled for.
 *
 * @category models
 * @since 0.1.0
 */
export interface PollOptions {
  /** The table that carries them; `mcp_task_signals`. */
  readonly table?: string | undefined
  /** How often a process looks for new ones; 1 second. */
  readonly interval?: Duration.Input | undefined
  /** How often a process makes sure that it hears what is sent; 30 seconds. */
  readonly heartbeat?: Duration.Input | undefined
}

/**
 * Does what `layerPoll` does, with settings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPollWith = (
  options: PollOptions
): Layer.Layer<TaskSignal, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.effect(
    TaskSignal,
    Effect.gen(function*() {
      const interval = Duration.fromInputUnsafe(options.interval ?? "1 second")
      const wire = yield* pollSignal.make({ table: options.table ?? "mcp_task_signals", interval })
      // A message to this process comes back after an interval at the earliest.
      const echo = Duration.times(interval, 3)
      return yield* remoteSignal.make(wire, {
        heartbeat: Duration.max(heartbeatOf(options), echo),
        echo: Duration.max(echo, Duration.seconds(5))
      })
    })
  ).pipe(Layer.provide(Health.layer))

/**
 * Carries signals between the processes that share any SQL database, which look for them every second.
 *
 * **When to use**
 *
 * For several processes on one SQLite file, or on Postgres behind a pooler. It costs each process one small query a
 * second, however many tasks wait, and a row for each batch of changes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPoll: Layer.Layer<
  TaskSignal,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = layerPollWith({})
