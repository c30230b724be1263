/**
 * A key-value store of promises, as the handle store's.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as TaskHandleStore from "../TaskHandleStore.ts"

/**
 * Somewhere to keep text by a key: a directory, a database, the browser's storage.
 *
 * @category models
 * @since 0.1.0
 */
export interface PlainStore {
  readonly get: (key: string) => Promise<string | undefined>
  readonly set: (key: string, value: string) => Promise<void>
  readonly delete: (key: string) => Promise<void>
  readonly keys: () => Promise<ReadonlyArray<string>>
}

const attempt = <A>(method: string, key: string, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new KeyValueStore.KeyValueStoreError({ method, key, message: `The store did not ${method}`, cause })
  })

/**
 * Remembers open tasks there.
 *
 * @since 0.1.0
 */
export const storeLayer = (store: PlainStore): Layer.Layer<TaskHandleStore.TaskHandleStore> => {
  const keys = attempt("keys", "", store.keys)
  return Layer.provide(
    TaskHandleStore.layer,
    Layer.succeed(
      KeyValueStore.KeyValueStore,
      KeyValueStore.makeStringOnly({
        get: (key) => attempt("get", key, () => store.get(key)),
        set: (key, value) => attempt("set", key, () => store.set(key, value)),
        remove: (key) => attempt("delete", key, () => store.delete(key)),
        clear: Effect.flatMap(keys, (all) =>
          Effect.forEach(all, (key) => attempt("delete", key, () => store.delete(key)), { discard: true })),
        size: Effect.map(keys, ({ length }) => length),
        keys
      })
    )
  )
}
