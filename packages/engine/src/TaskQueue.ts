/**
 * Carries tasks that nobody runs to a worker that has a free slot, on whichever replica.
 *
 * An entry says "look at this task", and is gone once somebody has. Who runs a task, and that only one does, is not
 * the queue's business: that is in the task. So an entry that comes twice, late or not at all costs time only; the
 * workers look through all live tasks now and then, and offer again what nobody runs.
 *
 * @since 0.2.0
 */
import type { Stored } from "@effect-mcp-tasks/core/Task"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import * as Redis from "effect/persistence/Redis"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import type * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import * as Health from "./Health.ts"
import * as boundedRedis from "./internal/boundedRedis.ts"
import * as loop from "./internal/loop.ts"
import * as migrations from "./internal/migrations.ts"
import * as queueWatch from "./internal/queueWatch.ts"
import { TaskStoreError } from "./TaskStoreError.ts"

/**
 * A task that nobody runs, and the attempt that is to be started.
 *
 * @category models
 * @since 0.2.0
 */
export interface QueueEntry {
  readonly taskId: string
  /** Offering a task a second time for the same attempt does nothing. */
  readonly attempt: number
}

/**
 * Carries tasks that nobody runs to a worker that has a free slot.
 *
 * @category services
 * @since 0.2.0
 */
export class TaskQueue extends Context.Service<TaskQueue, {
  readonly offer: (entry: QueueEntry) => Effect.Effect<void, PersistedQueue.PersistedQueueError>
  /**
   * Waits for an entry, and uses it. An entry whose use succeeds is gone; one whose use is interrupted is offered to
   * others at once; one whose process dies is offered to others after a while.
   */
  readonly take: <A, E, R>(
    use: (taskId: string) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | PersistedQueue.PersistedQueueError, R>
  /**
   * Creates a task and offers it: both or neither where store and queue are the same database. Elsewhere a task whose
   * offer failed is created all the same.
   */
  readonly createWith: <E, R>(
    create: Effect.Effect<Stored, E, R>
  ) => Effect.Effect<
    { readonly stored: Stored; readonly isOffered: boolean },
    E | SqlError.SqlError | PersistedQueue.PersistedQueueError,
    R
  >
}>()("@effect-mcp-tasks/engine/TaskQueue") {}

/**
 * How a queue is kept.
 *
 * @category models
 * @since 0.2.0
 */
export interface QueueOptions {
  /** How often an idle worker looks for entries that others offered; 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /**
   * After how long an entry is offered again whose worker died between taking it and starting its task; 3 seconds.
   *
   * One that was taken by a worker that is only slow is then looked at twice, which is harmless: a task is started
   * once.
   */
  readonly lockExpiration?: Duration.Input | undefined
}

/**
 * How a queue is kept in a SQL database.
 *
 * @category models
 * @since 0.2.0
 */
export interface SqlQueueOptions extends QueueOptions {
  /** The table that keeps it; `mcp_task_queue`. */
  readonly table?: string | undefined
}

/**
 * How a queue is kept in Redis.
 *
 * @category models
 * @since 0.2.0
 */
export interface RedisQueueOptions extends QueueOptions {
  /** What the keys begin with, between braces; `mcp_tasks`. */
  readonly prefix?: string | undefined
}

/** Entries are used in milliseconds; those that were are only remembered so that they are not offered twice. */
const memory = Duration.minutes(10)

const Entry = Schema.Struct({ taskId: Schema.String })

type Offer = TaskQueue["Service"]["offer"]

/** How a task is created and offered, given the way to offer. */
type CreateWith = (offer: Offer) => TaskQueue["Service"]["createWith"]

const separately: CreateWith = (offer) => (create) =>
  Effect.flatMap(create, (stored) =>
    Effect.matchCauseEffect(offer({ taskId: stored.task.taskId, attempt: 1 }), {
      onSuccess: () => Effect.succeed({ stored, isOffered: true }),
      onFailure: (cause) =>
        Effect.as(Effect.logWarning("A task could not be offered; a worker's next scan will find it", cause), {
          stored,
          isOffered: false
        })
    }))

const isTold = Predicate.or(
  Predicate.or(SqlError.isSqlError, (error) => error instanceof TaskStoreError),
  (error) => error instanceof PersistedQueue.PersistedQueueError
)

/**
 * Where a transaction fails with its connection, so does its rollback. The client then gives up the failure and what
 * became of the rollback as two defects; it is still the storage that failed.
 */
const withoutRollback = <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchCause(transaction, (cause) => {
    const told = cause.reasons.find((reason) => Cause.isDieReason(reason) && isTold(reason.defect))
    return told !== undefined && Cause.isDieReason(told) ? Effect.fail(told.defect as E) : Effect.failCause(cause)
  })

const inTransaction = (sql: SqlClient.SqlClient): CreateWith => (offer) => (create) =>
  withoutRollback(sql.withTransaction(
    Effect.flatMap(create, (stored) =>
      Effect.as(offer({ taskId: stored.task.taskId, attempt: 1 }), { stored, isOffered: true }))
  ))

/** Makes the queue, given a question that its database answers when it is well. */
const make = (createWith: CreateWith, ask: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function*() {
    const store = yield* PersistedQueue.PersistedQueueStore
    const factory = yield* PersistedQueue.makeFactory
    const queue = yield* factory.make({
      name: "tasks",
      schema: Entry,
      // How often a task may be tried is the task's own policy. The largest number that all databases take.
      maxAttempts: 2 ** 31 - 1
    })
    yield* loop.run({ name: "queue clean-up", rest: memory, restsFirst: true }, () =>
      store.cleanup({ timeToLive: memory, failedTimeToLive: memory }))
    const hearing = yield* queueWatch.make(ask)
    const offer: Offer = ({ attempt, taskId }) =>
      queue.offer({ taskId }, { id: `${taskId}:${attempt}` }).pipe(
        Effect.catchTag("SchemaError", Effect.die),
        Effect.asVoid
      )
    return TaskQueue.of({
      offer,
      take: (use) => hearing((restore) => queue.take(({ taskId }) => restore(use(taskId)))),
      createWith: createWith(offer)
    })
  })

/**
 * Keeps the queue in whatever store of `PersistedQueue` is provided; offers are writes of their own.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerStore: Layer.Layer<TaskQueue, never, PersistedQueue.PersistedQueueStore> = Layer.provide(
  Layer.effect(TaskQueue, make(separately, Effect.void)),
  Health.layer
)

/**
 * Keeps the queue in the memory of this process.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerMemory: Layer.Layer<TaskQueue> = Layer.provide(layerStore, PersistedQueue.layerStoreMemory)

/** The store logs each failed round of its loops, which is twice a second; what matters in that is told by a watch. */
const quietly = Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))

