/**
 * Effect services that store, run, answer and forget MCP tasks.
 *
 * @since 0.1.0
 */
export * as TaskLimits from "./TaskLimits.ts"
export * as TaskOwner from "./TaskOwner.ts"
export * as TaskSignal from "./TaskSignal.ts"
export * as TaskStore from "./TaskStore.ts"
