/** A store in front of another one, that is slow, loses answers, or refuses. */
import type { Task } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import { Effect, Layer } from "effect"

type Store = TaskStore.TaskStore["Service"]
type Operation = TaskStore.TaskStoreError["operation"]

/** What becomes of one call: it works, it works and nobody hears of it, or it does not work. */
export type Fate = "works" | "loses its answer" | "fails"

/** Decides over each call. */
export type Decide = (operation: Operation, next?: Task.Task) => Fate | TaskStore.TaskStoreError

const error = (operation: Operation) =>
  new TaskStore.TaskStoreError({ operation, reason: "ConnectionLost", cause: new Error("The test lost it") })

/** Wraps a store. `delay` comes before each call. */
export const wrap = (store: Store, decide: Decide, delay: Effect.Effect<void> = Effect.void): Store => {
  const call = <A, E>(operation: Operation, effect: Effect.Effect<A, E>, next?: Task.Task) =>
    Effect.andThen(
      delay,
      Effect.suspend((): Effect.Effect<A, E | TaskStore.TaskStoreError> => {
        const fate = decide(operation, next)
        if (fate === "works") return effect
        if (fate === "fails") return Effect.fail(error(operation))
        return fate === "loses its answer"
          ? Effect.andThen(Effect.exit(effect), Effect.fail(error(operation)))
          : Effect.fail(fate)
      })
    )
  return {
    create: (task, options) => call("create", store.create(task, options), task),
    read: (taskId) => call("read", store.read(taskId)),
    view: (taskId) => call("view", store.view(taskId)),
    replace: (stored, next) => call("replace", store.replace(stored, next), next),
    due: (now, limit) => call("due", store.due(now, limit)),
    remove: (taskId, version) => call("remove", store.remove(taskId, version)),
    countLive: (owner) => call("countLive", store.countLive(owner)),
    list: (options) => call("list", store.list(options))
  }
}

/** A store in memory that is treated so. */
export const layer = (decide: Decide, delay?: Effect.Effect<void>) =>
  Layer.effect(TaskStore.TaskStore, Effect.map(TaskStore.TaskStore, (store) => wrap(store, decide, delay))).pipe(
    Layer.provide(TaskStore.layerMemory)
  )

/** Loses answers, and refuses, by chance: the same for the same seed. */
export const byChance = (seed: number, share: number): Decide => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const drawn = state / 2 ** 32
    return drawn > share ? "works" : drawn > share / 2 ? "fails" : "loses its answer"
  }
}
