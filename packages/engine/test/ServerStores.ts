/** What the tests of stores on servers share. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Result, Schedule, type Scope } from "effect"
import { Redis } from "effect/persistence"
import * as clients from "./clients.ts"
import * as services from "./services.ts"

/** A store on a server, and the connection it uses. */
export const open = Effect.fnUntraced(function*(url: string, options: TaskStore.RedisOptions = {}) {
  const layer = Layer.provideMerge(TaskStore.layerRedisWith(options), clients.redis(url)).pipe(
    Layer.provide(clients.quiet)
  )
  const context = yield* Layer.build(Layer.fresh(layer))
  return { store: Context.get(context, TaskStore.TaskStore), redis: Context.get(context, Redis.Redis) }
})

/** A place under keys of its own, which go with the scope, and the store that a process has there. */
export const redisPlace = Effect.fnUntraced(function*(url: string) {
  const prefix = services.uniqueName()
  yield* Layer.build(Layer.provide(Layer.fresh(services.dropKeysAfter(`{${prefix}}*`)), clients.redis(url)))
  return Layer.provide(TaskStore.layerRedisWith({ prefix }), [clients.redis(url), clients.quiet])
})

type Reason = TaskStore.TaskStoreError["reason"]
type Operation = TaskStore.TaskStoreError["operation"]

/** Whoever asks what is due is about to write. */
const writes: ReadonlyArray<Operation> = ["create", "replace", "remove", "due"]
const reads: ReadonlyArray<Operation> = ["read", "view", "countLive", "list"]

/** Says that every operation fails for this reason; `"writes"` only those that write. */
export const failing = (reason: Reason, which: "all" | "writes" = "all"): Partial<Record<Operation, Reason>> =>
  Object.fromEntries((which === "all" ? [...writes, ...reads] : writes).map((operation) => [operation, reason]))

/**
 * Asks everything of a store, and says what failed for which reason: to create `new`, to replace version 1 of `task-1`,
 * and to remove version 1 of `old`.
 */
export const failures = Effect.fnUntraced(function*(store: TaskStore.TaskStore["Service"]) {
  const operations: Record<Operation, Effect.Effect<unknown, unknown>> = {
    create: store.create(working({ taskId: "new" }), { maxLive: 100 }),
    read: store.read("task-1"),
    view: store.view("task-1"),
    replace: store.replace({ task: working(), version: 1 }, working({ statusMessage: "replaced" })),
    due: store.due(0, 1),
    remove: store.remove("old", 1),
    countLive: store.countLive("ada"),
    list: store.list({ limit: 1 })
  }
  const seen: Partial<Record<Operation, Reason>> = {}
  for (const [operation, effect] of Object.entries(operations)) {
    const result = yield* Effect.result(effect)
    if (Result.isSuccess(result)) continue
    assert.instanceOf(result.failure, TaskStore.TaskStoreError)
    assert.strictEqual(result.failure.operation, operation)
    seen[result.failure.operation] = result.failure.reason
  }
  return seen
})

/** Runs each script once, without a change: an unknown script is only loaded when it is first called. */
export const warmUp = Effect.fnUntraced(function*(store: TaskStore.TaskStore["Service"]) {
  yield* Effect.flip(store.create(working({ taskId: "warm" }), { maxLive: 0 }))
  const warm = working({ taskId: "warm" })
  yield* Effect.flip(store.replace({ task: warm, version: 1 }, warm))
  yield* store.remove("warm", 1)
})

/** Tries for a while, as a client does that comes back. */
export const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { schedule: Schedule.spaced("50 millis"), times: 600 })

/** A test in real time, since servers know no other. */
export const test = <A, E>(title: string, effect: Effect.Effect<A, E, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(effect))
