/**
 * Everything that happens to tasks, told to those who measure and to those who keep a record.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { TaskEvent } from "@effect-mcp-tasks/core/TaskEvent"
import type * as Context from "effect/Context"
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
    Effect.contextWith((context: Context.Context<never>) => {
      labelled(TaskMetrics.created, { tool: stored.task.tool }).updateUnsafe(1, context)
      return audit?.(entry(stored, "Created", stored.task.createdAt)) ?? Effect.void
    })

  const changed = (change: Change): Effect.Effect<void> =>
    Effect.contextWith((context: Context.Context<never>) => {
      for (const event of change.events) measure(change, event, context)
      const audited = audit === undefined ? Effect.void : Effect.forEach(
        change.events,
        (event) => audit(entry(change.stored, event._tag, event.at)),
        { discard: true }
      )
      return isGivenUp(change) ? Effect.andThen(audited, saidGivenUp(change)) : audited
    })

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

type Labels = { readonly tool: string; readonly outcome?: TaskMetrics.Outcome }

/** Metrics with their labels, made once for each set: a metric finds its series by itself, but not for free. */
const known = new Map<Metric.Counter<number>, Map<string, Metric.Counter<number>>>()

const labelled = (metric: Metric.Counter<number>, labels: Labels): Metric.Counter<number> => {
  const series = known.get(metric) ?? new Map<string, Metric.Counter<number>>()
  known.set(metric, series)
  const key = `${labels.outcome ?? ""} ${labels.tool}`
  const counter = series.get(key) ?? Metric.withAttributes(metric, labels)
  series.set(key, counter)
  return counter
}

const measure = (change: Change, event: TaskEvent, context: Context.Context<never>): void => {
  const { createdAt, tool } = change.stored.task
  const count = (metric: Metric.Counter<number>, outcome?: TaskMetrics.Outcome) =>
    labelled(metric, outcome === undefined ? { tool } : { tool, outcome }).updateUnsafe(1, context)
  switch (event._tag) {
    case "Started":
      return event.attempt === 1
        ? TaskMetrics.queueTime.updateUnsafe(event.at - createdAt, context)
        : count(TaskMetrics.reruns)
    case "AttemptLost":
      return count(TaskMetrics.lostAttempts)
    case "Completed":
      return count(TaskMetrics.ended, event.isError ? "tool_error" : "completed")
    case "Failed":
      return count(TaskMetrics.ended, isExpiry(change) ? "expired" : "failed")
    case "Cancelled":
      return count(TaskMetrics.ended, "cancelled")
    default:
      // The others are not counted.
      break
  }
}

/** Whether a task that could be run again is not: it may be what kills the processes that run it. */
const isGivenUp = ({ command, events, stored: { task } }: Change): boolean =>
  command === "Start" && task.status === "failed" && task.policy.recovery === "resume" &&
  events.some(({ _tag }) => _tag === "AttemptLost")

const saidGivenUp = ({ stored: { task } }: Change): Effect.Effect<void> =>
  Effect.annotateLogs(
    Effect.logError("A task has failed: too many processes that ran it in a row stopped, and it may be the cause"),
    { taskId: task.taskId, tool: task.tool, attempts: task.attempt }
  )

/** A start fails a task for two reasons: its attempt was lost, or its time is over. */
const isExpiry = ({ command, events }: Change): boolean =>
  command === "Expire" || (command === "Start" && events.every(({ _tag }) => _tag !== "AttemptLost"))
