/**
 * The answer to `tasks/get` about a task, or what is wrong with it.
 *
 * @since 0.1.0
 */
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { InvalidResponse } from "../TaskClientError.ts"

/**
 * Reads the answer to `tasks/get` about a task.
 *
 * @since 0.1.0
 */
export const readView = (
  result: Schema.JsonObject,
  taskId: string
): Effect.Effect<TaskView.TaskView, InvalidResponse> => {
  const invalid = (detail: string) => Effect.fail(new InvalidResponse({ method: "tasks/get", taskId, detail }))
  const view = TaskView.read(result)
  if (Result.isFailure(view)) return invalid(view.failure)
  return view.success.taskId === taskId ? Effect.succeed(view.success) : invalid("another task")
}
