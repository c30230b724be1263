/**
 * The tools that the example server offers.
 *
 * @since 0.1.0
 */
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import { Layer } from "effect"
import { Toolkit } from "effect/ai"
import { ExportReport, exportReport } from "./exportReport.ts"
import type { Reports } from "./Reports.ts"
import { SummarizeReport, summarizeReport } from "./summarizeReport.ts"

/**
 * Both tools.
 *
 * @since 0.1.0
 */
export const Tools = Toolkit.make(ExportReport, SummarizeReport)

/**
 * The handlers of both tools, over whatever outside world is provided.
 *
 * @since 0.1.0
 */
export const handlers = Tools.toLayer({ export_report: exportReport, summarize_report: summarizeReport })

/**
 * Both tools with their handlers, over whatever outside world is provided.
 *
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskTools.TaskTools, never, Reports> = TaskTools.layer(Tools).pipe(
  Layer.provide(handlers)
)
