/**
 * The one store that all simulated servers share: a real store in memory, whose every change is told.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as FaultyStore from "@effect-mcp-tasks/testing/FaultyStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Process } from "./Process.ts"
import type * as Remote from "./Remote.ts"

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
 * Who hears of the store.
 *
 * @since 0.2.0
 */
export interface DatabaseOptions {
  /** Hears what is to replace a task. A store refuses what no task can be, so that no change ever shows it. */
  readonly onWish: (task: Task.Task) => void
  readonly onWrite: (write: Write) => void
  /** Hears of a call that fails for its caller. */
  readonly onMiss: (process: Process, call: FaultyStore.StoreCall) => void
}

/**
 * The one store that all simulated servers share.
 *
 * @since 0.1.0
 */
export class Database {
  private readonly tasks = new Map<string, Task.Stored>()
  private readonly store = Effect.runSync(Effect.provide(TaskStore.TaskStore, Layer.fresh(TaskStore.layerMemory)))
  private readonly onWish: DatabaseOptions["onWish"]
  private readonly onWrite: DatabaseOptions["onWrite"]
  private readonly onMiss: DatabaseOptions["onMiss"]

  /** Tells of every change that is wished for or made, and of every call that fails for its caller. */
  constructor({ onMiss, onWish, onWrite }: DatabaseOptions) {
    this.onWish = onWish
    this.onWrite = onWrite
    this.onMiss = onMiss
  }

  /** The store as one process reaches it. */
  connect(process: Process, call: Remote.Call): TaskStore.TaskStore["Service"] {
    return FaultyStore.around(this.watched(process), (asked, effect) =>
      call(effect, (why) => {
        this.onMiss(process, asked)
        return Effect.fail(FaultyStore.unavailable(asked.operation, why))
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
        Effect.tap(
          Effect.suspend(() => {
            this.onWish(next)
            return store.replace(held, next)
          }),
          (stored) => Effect.sync(() => record(next.taskId, stored))
        ),
      remove: (taskId, version) =>
        Effect.tap(store.remove(taskId, version), (isRemoved) =>
          isRemoved ? Effect.sync(() => record(taskId, undefined)) : Effect.void)
    }
  }
}
