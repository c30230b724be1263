/**
 * Everything that happens to tasks, told to those who measure and to those who keep a record.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { TaskEvent } from "@effect-mcp-tasks/core/TaskEvent"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { TaskAudit } from "../TaskAudit.ts"
import * as TaskMetrics from "../TaskMetrics.ts"

/**
 * A change that has become durable.
 *
 * @since 0.2.0
 */
export interface Change {
  readonly stored: Task.Stored
  readonly events: ReadonlyArray<TaskEvent>
  readonly command: TaskCommand["_tag"]
}

/**
 * Makes what tells of tasks.
 *
 * @since 0.2.0
 */
export const make = Effect.gen(function*() {
  const audit = yield* TaskAudit

  const created = (stored: Task.Stored): Effect.Effect<void> =>
    Effect.andThen(
      count(TaskMetrics.created, { tool: stored.task.tool }),
      audit?.(entry(stored, "Created", stored.task.createdAt)) ?? Effect.void
    )

  const changed = (change: Change): Effect.Effect<void> =>
    Effect.forEach(
      change.events,
      (event) =>
        Effect.andThen(
          measure(change, event),
          audit?.(entry(change.stored, event._tag, event.at)) ?? Effect.void
        ),
      { discard: true }
    )

  return { created, changed }
})

/**
 * What tells of tasks.
 *
 * @since 0.2.0
 */
export type Lifecycle = Effect.Success<typeof make>

const entry = ({ task, version }: Task.Stored, event: "Created" | TaskEvent["_tag"], at: number) => ({
  event,
  taskId: task.taskId,
  version,
  owner: task.owner,
  tool: task.tool,
  status: task.status,
  attempt: task.attempt,
  at,
  ...(task.worker === undefined ? {} : { worker: task.worker }),
  ...(task.status === "failed" ? { code: task.error.code } : {})
})

const count = (metric: Metric.Counter<number>, attributes: Readonly<Record<string, string>>): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(metric, attributes), 1)

const measure = (change: Change, event: TaskEvent): Effect.Effect<void> => {
  const { createdAt, tool } = change.stored.task
  const ended = (outcome: TaskMetrics.Outcome) => count(TaskMetrics.ended, { tool, outcome })
  switch (event._tag) {
    case "Started":
      return event.attempt === 1
        ? Metric.update(TaskMetrics.queueTime, event.at - createdAt)
        : count(TaskMetrics.reruns, { tool })
    case "AttemptLost":
      return count(TaskMetrics.lostAttempts, { tool })
    case "Completed":
      return ended(event.isError ? "tool_error" : "completed")
    case "Failed":
      return ended(isExpiry(change) ? "expired" : "failed")
    case "Cancelled":
      return ended("cancelled")
    default:
      return Effect.void
  }
}

/** A start fails a task for two reasons: its attempt was lost, or its time is over. */
const isExpiry = ({ command, events }: Change): boolean =>
  command === "Expire" || (command === "Start" && events.every(({ _tag }) => _tag !== "AttemptLost"))
