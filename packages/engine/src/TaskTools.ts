/**
 * The tools that a server offers, ready to be listed, checked and run.
 *
 * @since 0.1.0
 */
import type { TaskError, TaskPolicy } from "@effect-mcp-tasks/core/Task"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as registerTool from "./internal/registerTool.ts"
import { TaskLimits } from "./TaskLimits.ts"

/**
 * How a call ended: with the JSON text of a `CallToolResult`, or with a JSON-RPC error.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolOutcome =
  | { readonly _tag: "Result"; readonly result: string; readonly isError: boolean }
  | { readonly _tag: "Error"; readonly error: TaskError }

/**
 * What a tool's annotation says about running as a task, with every default filled in.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskSettings {
  readonly policy: TaskPolicy
  readonly ttlMs: number
  readonly pollIntervalMs: number
  readonly undeclared: "inline" | "reject"
  readonly inlineWithin: Option.Option<Duration.Duration>
}

/**
 * A call whose arguments have been decoded.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCall {
  /** Whether the tool's policy wants this call to be a task. */
  readonly mode: "task" | "direct"
  /**
   * Asks what is to be asked before there is a task, where anything is: the outcome that the call ends with, or none
   * when it may go on. `CurrentTask` is read from the context.
   */
  readonly ask: Option.Option<Effect.Effect<Option.Option<ToolOutcome>>>
  /**
   * Runs the handler to its outcome. Fails never: what goes wrong is an outcome, and an interruption stays one.
   * `CurrentTask` is read from the context.
   */
  readonly run: Effect.Effect<ToolOutcome>
}

/**
 * A tool with its handler.
 *
 * @category models
 * @since 0.1.0
 */
export interface RegisteredTool {
  readonly name: string
  /** The MCP `Tool` object, as `tools/list` shows it. */
  readonly definition: Schema.JsonObject
  /** Whether the handler may run again from the top, so that it may ask within a plain call. */
  readonly isRepeatable: boolean
  /** Absent for a tool that is always answered directly. */
  readonly settings: Option.Option<TaskSettings>
  /** Decodes arguments, or says in words for the caller what is wrong with them. No task exists yet. */
  readonly call: (args: Schema.JsonObject) => Effect.Effect<Result.Result<ToolCall, string>>
}

/**
 * The tools that a server offers, by name and in the order of `tools/list`.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskTools extends Context.Service<TaskTools, {
  readonly all: ReadonlyArray<RegisteredTool>
  readonly get: (name: string) => Option.Option<RegisteredTool>
}>()("@effect-mcp-tasks/engine/TaskTools") {}

/**
 * Offers the tools of a toolkit. Its handlers come from the toolkit's own layer.
 *
 * **Gotchas**
 *
 * Dies at start-up when a tool is not one that MCP can name or describe: a name outside `[A-Za-z0-9_.-]{1,128}`,
 * parameters that are not an object, an `x-mcp-header` annotation that breaks its rules, a JSON Schema (of
 * `Tool.dynamic` or `TaskTool.OutputSchema`) that cannot be applied.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>
): Layer.Layer<TaskTools, never, Tool.HandlersFor<Tools> | Tool.HandlerServices<Tools[keyof Tools]>> =>
  Layer.effect(
    TaskTools,
    Effect.gen(function*() {
      const services = yield* Effect.context<Tool.HandlersFor<Tools> | Tool.HandlerServices<Tools[keyof Tools]>>()
      const limits = yield* TaskLimits
      const all: Array<RegisteredTool> = []
      for (const tool of Object.values(toolkit.tools)) all.push(yield* registerTool.register(tool, services, limits))
      const byName = new Map(all.map((tool) => [tool.name, tool]))
      return TaskTools.of({ all, get: (name) => Option.fromUndefinedOr(byName.get(name)) })
    })
  )
