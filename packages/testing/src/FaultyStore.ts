/**
 * A real store in which single calls go wrong as a test says.
 *
 * It stands between one process and a store that outlives it: a process can crash between two writes here, and the
 * store below keeps what was written.
 *
 * @since 0.1.0
 */
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fault } from "./Fault.ts"
import { IsAside } from "./internal/aside.ts"
import * as faultScript from "./internal/faultScript.ts"

/**
 * The operations of a store.
 *
 * @category models
 * @since 0.1.0
 */
export type Operation = keyof TaskStore.TaskStore["Service"]

/**
 * A call to a store.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoreCall {
  readonly operation: Operation
  /** Which task it is for, where it is for one. */
  readonly taskId: string | undefined
}

/**
 * What happens to every call on its way to the store and back.
 *
 * @category models
 * @since 0.1.0
 */
export type Around = <A, E>(
  call: StoreCall,
  effect: Effect.Effect<A, E>
) => Effect.Effect<A, E | TaskStore.TaskStoreError>

/**
 * A store whose every call goes through a function.
 *
 * **When to use**
 *
 * For faults of one's own, latency, and recording. `layer` is made of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const around = (store: TaskStore.TaskStore["Service"], through: Around): TaskStore.TaskStore["Service"] => ({
  create: (task, options) => through({ operation: "create", taskId: task.taskId }, store.create(task, options)),
  read: (taskId) => through({ operation: "read", taskId }, store.read(taskId)),
  view: (taskId) => through({ operation: "view", taskId }, store.view(taskId)),
  replace: (stored, next) => through({ operation: "replace", taskId: next.taskId }, store.replace(stored, next)),
  due: (now, limit) => through({ operation: "due", taskId: undefined }, store.due(now, limit)),
  remove: (taskId, version) => through({ operation: "remove", taskId }, store.remove(taskId, version)),
  countLive: (owner) => through({ operation: "countLive", taskId: undefined }, store.countLive(owner)),
  list: (options) => through({ operation: "list", taskId: undefined }, store.list(options))
})

/**
 * The error of a store that could not do its work, as a fault makes it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unavailable = (operation: Operation, why: string): TaskStore.TaskStoreError =>
  new TaskStore.TaskStoreError({ operation, reason: "Unavailable", cause: new Error(why) })

/**
 * Says what goes wrong in the store that `layer` provides.
 *
 * @category services
 * @since 0.1.0
 */
export class FaultyStore extends Context.Service<FaultyStore, {
  /**
   * Says what happens to the next calls of an operation, one fault for each call; `writes` are `create`, `replace` and
   * `remove`. A call for which both say something suffers what was said for its operation, and the other waits.
   *
   * **Example** (The process dies between the second and the third write)
   *
   * ```ts
   * yield* faults.next("writes", Fault.none, Fault.none, Fault.crashBefore)
   * ```
   */
  readonly next: (operation: Operation | "writes" | "any", ...faults: ReadonlyArray<Fault>) => Effect.Effect<void>
  /** Forgets the faults that have not come yet, and lets calls through again after a crash: a new process. */
  readonly restart: Effect.Effect<void>
  /** Whether the process has crashed. */
  readonly hasCrashed: Effect.Effect<boolean>
  /** The calls so far, whatever became of them. */
  readonly calls: Effect.Effect<ReadonlyArray<StoreCall>>
}>()("@effect-mcp-tasks/testing/FaultyStore") {}

const writes: ReadonlySet<Operation> = new Set<Operation>(["create", "replace", "remove"])

const make = Effect.map(TaskStore.TaskStore, (store) => {
  const script = faultScript.make<Operation | "writes" | "any", Fault>()
  const calls: Array<StoreCall> = []
  const through: Around = (call, effect) =>
    Effect.flatMap(IsAside, (isAside) => {
      if (!isAside) calls.push(call)
      const { operation } = call
      const keys = writes.has(operation) ? [operation, "writes", "any"] as const : [operation, "any"] as const
      return script.suffer({ keys }, effect, (why) => Effect.fail(unavailable(operation, why)))
    })
  return Context.make(TaskStore.TaskStore, around(store, through)).pipe(
    Context.add(FaultyStore, {
      next: script.next,
      restart: script.restart,
      hasCrashed: script.hasCrashed,
      calls: Effect.sync(() => [...calls])
    })
  )
})

/**
 * Puts faults between the store that is provided and whoever uses the one that comes out.
 *
 * **Example**
 *
 * ```ts
 * const store = FaultyStore.layer.pipe(Layer.provide(TaskStore.layerMemory))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskStore.TaskStore | FaultyStore, never, TaskStore.TaskStore> = Layer.effectContext(
  make
)
