/**
 * The runners that the simulation runs servers with, by name.
 *
 * @since 0.1.0
 */
import * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskQueue from "@effect-mcp-tasks/engine/TaskQueue"
import * as TaskWorkers from "@effect-mcp-tasks/engine/TaskWorkers"
import * as Layer from "effect/Layer"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import type { Room } from "./Desk.ts"
import type { Runner } from "./Server.ts"

/**
 * The names of the runners.
 *
 * @since 0.1.0
 */
export const runnerNames = ["fiber", "queue"] as const

/**
 * The name of a runner.
 *
 * @since 0.1.0
 */
export type RunnerName = (typeof runnerNames)[number]

/** How many handlers are at work in a replica at the most, and how long they may finish when it goes away. */
const replica: Room = { slots: 2, graceMs: 2_000 }

/**
 * The runners by name.
 *
 * @since 0.1.0
 */
export const runners: { readonly [Name in RunnerName]: Runner } = {
  fiber: { layer: () => TaskRunner.layerFiber, findsOrphans: false, slots: Infinity, graceMs: 0 },
  queue: {
    ...replica,
    // The times are shorter than usual, so that a short life is long enough for what happens after a crash.
    layer: ({ queue, workers }) =>
      TaskRunner.layerQueueWith({
        concurrency: replica.slots,
        lease: "6 seconds",
        heartbeat: "10 seconds",
        grace: replica.graceMs,
        scan: "15 seconds"
      }).pipe(
        Layer.provide(TaskQueue.layerStore),
        Layer.provide([
          Layer.succeed(PersistedQueue.PersistedQueueStore, queue),
          Layer.succeed(TaskWorkers.TaskWorkers, workers)
        ])
      ),
    // Half a second for a slow reading, and what a clock that is wrong by a hundredth gains in a minute without any.
    followsMs: 1_200,
    findsOrphans: true
  }
}