/** No lease is shorter in practice: what a dead worker had taken is not missed later than what it had begun. */
const settings = ({ lockExpiration = "3 seconds", pollInterval = "1 second" }: QueueOptions) => {
  const expiration = Duration.fromInputUnsafe(lockExpiration)
  return { pollInterval, lockExpiration: expiration, lockRefreshInterval: Duration.divideUnsafe(expiration, 3) }
}

/** What every look for entries needs. */
const columns = ["sequence", "id", "queue_name", "element", "state", "attempts", "visible_at", "acquired_at"]

/**
 * Does what `layerSql` does, with settings.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerSqlWith = (
  options: SqlQueueOptions
): Layer.Layer<TaskQueue, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  Layer.unwrap(
    Effect.map(SqlClient.SqlClient, (sql) => {
      const tableName = options.table ?? "mcp_task_queue"
      const ask = sql`SELECT 1 FROM ${sql(tableName)} LIMIT 1`
      const checked = Effect.andThen(migrations.check(tableName, columns), make(inTransaction(sql), ask))
      return Layer.effect(TaskQueue, checked).pipe(
        Layer.provide(Health.layer),
        Layer.provide(quietly(PersistedQueue.layerStoreSql({ ...settings(options), tableName })))
      )
    })
  )

/**
 * Keeps the queue in the SQL database that keeps the tasks: a task is created and offered in one transaction.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerSql: ReturnType<typeof layerSqlWith> = layerSqlWith({})

/**
 * Does what `layerRedis` does, with settings.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedisWith = (options: RedisQueueOptions): Layer.Layer<TaskQueue, never, Redis.Redis> => {
  const prefix = `{${options.prefix ?? "mcp_tasks"}}:queue:`
  const queue = Effect.flatMap(Redis.Redis, (redis) => make(separately, redis.send("EXISTS", `${prefix}tasks`)))
  return Layer.effect(TaskQueue, queue).pipe(
    Layer.provide([boundedRedis.layer, Health.layer]),
    Layer.provide(boundedRedis.persistent(quietly(PersistedQueue.layerStoreRedis({ ...settings(options), prefix }))))
  )
}

/**
 * Keeps the queue in the Redis that keeps the tasks. A task is created first and then offered; one that was not, since
 * its process died in between, is offered when a worker next looks through the live tasks.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedis: Layer.Layer<TaskQueue, never, Redis.Redis> = layerRedisWith({})
