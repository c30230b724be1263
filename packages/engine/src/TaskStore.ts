/**
 * Where tasks are kept. A store knows no transition: it creates, reads, replaces by compare-and-set, and removes.
 *
 * **What every store guarantees**
 *
 * - A task is one record, read whole or not at all. Nothing of it expires on its own.
 * - `create`, `replace` and `remove` succeed only when every later `read`, by any process, finds them done: a store
 *   whose tasks outlive a process has written by then, and loses nothing when its process is killed the moment after.
 * - `replace` succeeds for exactly one of any number of writers that hold the same version.
 * - What was written comes back exactly: text, numbers, key order, `__proto__` and all. Versions do, too: they go on
 *   from where they were, however often the store is opened.
 * - An id is any text of 1 to 256 UTF-16 code units without lone surrogates and NUL; the engine asks for no longer one.
 *   An owner is such a text of any length; a store that cannot take one refuses it as `TooLarge`, as Postgres does from
 *   some 2,700 bytes on. Two are the same only where every character is: `a` and `A` are two tasks, and no character
 *   has another meaning.
 * - An operation that is interrupted has been done as a whole or not at all. Which of the two is settled once a later
 *   write of the same process has succeeded. It keeps nothing (no lock, no connection), and what others have asked for
 *   goes on.
 *
 * `TaskStoreTest.suite` of `@effect-mcp-tasks/testing` is the suite that every store passes.
 *
 * @since 0.1.0
 */
