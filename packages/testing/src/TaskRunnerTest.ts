/**
 * What every runner has to do, as a suite for those who write one, or a queue, a list of workers or a storage for the
 * runners that there are.
 *
 * The embedded runner and the queue runner of `@effect-mcp-tasks/engine` pass it, the latter on memory, SQLite, Redis
 * and Postgres. This module needs `@effect/vitest` and `vitest`.
 *
 * @since 0.2.0
 */
import type * as Layer from "effect/Layer"
import type { Fleet } from "./Fleet.ts"
import type { Time } from "./FleetTime.ts"
import { register } from "./internal/register.ts"
import * as runnerCallers from "./internal/runnerCallers.ts"
import * as runnerCalls from "./internal/runnerCalls.ts"
import * as runnerCrashes from "./internal/runnerCrashes.ts"
import * as runnerFaults from "./internal/runnerFaults.ts"
import * as runnerLimits from "./internal/runnerLimits.ts"
import * as runnerLostReplies from "./internal/runnerLostReplies.ts"
import * as runnerPatience from "./internal/runnerPatience.ts"
import * as runnerRefusals from "./internal/runnerRefusals.ts"
import * as runnerReplicas from "./internal/runnerReplicas.ts"
import * as runnerRequests from "./internal/runnerRequests.ts"
import * as runnerRestarts from "./internal/runnerRestarts.ts"
import * as runnerRuns from "./internal/runnerRuns.ts"
import * as runnerShutdown from "./internal/runnerShutdown.ts"
import type * as Suite from "./Suite.ts"

/**
 * Where runners may differ.
 *
 * **Details**
 *
 * - `replicas`: several processes share the work at a time, and take up what a dead one had.
 * - `virtualTime`: all that has a clock, the storage too, goes by the test's.
 *
 * @category models
 * @since 0.2.0
 */
export type Capability = "replicas" | "virtualTime"

/**
 * A fleet over a storage that is empty each time the layer is built, and the clock that it goes by.
 *
 * @category models
 * @since 0.2.0
 */
export interface Place {
  readonly fleet: Layer.Layer<Fleet, unknown>
  readonly time: Time
}

/**
 * What the suite has to know of a runner.
 *
 * @category models
 * @since 0.2.0
 */
export interface Options {
  /** What the runner cannot do, and why not: its cases are shown as skipped, with the reason. */
  readonly lacks?: Suite.Lacks<Capability> | undefined
}

/**
 * Everything that a runner has to do, one by one.
 *
 * @category suites
 * @since 0.2.0
 */
export const cases: ReadonlyArray<Suite.Case<Place, Capability>> = [
  ...runnerRuns.cases,
  ...runnerCalls.cases,
  ...runnerRequests.cases,
  ...runnerLimits.cases,
  ...runnerPatience.cases,
  ...runnerRefusals.cases,
  ...runnerCallers.cases,
  ...runnerRestarts.cases,
  ...runnerCrashes.cases,
  ...runnerReplicas.cases,
  ...runnerShutdown.cases,
  ...runnerFaults.cases,
  ...runnerLostReplies.cases
]

/**
 * Declares the tests of one runner. One that lacks `virtualTime` is tried in real time.
 *
 * **Example** (A runner for one process)
 *
 * ```ts
 * const fleet = Layer.provide(Fleet.single(engineWithMyRunner), TaskStore.layerMemory)
 *
 * TaskRunnerTest.suite("MyRunner", fleet, { lacks: { replicas: "it keeps its handlers in one process" } })
 * ```
 *
 * @category suites
 * @since 0.2.0
 */
export const suite = (name: string, fleet: Layer.Layer<Fleet, unknown>, { lacks = {} }: Options = {}): void => {
  const time = lacks.virtualTime === undefined ? "test" : "real"
  register(name, cases, { place: { fleet, time }, lacks, time })
}
