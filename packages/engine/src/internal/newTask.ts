/**
 * What a call brings into its task.
 *
 * @since 0.2.0
 */
import type * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Option from "effect/Option"
import * as TaskOwner from "../TaskOwner.ts"
import type { TaskRequest } from "../TaskRunner.ts"

/**
 * Makes the new task of a call.
 *
 * @since 0.2.0
 */
export const from = (request: TaskRequest): Omit<TaskMachine.NewTask, "taskId" | "at"> => {
  const settings = Option.getOrThrow(request.tool.settings)
  return {
    owner: TaskOwner.key(request.owner),
    tool: request.tool.name,
    arguments: request.arguments,
    capabilities: request.capabilities,
    policy: settings.policy,
    ttlMs: settings.ttlMs,
    pollIntervalMs: settings.pollIntervalMs,
    journal: request.journal,
    ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent })
  }
}
