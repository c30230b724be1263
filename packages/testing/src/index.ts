/**
 * For those who build on MCP tasks: specifications and generators of the lifecycle, faulty stores and signals, a whole
 * server in memory on the test's clock, and processes that share a storage.
 *
 * The suites are not here, since they need `@effect/vitest`: import `@effect-mcp-tasks/testing/TaskStoreTest`,
 * `.../TaskSignalTest` or `.../TaskRunnerTest`.
 *
 * @since 0.1.0
 */
export * as Fault from "./Fault.ts"
export * as FaultyClock from "./FaultyClock.ts"
export * as FaultySignal from "./FaultySignal.ts"
export * as FaultyStore from "./FaultyStore.ts"
export * as Fleet from "./Fleet.ts"
export * as FleetTime from "./FleetTime.ts"
export * as FleetTools from "./FleetTools.ts"
export * as StoredTasks from "./StoredTasks.ts"
export * as Suite from "./Suite.ts"
export * as TaskArbitrary from "./TaskArbitrary.ts"
export * as TaskInvariants from "./TaskInvariants.ts"
export * as TaskSignalListener from "./TaskSignalListener.ts"
export * as TaskSpec from "./TaskSpec.ts"
export * as TestTasks from "./TestTasks.ts"
