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
 * Makes what decodes the call of a task, or says in words for its client why that cannot be done here.
 *
 * **Details**
 *
 * The log hears of each tool of which tasks fail that way once, and how: a release without it meets all its tasks.
 *
 * @since 0.2.0
 */
export const decoder = (tools: TaskTools["Service"]) => {
  const told = new Set<string>()
  const tell = ({ taskId, tool }: Task.Task, entry: (message: string) => Effect.Effect<void>, what: string) =>
    Effect.suspend(() => {
      const key = `${tool} ${what}`
      if (told.has(key)) return Effect.void
      told.add(key)
      return Effect.annotateLogs(entry(`${what}; such tasks fail here, and of this tool that is said once`), {
        taskId,
        tool
      })
    })

  return (task: Task.Task): Effect.Effect<Result.Result<ToolCall, string>> => {
    const tool = tools.get(task.tool)
    if (Option.isNone(tool)) {
      return Effect.as(
        tell(task, Effect.logError, "A stored task is of a tool that no longer exists"),
        Result.fail(`The tool ${task.tool} no longer exists`)
      )
    }
    return tool.value.call(task.arguments).pipe(
      // The reason may quote the arguments.
      Effect.tap((call) =>
        Result.isSuccess(call)
          ? Effect.void
          : tell(task, Effect.logError, "The stored arguments of a task do not fit its tool's parameters")
      ),
      Effect.catchCause((cause) =>
        Effect.as(
          tell(
            task,
            (message) => Effect.logError(message, cause),
            "The stored arguments of a task broke their tool's schema"
          ),
          Result.fail(`The arguments of tool ${task.tool} could not be decoded`)
        )
      )
    )
  }
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
