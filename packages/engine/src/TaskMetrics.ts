/**
 * What can be measured of tasks, as metrics of Effect: read them with `Metric.snapshot`, or export them with
 * `effect/observability`.
 *
 * Every process counts what it did itself, so that the sum over all replicas is right. Durations are in milliseconds.
 *
 * @since 0.2.0
 */
import * as Metric from "effect/Metric"

/**
 * How a task ended, as `mcp_tasks_ended` tells it.
 *
 * @category models
 * @since 0.2.0
 */
export type Outcome = "completed" | "tool_error" | "failed" | "cancelled" | "expired"

const boundaries = Metric.exponentialBoundaries({ start: 1, factor: 4, count: 10 })

/**
 * Tasks created, by `tool`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const created = Metric.counter("mcp_tasks_created", { description: "Tasks created", incremental: true })

/**
 * Tasks ended, by `tool` and `outcome`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const ended = Metric.counter("mcp_tasks_ended", { description: "Tasks ended", incremental: true })

/**
 * Attempts after the first one, by `tool`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const reruns = Metric.counter("mcp_tasks_reruns", {
  description: "Handlers run again for a task that had been started before",
  incremental: true
})

/**
 * Attempts that died with their worker, by `tool`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const lostAttempts = Metric.counter("mcp_tasks_lost_attempts", {
  description: "Attempts that died with their worker",
  incremental: true
})

/**
 * Handlers that run in this process now, without those that wait for input.
 *
 * @category metrics
 * @since 0.2.0
 */
export const running = Metric.gauge("mcp_tasks_running", { description: "Handlers that run here now" })

/**
 * Handlers in this process that wait for input now.
 *
 * @category metrics
 * @since 0.2.0
 */
export const parked = Metric.gauge("mcp_tasks_parked", { description: "Handlers that wait for input here now" })

/**
 * From the creation of a task to its first start.
 *
 * @category metrics
 * @since 0.2.0
 */
export const queueTime = Metric.histogram("mcp_tasks_queue_time", {
  description: "Milliseconds from the creation of a task to its first start",
  boundaries
})

/**
 * How long the store took, failures included, by `operation`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const storeTime = Metric.histogram("mcp_tasks_store_time", {
  description: "Milliseconds that an operation of the task store took",
  boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000]
})
