/**
 * The one store that all simulated servers share: a real store in memory behind a network that may fail.
 *
 * A call goes out, is done at one moment, and its answer comes back later; each way may be slow or lost, and the caller
 * cannot tell which. A call that was sent is done even when its caller has gone.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as FaultyStore from "@effect-mcp-tasks/testing/FaultyStore"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type { Process } from "./Process.ts"
import type { Weather } from "./Weather.ts"
import type { World } from "./World.ts"

/**
 * A change of the store, at the moment when it was made.
 *
 * @since 0.1.0
 */
export interface Write {
  readonly process: Process
  readonly taskId: string
  /** What there was and what there is; `undefined` is no task. */
  readonly before: Task.Stored | undefined
  readonly after: Task.Stored | undefined
}

/**
 * The one store that all simulated servers share.
 *
 * @since 0.1.0
 */
export class Database {
  /** Every task that there is, as it was last written. */
  readonly tasks = new Map<string, Task.Stored>()
  private readonly store = Effect.runSync(Effect.provide(TaskStore.TaskStore, Layer.fresh(TaskStore.layerMemory)))
  private readonly world: World
  private readonly weather: Weather
  private readonly onWrite: (write: Write) => void

  constructor(world: World, weather: Weather, onWrite: (write: Write) => void) {
    this.world = world
    this.weather = weather
    this.onWrite = onWrite
  }

  /** The store as one process reaches it. */
  connect(process: Process): TaskStore.TaskStore["Service"] {
    return FaultyStore.around(this.watched(process), (call, effect) =>
      Effect.callback((resume) => {
        const fate = this.weather.storeCall(process)
        const answer = (exit: Exit.Exit<Effect.Success<typeof effect>, Effect.Error<typeof effect>>) =>
          process.after(fate.backMs, () => resume(exit))
        if (fate.failsAfterMs !== undefined) {
          process.after(fate.failsAfterMs, () => resume(Effect.fail(FaultyStore.unavailable(call.operation, fate.why))))
        }
        if (fate.times === 0) return
        this.world.after(fate.outMs, () => {
          for (let time = 1; time < fate.times; time++) Effect.runSyncExit(effect)
          const exit = Effect.runSyncExit(effect)
          if (fate.failsAfterMs === undefined) answer(exit)
        })
      }))
  }

  /** The store with every change of it recorded as the work of a process. */
  private watched(process: Process): TaskStore.TaskStore["Service"] {
    const { store } = this
    const record = (taskId: string, after: Task.Stored | undefined) => {
      const before = this.tasks.get(taskId)
      if (after === undefined) this.tasks.delete(taskId)
      else this.tasks.set(taskId, after)
      this.onWrite({ process, taskId, before, after })
    }
    return {
      ...store,
      create: (task, options) =>
        Effect.tap(store.create(task, options), (stored) => Effect.sync(() => record(task.taskId, stored))),
      replace: (held, next) =>
        Effect.tap(store.replace(held, next), (stored) => Effect.sync(() => record(next.taskId, stored))),
      remove: (taskId, version) =>
        Effect.tap(store.remove(taskId, version), (isRemoved) =>
          isRemoved ? Effect.sync(() => record(taskId, undefined)) : Effect.void)
    }
  }
}
