/**
 * The record of who had what done: one entry for each thing that happened to a task, once it has been written. Where
 * tasks are created and offered in one transaction, a creation is told just before its commit.
 *
 * It holds no arguments, answers, results, messages or credentials. What it does hold (the owner, the tool, the task's
 * id) says enough about people to be kept as carefully as any log of theirs.
 *
 * @since 0.2.0
 */
import type { TaskStatus } from "@effect-mcp-tasks/core/Task"
import type { TaskEvent } from "@effect-mcp-tasks/core/TaskEvent"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * One thing that happened to a task.
 *
 * @category models
 * @since 0.2.0
 */
export interface AuditEntry {
  readonly event: "Created" | TaskEvent["_tag"]
  readonly taskId: string
  /** The version under which it is stored. */
  readonly version: number
  /** Whose task it is: issuer, subject and tenant. */
  readonly owner: string
  readonly tool: string
  readonly status: TaskStatus
  readonly attempt: number
  /** When, in epoch milliseconds by `TaskClock`. */
  readonly at: number
  /** Who runs it, of several workers. */
  readonly worker?: string | undefined
  /** The code of the JSON-RPC error that a failed task ended with. */
  readonly code?: number | undefined
}

/**
 * Where entries go: nowhere, unless a layer says otherwise.
 *
 * @category services
 * @since 0.2.0
 */
export const TaskAudit: Context.Reference<((entry: AuditEntry) => Effect.Effect<void>) | undefined> = Context
  .Reference<((entry: AuditEntry) => Effect.Effect<void>) | undefined>("@effect-mcp-tasks/engine/TaskAudit", {
    defaultValue: () => undefined
  })

/**
 * Logs each entry at level Info, with its fields as annotations.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerLog: Layer.Layer<never> = Layer.succeed(
  TaskAudit,
  (entry) => Effect.annotateLogs(Effect.logInfo(`Task ${entry.event}`), Object.fromEntries(Object.entries(entry)))
)