import type { Stored, Task } from "@effect-mcp-tasks/core/Task"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Redis from "effect/persistence/Redis"
import type * as Migrator from "effect/sql/Migrator"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"
import * as boundedSql from "./internal/boundedSql.ts"
import * as memoryTaskStore from "./internal/memoryTaskStore.ts"
import * as redisTaskStore from "./internal/redisTaskStore.ts"
import * as sqlTaskStore from "./internal/sqlTaskStore.ts"
import type { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "./TaskStoreError.ts"

/**
 * @since 0.1.0
 */
export { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "./TaskStoreError.ts"

/**
 * What a poll needs of a task, as it was written: nothing in it is parsed or encoded again.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskView {
  readonly taskId: string
  /** The owner's key; the reader compares it. */
  readonly owner: string
  /** Whether the task has not ended. */
  readonly live: boolean
  /** When the task expires or may be removed, in epoch milliseconds; `null` is never. */
  readonly dueAt: number | null
  /** JSON text of the `DetailedTask` without a completed task's `result`. */
  readonly head: string
  /** JSON text of a completed task's result. */
  readonly result: string | null
}

/**
 * A task whose deadline has been reached.
 *
 * @category models
 * @since 0.1.0
 */
export interface DueTask {
  readonly taskId: string
  readonly version: number
  readonly live: boolean
}

/**
 * Where tasks are kept.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskStore extends Context.Service<TaskStore, {
  /**
   * Keeps a new task under version 1, unless its owner already has `maxLive` live ones.
   *
   * **Gotchas**
   *
   * Counting and creating are one step on memory, SQLite and Redis. On Postgres, creates that run at the same moment
   * may overshoot the limit by their number.
   */
  readonly create: (
    task: Task,
    options: { readonly maxLive: number }
  ) => Effect.Effect<Stored, TaskStoreError | TaskAlreadyExists | TooManyTasks>

  /** The task, with the version to replace it by. */
  readonly read: (taskId: string) => Effect.Effect<Option.Option<Stored>, TaskStoreError>

  /** The part of the task that a poll answers with. */
  readonly view: (taskId: string) => Effect.Effect<Option.Option<TaskView>, TaskStoreError>

  /**
   * Replaces the task if it still has the version that was read; gives back the new version. Dies when `next` is not
   * the same task with the same owner.
   */
  readonly replace: (stored: Stored, next: Task) => Effect.Effect<Stored, TaskStoreError | VersionConflict>

  /**
   * At most `limit` tasks whose deadline is at or before `now` (epoch milliseconds), the longest overdue first.
   *
   * **Details**
   *
   * The sweeper asks every second, and is about to write. So a store that is read-only for a while fails here too, if
   * it can tell: that is how a process that has nothing to write finds out that it could not.
   */
  readonly due: (now: number, limit: number) => Effect.Effect<ReadonlyArray<DueTask>, TaskStoreError>

  /** Removes the task if it still has that version, and says whether it did. */
  readonly remove: (taskId: string, version: number) => Effect.Effect<boolean, TaskStoreError>

  /** How many tasks of an owner have not ended. */
  readonly countLive: (owner: string) => Effect.Effect<number, TaskStoreError>

  /**
   * At most `limit` tasks after a task id, in the order of their ids. For operators and start-up, never the wire.
   *
   * **Details**
   *
   * The order is that of the codes of characters: `B` comes before `a`, and `task-10` before `task-2`. Beyond ASCII a
   * store may have an order of its own (by UTF-8, by UTF-16), if it is one for all ids, and `after` goes by it.
   *
   * **Gotchas**
   *
   * A record that cannot be decoded is passed over, and named in the log once. A page shorter than `limit` is the last.
   */
  readonly list: (options: {
    readonly owner?: string | undefined
    readonly live?: boolean | undefined
    readonly after?: string | undefined
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<Stored>, TaskStoreError>
}>()("@effect-mcp-tasks/engine/TaskStore") {}

/**
 * Keeps tasks in the memory of this process: for tests, and for servers whose tasks may die with them.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TaskStore> = Layer.effect(TaskStore, memoryTaskStore.make)

/**
 * Keeps tasks in a table of a SQL database, which it creates and migrates: SQLite or Postgres, by the `SqlClient`.
 *
 * **Details**
 *
 * How durable an acknowledged task is, is the database's business: with SQLite's `synchronous = NORMAL` it survives
 * the death of the process, with `FULL` the loss of power.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSql: Layer.Layer<
  TaskStore,
  Migrator.MigrationError | SqlError.SqlError,
  SqlClient.SqlClient
> = boundedSql.within(Layer.effect(TaskStore, sqlTaskStore.make({ table: "mcp_tasks" })))

/**
 * Does what `layerSql` does, in another table than `mcp_tasks`.
 *
 * **Details**
 *
 * Migrations are counted in a table of the same name with `_migrations` behind it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSqlWith = (options: {
  readonly table: string
}): Layer.Layer<TaskStore, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient> =>
  boundedSql.within(Layer.effect(TaskStore, sqlTaskStore.make(options)))

/**
 * How a Redis store works.
 *
 * @category models
 * @since 0.1.0
 */
export interface RedisOptions {
  /** What the keys begin with, between braces; `mcp_tasks`. Not empty, and without braces itself. */
  readonly prefix?: string | undefined
  /**
   * How long an operation waits for Redis before it fails as `Unavailable`; 5 seconds.
   *
   * **Gotchas**
   *
   * A client that queues commands while it is disconnected may still send them later. A late replacement is refused
   * by its version; to have no late creates either, let the client refuse what it cannot send
   * (`disableOfflineQueue: true` in node-redis).
   */
  readonly timeout?: Duration.Input | undefined
}

/**
 * Does what `layerRedis` does, with settings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRedisWith = (options: RedisOptions): Layer.Layer<TaskStore, never, Redis.Redis> =>
  Layer.effect(
    TaskStore,
    redisTaskStore.make({
      prefix: options.prefix ?? "mcp_tasks",
      timeout: Duration.fromInputUnsafe(options.timeout ?? "5 seconds")
    })
  )

/**
 * Keeps tasks in Redis, by whatever client provides `Redis`: `NodeRedis.layer` of `@effect/platform-node`.
 *
 * **Details**
 *
 * A task is a hash, and no key has a time to live. Each operation is one command or one script, so that no crash
 * leaves half of one. On a cluster, all keys of a store are in one slot: see decision 0008.
 *
 * How durable an acknowledged task is, is Redis's business: with `appendfsync everysec` a crash of the machine can take
 * the last second, and a failover what the replica had not yet received. When the layer is built, it warns in the log
 * of an eviction policy that drops keys, of a server that keeps nothing on disk, and of a replica.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRedis: Layer.Layer<TaskStore, never, Redis.Redis> = layerRedisWith({})
