/**
 * What must hold in every state of the model, whatever has happened: what was acknowledged is not lost.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { State } from "./Model.ts"
import type { Model } from "./writes.ts"

/**
 * What is broken in a state.
 *
 * @since 0.1.0
 */
export const broken = (model: Model, state: State): ReadonlyArray<string> => {
  const task = model.task(state)
  if (task === undefined) {
    return state.create === "acknowledged" && !state.wasRemoved ? ["an acknowledged task is not there"] : []
  }
  const isOpen = Task.outstanding(task).length > 0
  const isStopping = Task.isTerminal(task) || (task.status === "working" && task.cancelRequested)
  return [
    ...state.answer.at === "acknowledged" && isOpen ? ["an answer was acknowledged, and the question is open"] : [],
    ...state.cancel.at === "acknowledged" && !isStopping ? ["a cancel was acknowledged, and the task goes on"] : []
  ]
}

/**
 * Whether everything has come to its end.
 *
 * @since 0.1.0
 */
export const isOver = (model: Model, state: State): boolean =>
  model.task(state) === undefined && state.create !== "unsent"

/**
 * Whether the task has ended, or nobody can be blamed that it does not: its client does not know of it and cannot
 * answer.
 *
 * @since 0.1.0
 */
export const hasEnded = (model: Model, state: State): boolean => {
  const task = model.task(state)
  if (state.create === "unsent" || task === undefined || Task.isTerminal(task)) return true
  return state.create === "unanswered" && model.configuration.script.includes("ask")
}
