/**
 * For those who build on MCP tasks: specifications and generators of the lifecycle, faulty stores and signals, and a
 * whole server in memory on the test's clock.
 *
 * @since 0.1.0
 */
export * as Fault from "./Fault.ts"
export * as FaultyClock from "./FaultyClock.ts"
export * as FaultySignal from "./FaultySignal.ts"
export * as FaultyStore from "./FaultyStore.ts"
export * as TaskArbitrary from "./TaskArbitrary.ts"
export * as TaskInvariants from "./TaskInvariants.ts"
export * as TaskSpec from "./TaskSpec.ts"
export * as TestTasks from "./TestTasks.ts"
