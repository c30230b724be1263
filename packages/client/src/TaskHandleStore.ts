/**
 * The open tasks of a client, remembered so that another process can go on with them.
 *
 * A task is remembered before anything else is done with it, an answer before it is sent, and both until the task's
 * end is known. So a client that is resumed asks nobody a second time what they have answered, and loses no result.
 *
 * **Gotchas**
 *
 * A question that is on the screen when its process dies has no answer yet, and is asked again. A task whose id was
 * still on its way when the process died cannot be remembered: the protocol has no way to ask for it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import { TaskHandleStoreError } from "./TaskClientError.ts"

/**
 * An answer on its way, or one that the server has acknowledged. Without a response, the question was asked and not
 * answered yet.
 *
 * @category models
 * @since 0.1.0
 */
export const RememberedAnswer = Schema.Struct({
  key: Schema.String,
  response: Schema.optionalKey(Schema.JsonObject),
  isSent: Schema.Boolean
})

/**
 * An open task. `firstSeenAt` is in epoch milliseconds of the client's clock; `server` tells the tasks of different
 * servers apart.
 *
 * @category models
 * @since 0.1.0
 */
export const RememberedTask = Schema.Struct({
  server: Schema.String,
  taskId: Schema.String,
  tool: Schema.optionalKey(Schema.String),
  firstSeenAt: Schema.Int,
  answers: Schema.Array(RememberedAnswer)
})

/**
 * An open task, with its answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface RememberedTask extends Schema.Schema.Type<typeof RememberedTask> {}

/**
 * Remembers open tasks.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskHandleStore extends Context.Service<TaskHandleStore, {
  readonly save: (task: RememberedTask) => Effect.Effect<void, TaskHandleStoreError>
  readonly read: (server: string, taskId: string) => Effect.Effect<Option.Option<RememberedTask>, TaskHandleStoreError>
  readonly remove: (server: string, taskId: string) => Effect.Effect<void, TaskHandleStoreError>
  /** The open tasks of one server, the oldest first. */
  readonly list: (server: string) => Effect.Effect<ReadonlyArray<RememberedTask>, TaskHandleStoreError>
}>()("@effect-mcp-tasks/client/TaskHandleStore") {}

const Text = Schema.fromJsonString(RememberedTask)

const separator = "/"

/** Any text at all, a lone surrogate included, as part of a key. */
const encoded = (part: string): string => encodeURIComponent(JSON.stringify(part).slice(1, -1))

const keyOf = (server: string, taskId: string): string => `${encoded(server)}${separator}${encoded(taskId)}`

const idOf = (part: string): string => JSON.parse(`"${decodeURIComponent(part)}"`)

const forgotten = (server: string, taskId: string): RememberedTask => ({ server, taskId, firstSeenAt: 0, answers: [] })

/** A process may have died while it wrote. The id is in the key, so that at least the task is not lost. */
const decoded = (text: string, server: string, taskId: string): Effect.Effect<RememberedTask> =>
  Schema.decodeEffect(Text)(text).pipe(
    Effect.catch((cause) =>
      Effect.as(
        Effect.logWarning(`What was remembered of task ${taskId} is not readable, only its id is known`, cause),
        forgotten(server, taskId)
      )
    )
  )

const make = (store: KeyValueStore.KeyValueStore): TaskHandleStore["Service"] => {
  const failed = (operation: TaskHandleStoreError["operation"], taskId?: string) => (cause: unknown) =>
    new TaskHandleStoreError({ operation, cause, ...(taskId === undefined ? {} : { taskId }) })

  const read = (server: string, taskId: string) =>
    store.get(keyOf(server, taskId)).pipe(
      Effect.mapError(failed("read", taskId)),
      Effect.flatMap((text) => text === undefined ? Effect.succeedNone : Effect.asSome(decoded(text, server, taskId)))
    )

  return {
    read,
    save: (task) =>
      Schema.encodeEffect(Text)(task).pipe(
        Effect.flatMap((text) => store.set(keyOf(task.server, task.taskId), text)),
        Effect.mapError(failed("save", task.taskId))
      ),
    remove: (server, taskId) => Effect.mapError(store.remove(keyOf(server, taskId)), failed("remove", taskId)),
    list: Effect.fnUntraced(function*(server) {
      const keys = yield* Effect.mapError(store.keys, failed("list"))
      const prefix = keyOf(server, "")
      const ids = keys.flatMap((key) => key.startsWith(prefix) ? [idOf(key.slice(prefix.length))] : [])
      const tasks = yield* Effect.forEach(ids, (taskId) => read(server, taskId))
      return tasks.flatMap(Option.toArray).toSorted((one, other) => one.firstSeenAt - other.firstSeenAt)
    })
  }
}

/**
 * Remembers open tasks in a key-value store: in memory, in files, in SQL.
 *
 * **Example** (In files)
 *
 * ```ts
 * TaskHandleStore.layer.pipe(Layer.provide(KeyValueStore.layerFileSystem("open-tasks")))
 * ```
 *
 * **Gotchas**
 *
 * Its keys begin with `mcp-tasks/`. Two processes that go on with the same task at the same time ask twice.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskHandleStore, never, KeyValueStore.KeyValueStore> = Layer.effect(
  TaskHandleStore,
  Effect.map(KeyValueStore.KeyValueStore, (store) => make(KeyValueStore.prefix(store, "mcp-tasks/")))
)

/**
 * Remembers open tasks until this process ends.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TaskHandleStore> = Layer.provide(layer, KeyValueStore.layerMemory)

/**
 * Remembers open tasks in one hash of Redis.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRedis = (
  options: { readonly hash?: string | undefined } = {}
): Layer.Layer<TaskHandleStore, never, Redis.Redis> =>
  Layer.effect(
    TaskHandleStore,
    Effect.map(Redis.Redis, ({ send }) => {
      const hash = options.hash ?? "mcp-tasks:open"
      const failing = <A>(method: string, effect: Effect.Effect<A, Redis.RedisError>) =>
        Effect.mapError(effect, (cause) =>
          new KeyValueStore.KeyValueStoreError({ method, message: `Redis did not ${method}`, cause }))
      return TaskHandleStore.of(make(KeyValueStore.makeStringOnly({
        get: (key) => failing("get", Effect.map(send<string | null>("HGET", hash, key), (text) => text ?? undefined)),
        set: (key, value) => failing("set", Effect.asVoid(send("HSET", hash, key, value))),
        remove: (key) => failing("remove", Effect.asVoid(send("HDEL", hash, key))),
        clear: failing("clear", Effect.asVoid(send("DEL", hash))),
        size: failing("size", send<number>("HLEN", hash)),
        keys: failing("keys", send<ReadonlyArray<string>>("HKEYS", hash))
      })))
    })
  )
