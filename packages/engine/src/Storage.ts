/**
 * Everything that the processes of one server share, on one database: tasks, queue, list of workers, signals, time.
 *
 * To move a program from one database to another is to give another layer of these, and its client.
 *
 * @since 0.2.0
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import type * as Migrator from "effect/sql/Migrator"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as boundedScope from "./internal/boundedScope.ts"
import * as TaskClock from "./TaskClock.ts"
import * as TaskQueue from "./TaskQueue.ts"
import * as TaskSignal from "./TaskSignal.ts"
import * as TaskStore from "./TaskStore.ts"
import * as TaskWorkers from "./TaskWorkers.ts"

/**
 * What the processes of one server share.
 *
 * @category models
 * @since 0.2.0
 */
export type Storage = TaskStore.TaskStore | TaskQueue.TaskQueue | TaskWorkers.TaskWorkers | TaskSignal.TaskSignal

/**
 * A client did not come about in time: whatever it connects to takes connections, and does not answer.
 *
 * @category errors
 * @since 0.2.0
 */
export class NotOpened extends Schema.TaggedError<NotOpened>()("NotOpened", { limit: Schema.Duration }) {
  override get message(): string {
    return `a storage takes connections and did not answer within ${Duration.format(this.limit)}`
  }
}

/**
 * Bounds how long a layer takes to close, and how long to open.
 *
 * **When to use**
 *
 * Around the layer of a client that waits, when it is closed, for whatever it has sent, as `NodeRedis.layer` and
 * `PgClient.layer` do. Were the storage to stand still at that moment, the process would not end; and were it to stand
 * still when the process starts, `NodeRedis.layer` would wait for it without end.
 *
 * **Details**
 *
 * What is not open after `opensWithin`, which is 10 seconds, fails with `NotOpened`. Whoever interrupts the program
 * before that is not kept waiting for longer than `limit`.
 *
 * **Gotchas**
 *
 * What takes longer is left behind, with its connections open. A program that ends by a signal or with a failure, under
 * `NodeRuntime.runMain`, ends all the same. What fails to close is in the log, and no failure of the program.
 *
 * **Example** (A client that is given up after two seconds)
 *
 * ```ts
 * NodeRedis.layer({ url, disableOfflineQueue: true }).pipe(Storage.closeWithin("2 seconds"))
 * ```
 *
 * @category combinators
 * @since 0.2.0
 */
export const closeWithin = (
  limit: Duration.Input,
  { opensWithin = "10 seconds" }: { readonly opensWithin?: Duration.Input | undefined } = {}
) =>
<A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E | NotOpened, R> => {
  const within = Duration.fromInputUnsafe(opensWithin)
  const opens = { within, orElse: () => new NotOpened({ limit: within }) }
  return boundedScope.layer({ what: "A layer", closes: limit, opens }, layer)
}

/** What is shared goes by its own time limits, one after the other; together they must not take long to close. */
const bounded = <E, R>(storage: Layer.Layer<Storage, E, R>): Layer.Layer<Storage, E, R> =>
  boundedScope.layer({ what: "The storage", closes: "2 seconds" }, storage)

/**
 * On Redis, under keys that begin with `prefix` between braces; `mcp_tasks` unless named.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedisWith = (options: {
  readonly prefix?: string | undefined
}): Layer.Layer<Storage, Redis.RedisError, Redis.Redis> =>
  bounded(Layer.mergeAll(
    TaskStore.layerRedisWith(options),
    TaskQueue.layerRedisWith(options),
    TaskWorkers.layerRedisWith(options),
    TaskSignal.layerRedisWith({ channel: options.prefix }),
    TaskClock.layerRedis
  ))

/**
 * On Redis. Needs a client such as `NodeRedis.layer` of `@effect/platform-node`.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedis: ReturnType<typeof layerRedisWith> = layerRedisWith({})

/**
 * On Postgres. Needs the client of `@effect/sql-pg`.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerPostgres: Layer.Layer<
  Storage,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient | PgClient.PgClient
> = bounded(Layer.mergeAll(
  TaskStore.layerSql,
  TaskQueue.layerSql,
  TaskWorkers.layerSql,
  TaskSignal.layerPostgres,
  TaskClock.layerSql
))

/**
 * On one SQLite file, for processes of one machine.
 *
 * **Gotchas**
 *
 * A process that waits for another's lock waits with its whole event loop: a handful of processes, not dozens.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerSqlite: Layer.Layer<
  Storage,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = bounded(Layer.mergeAll(
  TaskStore.layerSql,
  TaskQueue.layerSql,
  TaskWorkers.layerSql,
  TaskSignal.layerPoll,
  TaskClock.layerSql
))
