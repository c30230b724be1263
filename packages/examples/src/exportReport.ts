/**
 * `export_report`: a tool that works, asks before it overwrites, and works again.
 *
 * It survives the death of its process at any moment. What is done is not done again, because the query and the file
 * are steps; what was asked is not asked again, because the question has a key.
 *
 * @since 0.1.0
 */
import { CurrentTask } from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import { Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Reports } from "./Reports.ts"

const file = "report.csv"

/**
 * The tool as clients see it. Whoever did not declare the tasks extension is refused with -32021: an export takes
 * longer than a call should.
 *
 * @since 0.1.0
 */
export const ExportReport = Tool.make("export_report", {
  description: "Exports rows to report.csv. Asks before it overwrites the file.",
  parameters: Schema.Struct({ rows: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })) }),
  success: TaskTool.ToolResult,
  dependencies: [Reports]
}).annotate(TaskTool.Policy, {
  ttl: "1 hour",
  pollInterval: "500 millis",
  undeclared: "reject",
  recovery: "resume"
})

const Confirmation = Schema.Struct({ overwrite: Schema.Boolean })

/**
 * Runs `export_report`.
 *
 * @since 0.1.0
 */
export const exportReport = Effect.fn("export_report")(function*({ rows }: typeof ExportReport.parametersSchema.Type) {
  const reports = yield* Reports
  const task = yield* CurrentTask

  yield* task.report(`Querying ${rows} rows`)
  const found = yield* task.step("query", Schema.Int, reports.query(rows))

  const answer = yield* task.elicit("confirm-overwrite", {
    message: `${file} exists already. Overwrite it with ${found} rows?`,
    schema: Confirmation
  })
  if (answer.action !== "accept" || !answer.content.overwrite) {
    return TaskTool.error(`Nothing was written: ${file} was not to be overwritten`)
  }

  yield* task.report(`Writing ${found} rows to ${file}`)
  const written = yield* task.step("write", Schema.Int, reports.write(file, found))
  return TaskTool.text(`Wrote ${written} rows to ${file}`)
}, Effect.catchTag("InputUnavailable", () =>
  Effect.succeed(TaskTool.error(`Nothing was written: nobody can be asked whether to overwrite ${file}`))))
