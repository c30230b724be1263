/**
 * The stores that the fixture server runs on, by name. Another store is another entry.
 *
 * @since 0.1.0
 */
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as SqliteClient from "@effect-mcp-tasks/sqlite/SqliteClient"
import * as Layer from "effect/Layer"

/**
 * Where a store keeps its data.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoreOptions {
  /** The database of a store that keeps one in a file; without it the data lives no longer than the process. */
  readonly file: string | undefined
}

/**
 * The stores by name.
 *
 * @category layers
 * @since 0.1.0
 */
export const layers = {
  memory: () => TaskStore.layerMemory,
  sqlite: ({ file }: StoreOptions) =>
    Layer.provide(TaskStore.layerSql, SqliteClient.layer({ filename: file ?? ":memory:" }))
}

/**
 * The name of a store.
 *
 * @category models
 * @since 0.1.0
 */
export type StoreName = keyof typeof layers

/**
 * Every name of a store.
 *
 * @category data
 * @since 0.1.0
 */
export const names: ReadonlyArray<StoreName> = ["memory", "sqlite"]
