/**
 * The code of the guide docs/guides/calling-long-tools.md, in its order.
 *
 * @since 0.1.0
 */
import { InputHandler, TaskClient } from "@effect-mcp-tasks/client"
import { Console, Effect, Layer, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

/** A client of one server. Nothing is sent before it is used. */
export const client = (url: string) =>
  TaskClient.layerHttp({ name: "my-app", version: "1.0.0", url }).pipe(Layer.provide(FetchHttpClient.layer))

/** Calls a tool as if it were a short one. */
export const exportReport = Effect.gen(function*() {
  const { call } = yield* TaskClient.TaskClient
  return yield* call("export_report", { rows: 42 }, {
    success: Schema.String,
    onInput: InputHandler.fromRecord({ overwrite: true })
  })
})

/** Answers with code, and knows which question it is. */
export const careful = InputHandler.make({
  elicit: (params, { key, tool }) =>
    Console.log(`${tool} asks ${key}: ${params["message"]}`).pipe(
      Effect.as({ action: "accept", content: { overwrite: false } })
    )
})

/** Tells the tool's own failure from everything else. */
export const exportCarefully = Effect.gen(function*() {
  const { call } = yield* TaskClient.TaskClient
  return yield* call("export_report", { rows: 42 }, { success: Schema.String, onInput: careful })
}).pipe(
  Effect.catchTag("ToolError", (error) => Effect.succeed(`The tool says: ${error.message}`)),
  Effect.tapErrorTag("TransportError", ({ taskId }) => Console.error(`Out of reach; resume ${taskId ?? "nothing"}`))
)

/** Gives up after a while, which cancels the task. */
export const impatient = exportReport.pipe(Effect.timeout("1 minute"))

/** Follows a task as it changes, and takes its result. */
export const followed = Effect.scoped(Effect.gen(function*() {
  const { start } = yield* TaskClient.TaskClient
  const task = yield* start("export_report", { rows: 42 }, {
    success: Schema.String,
    onInput: InputHandler.fromRecord({ overwrite: true })
  })
  yield* Stream.runForEach(task.changes, ({ status, statusMessage = "" }) => Console.log(`${status} ${statusMessage}`))
  return yield* task.await
}))
