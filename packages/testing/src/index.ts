/**
 * For those who build on MCP tasks: specifications and generators of the lifecycle, faulty stores and signals, and a
 * whole server in memory on the test's clock.
 *
 * @since 0.1.0
 */
export * as TaskArbitrary from "./TaskArbitrary.ts"
export * as TaskInvariants from "./TaskInvariants.ts"
export * as TaskSpec from "./TaskSpec.ts"
