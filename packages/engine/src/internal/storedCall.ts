/**
 * From a stored task back to a call that can be run: the tools are those of this process, which may be of another
 * release than the one that the task was made by.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { TaskStoreError } from "../TaskStoreError.ts"
import type { TaskTools, ToolCall } from "../TaskTools.ts"

/**
 * Decodes the call of a task, or says in words for its client why that cannot be done here.
 *
 * @since 0.2.0
 */
export const decode = (
  tools: TaskTools["Service"],
  task: Task.Task
): Effect.Effect<Result.Result<ToolCall, string>> => {
  const tool = tools.get(task.tool)
  if (Option.isNone(tool)) return Effect.succeed(Result.fail(`The tool ${task.tool} no longer exists`))
  return Effect.catchCause(tool.value.call(task.arguments), (cause) =>
    Effect.as(
      Effect.annotateLogs(Effect.logError("The stored arguments of a task broke their tool's schema", cause), {
        taskId: task.taskId,
        tool: task.tool
      }),
      Result.fail(`The arguments of tool ${task.tool} could not be decoded`)
    ))
}

/**
 * Whether what went wrong is wrong with one task and not with the store: its record is damaged, or it breaks what
 * handles it. To try again could not help, and others must not suffer from it.
 *
 * @since 0.2.0
 */
export const isOfTheTask = <E>(cause: Cause.Cause<E>): boolean => {
  const error = Cause.findError(cause)
  return Result.isSuccess(error)
    ? error.success instanceof TaskStoreError && error.success.isPermanent
    : Cause.hasDies(cause)
}

/**
 * Leaves such a task as it is, for an operator.
 *
 * @since 0.2.0
 */
export const leave = (taskId: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError("A task cannot be taken up; it is left as it is", cause), { taskId })
