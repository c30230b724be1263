/**
 * What every signal has to do, as a suite for those who write one.
 *
 * The memory, Redis, Postgres and polling signals of `@effect-mcp-tasks/engine` all pass it. This module needs
 * `@effect/vitest` and `vitest`.
 *
 * @since 0.1.0
 */
import type * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import { register } from "./internal/register.ts"
import * as signalCases from "./internal/signalCases.ts"
import type * as Suite from "./Suite.ts"

/**
 * Where signals may differ: with `processes`, they go from process to process.
 *
 * @category models
 * @since 0.1.0
 */
export type Capability = "processes"

/**
 * Where the signals go: a layer that is built once for each case, or an effect that makes a new place, such as a
 * channel, and gives the layer by which each process takes part in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Place = Suite.Place<TaskSignal.TaskSignal>

/**
 * What the suite has to know of a signal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the signal cannot do, and why not: its cases are shown as skipped, with the reason. */
  readonly lacks?: Suite.Lacks<Capability> | undefined
}

/**
 * Everything that a signal has to do, one by one.
 *
 * **Gotchas**
 *
 * A case says its signals again every 20 milliseconds until they arrive, a thousand times at the most. Run it by real
 * time, or let a test's clock go on meanwhile, by steps of any length.
 *
 * @category suites
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Suite.Case<Place, Capability>> = signalCases.cases

/**
 * Declares the tests of one signal, each at a new place. They go by real time, as servers do.
 *
 * **Example** (Signals over a channel of Redis)
 *
 * ```ts
 * const place = Effect.sync(() =>
 *   Layer.provide(TaskSignal.layerRedisWith({ channel: `test_${randomUUID()}` }), redis))
 *
 * TaskSignalTest.suite("TaskSignal.layerRedis", place)
 * ```
 *
 * @category suites
 * @since 0.1.0
 */
export const suite = (name: string, place: Place, { lacks = {} }: Options = {}): void =>
  register(name, cases, { place, lacks, time: "real" })
