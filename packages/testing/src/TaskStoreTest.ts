/**
 * What every task store has to do, as a suite for those who write one.
 *
 * The memory, SQLite, Postgres and Redis stores of `@effect-mcp-tasks/engine` all pass it. This module needs
 * `@effect/vitest` and `vitest`.
 *
 * @since 0.1.0
 */
import type * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { register } from "./internal/register.ts"
import * as storeCrashes from "./internal/storeCrashes.ts"
import * as storeExactness from "./internal/storeExactness.ts"
import * as storeInterrupts from "./internal/storeInterrupts.ts"
import * as storeMany from "./internal/storeMany.ts"
import * as storeNames from "./internal/storeNames.ts"
import * as storeProcesses from "./internal/storeProcesses.ts"
import * as storeRaces from "./internal/storeRaces.ts"
import * as storeReads from "./internal/storeReads.ts"
import * as storeWrites from "./internal/storeWrites.ts"
import type * as Suite from "./Suite.ts"

/**
 * Where stores may differ.
 *
 * **Details**
 *
 * - `durability`: tasks outlive the process that wrote them.
 * - `crashes`: a place can be opened though the process before has not closed it, as after a kill. A store that locks
 *   its place until it is closed lacks this, and has to be killed by a test of its own.
 * - `processes`: several processes work at one place at a time.
 * - `exactLimit`: creates that come at the same moment never overshoot `maxLive`.
 * - `largeRecords`: one task may hold several MiB, which the engine's default limits allow.
 *
 * The first three can only be tried at a place that is opened more than once: an effect that gives a layer.
 *
 * @category models
 * @since 0.1.0
 */
export type Capability = "durability" | "crashes" | "processes" | "exactLimit" | "largeRecords"

/**
 * Where the store is: a layer that gives an empty store each time it is built, or an effect that makes an empty place
 * and gives the layer that opens it.
 *
 * @category models
 * @since 0.1.0
 */
export type Place = Suite.Place<TaskStore.TaskStore>

/**
 * What the suite has to know of a store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the store cannot do, and why not: its cases are shown as skipped, with the reason. */
  readonly lacks?: Suite.Lacks<Capability> | undefined
  /**
   * By which clock the store goes while it is tried; `"test"`, on which time stands still. `"real"` is for a store that
   * has to wait: for a retry, or for a server.
   */
  readonly time?: "test" | "real" | undefined
}

/**
 * Everything that a store has to do, one by one.
 *
 * @category suites
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Suite.Case<Place, Capability>> = [
  ...storeWrites.cases,
  ...storeReads.cases,
  ...storeMany.cases,
  ...storeRaces.cases,
  ...storeExactness.cases,
  ...storeNames.cases,
  ...storeProcesses.cases,
  ...storeCrashes.cases,
  ...storeInterrupts.cases
]

/**
 * Declares the tests of one store, each from an empty place.
 *
 * **Details**
 *
 * A random task that does not come back is shown smallest first, with the token that replays it; the seed is set by
 * `Arbitrary.configureGlobal({ check: { seed } })`.
 *
 * **Example** (A store on a file for one process)
 *
 * ```ts
 * const place = Effect.map(temporaryFile, (file) => FileTaskStore.layer(file))
 *
 * TaskStoreTest.suite("FileTaskStore", place, {
 *   lacks: { processes: "the file is read once, when the store is opened" }
 * })
 * ```
 *
 * @category suites
 * @since 0.1.0
 */
export const suite = (name: string, place: Place, { lacks = {}, time = "test" }: Options = {}): void =>
  register(name, cases, { place, lacks, time })
