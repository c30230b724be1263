/**
 * Effect services that store, run, answer and forget MCP tasks.
 *
 * @since 0.1.0
 */
export * as CallProgress from "./CallProgress.ts"
export * as CallRound from "./CallRound.ts"
export * as CurrentTask from "./CurrentTask.ts"
export * as DeclaredCapabilities from "./DeclaredCapabilities.ts"
export * as Embedded from "./Embedded.ts"
export * as Health from "./Health.ts"
export * as Replicated from "./Replicated.ts"
export * as Storage from "./Storage.ts"
export * as TaskAudit from "./TaskAudit.ts"
export * as TaskClock from "./TaskClock.ts"
export * as TaskEngine from "./TaskEngine.ts"
export * as TaskLimits from "./TaskLimits.ts"
export * as TaskMetrics from "./TaskMetrics.ts"
export * as TaskOwner from "./TaskOwner.ts"
export * as TaskQueue from "./TaskQueue.ts"
export * as TaskRecord from "./TaskRecord.ts"
export * as TaskRunner from "./TaskRunner.ts"
export * as TaskSignal from "./TaskSignal.ts"
export * as TaskStore from "./TaskStore.ts"
export * as TaskSweeper from "./TaskSweeper.ts"
export * as TaskTool from "./TaskTool.ts"
export * as TaskTools from "./TaskTools.ts"
export * as TaskWorkers from "./TaskWorkers.ts"
