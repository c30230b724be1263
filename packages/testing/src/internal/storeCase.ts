/**
 * What the cases of the store suite are written with.
 *
 * @since 0.1.0
 */
import type { Task } from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Suite from "../Suite.ts"
import type { Capability, Place } from "../TaskStoreTest.ts"
import * as places from "./places.ts"

/**
 * A case of the store suite.
 *
 * @since 0.1.0
 */
export type StoreCase = Suite.Case<Place, Capability>

/**
 * Opens the place of a case.
 *
 * @since 0.1.0
 */
export type Open = places.Open<TaskStore.TaskStore["Service"]>

/**
 * A case that opens its place itself, as often as it wants.
 *
 * @since 0.1.0
 */
export const atPlace = (
  title: string,
  needs: ReadonlyArray<Capability>,
  body: (open: Open) => Effect.Effect<unknown, unknown, Scope.Scope>
): StoreCase => ({
  title,
  needs,
  run: (place) => Effect.asVoid(Effect.scoped(Effect.flatMap(places.make(TaskStore.TaskStore, place), body)))
})

/**
 * A case of one store.
 *
 * @since 0.1.0
 */
export const test = (
  title: string,
  effect: Effect.Effect<unknown, unknown, TaskStore.TaskStore>,
  needs: ReadonlyArray<Capability> = []
): StoreCase =>
  atPlace(
    title,
    needs,
    (open) => Effect.flatMap(open, (store) => Effect.provideService(effect, TaskStore.TaskStore, store))
  )

/**
 * A limit that no case reaches.
 *
 * @since 0.1.0
 */
export const noLimit = { maxLive: 1_000_000 }

/**
 * Creates a task.
 *
 * @since 0.1.0
 */
export const create = (task: Task, options = noLimit) =>
  Effect.flatMap(TaskStore.TaskStore, (store) => store.create(task, options))

/**
 * The ids of what is due.
 *
 * @since 0.1.0
 */
export const dueIds = (now: number, limit = 100) =>
  Effect.flatMap(TaskStore.TaskStore, (store) =>
    Effect.map(store.due(now, limit), (due) => due.map(({ taskId }) => taskId)))

/**
 * The ids of a page.
 *
 * @since 0.1.0
 */
export const listIds = (options: Parameters<TaskStore.TaskStore["Service"]["list"]>[0]) =>
  Effect.flatMap(TaskStore.TaskStore, (store) =>
    Effect.map(store.list(options), (page) => page.map(({ task }) => task.taskId)))
