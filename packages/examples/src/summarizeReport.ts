/**
 * `summarize_report`: a tool that works for a while, asks how much to black out, and may break.
 *
 * For clients without the tasks extension it runs, and asks, within the call. Where nobody can be asked, and whenever
 * nobody chooses, it blacks out as much as it can: level `full`.
 *
 * @since 0.1.0
 */
import { CurrentTask } from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import { Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Reports } from "./Reports.ts"

/**
 * The tool as clients see it. It only reads, so it is run again when its process dies, without being told so.
 *
 * @since 0.1.0
 */
export const SummarizeReport = Tool.make("summarize_report", {
  description: "Summarizes a report. Asks which level of redaction to apply.",
  parameters: Schema.Struct({
    reportId: Schema.NonEmptyString,
    simulateFail: Schema.optionalKey(Schema.Boolean)
  }),
  success: Schema.String,
  failure: TaskTool.ProtocolError,
  dependencies: [Reports]
})
  .annotate(TaskTool.Policy, { ttl: "1 hour", pollInterval: "500 millis", undeclared: "inline" })
  .annotate(Tool.Readonly, true)

const RedactionLevel = Schema.Literals(["none", "partial", "full"])

const strictest = "full, since nobody chose one"

/**
 * Runs `summarize_report`.
 *
 * @since 0.1.0
 */
export const summarizeReport = Effect.fn("summarize_report")(
  function*({ reportId, simulateFail = false }: typeof SummarizeReport.parametersSchema.Type) {
    const reports = yield* Reports
    const task = yield* CurrentTask

    yield* task.report(`Summarizing report ${reportId}`)
    const summary = yield* task.step("summarize", Schema.String, reports.summarize(reportId, { simulateFail }))

    const level = yield* task.elicit("redaction_level", {
      message: `Which redaction level is to be applied to the summary of report ${reportId}?`,
      schema: Schema.Struct({ redaction_level: RedactionLevel })
    }).pipe(
      Effect.map((answer) => answer.action === "accept" ? answer.content.redaction_level : strictest),
      Effect.catchTag("InputUnavailable", () => Effect.succeed(strictest))
    )
    return `${summary} Redaction level: ${level}.`
  },
  Effect.catchTag("SummarizerTimeout", () =>
    Effect.fail(new TaskTool.ProtocolError({ code: -32603, message: "Upstream summarizer timed out" })))
)
