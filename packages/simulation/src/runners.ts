/**
 * The runners that the simulation runs servers with, by name.
 *
 * @since 0.1.0
 */
import * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import type { Runner } from "./Server.ts"

/**
 * The names of the runners.
 *
 * @since 0.1.0
 */
export const runnerNames = ["fiber"] as const

/**
 * The name of a runner.
 *
 * @since 0.1.0
 */
export type RunnerName = (typeof runnerNames)[number]

/**
 * The runners by name.
 *
 * @since 0.1.0
 */
export const runners: { readonly [Name in RunnerName]: Runner } = {
  fiber: TaskRunner.layerFiber
}
