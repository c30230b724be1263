/**
 * A real store whose every call is written in a ledger, with the tasks that are in it.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as FaultyStore from "@effect-mcp-tasks/testing/FaultyStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Ledger, type LevelName, type Operation, operations } from "./Ledger.ts"

const isCounted = (operation: string): operation is Operation => operations.some((counted) => counted === operation)

const isParked = (task: Task.Task): boolean => task.status === "input_required"

/**
 * Writes what is done to the store that is provided in a ledger; `began` is the ledger's beginning in epoch
 * milliseconds.
 *
 * @since 0.2.0
 */
export const layer = (
  ledger: Ledger,
  began: number
): Layer.Layer<TaskStore.TaskStore, never, TaskStore.TaskStore> => {
  const note = (write: (at: number) => void) =>
    Effect.map(Clock.currentTimeMillis, (now) => write(now - began))
  const change = (name: LevelName, was: boolean, is: boolean) =>
    was === is ? Effect.void : note((at) => ledger.change(at, name, is ? 1 : -1))
  const changed = (was: Task.Task | undefined, is: Task.Task | undefined) =>
    Effect.all([
      change("stored", was !== undefined, is !== undefined),
      change("live", was !== undefined && !Task.isTerminal(was), is !== undefined && !Task.isTerminal(is)),
      change("parked", was !== undefined && isParked(was), is !== undefined && isParked(is))
    ], { discard: true })

  return Layer.effect(
    TaskStore.TaskStore,
    Effect.map(TaskStore.TaskStore, (store) => {
      const counted = FaultyStore.around(store, ({ operation }, effect) =>
        isCounted(operation)
          ? Effect.andThen(note((at) => ledger.operation(at, operation)), effect)
          : effect)
      return {
        ...counted,
        create: (task, options) => Effect.tap(counted.create(task, options), () => changed(undefined, task)),
        replace: (stored, next) => Effect.tap(counted.replace(stored, next), () => changed(stored.task, next)),
        remove: (taskId, version) =>
          Effect.tap(counted.remove(taskId, version), (isRemoved) => change("stored", isRemoved, false))
      }
    })
  )
}
