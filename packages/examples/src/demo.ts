/**
 * `npm run demo`: a client and a server process, over HTTP, with the tasks in a SQLite file.
 *
 * Shows a task in each of the five statuses, then kills the server while a task waits for an answer. Every expectation
 * is checked: exit code 0 means that all of this happened, 1 that something did not. Either way, no process and no
 * file is left behind.
 *
 * @since 0.1.0
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, FileSystem, Layer, Path } from "effect"
import { FetchHttpClient } from "effect/http"
import { DemoClient } from "./DemoClient.ts"
import * as ServerProcess from "./ServerProcess.ts"
import { answer, cancel, chapter, check, create, poll, pollUntil, tell, textOf } from "./Story.ts"

const overwrite = (content: boolean) => ({ action: "accept", content: { overwrite: content } })

const exporting = Effect.fnUntraced(function*(client: DemoClient) {
  yield* chapter("1. A tool that asks: working, input_required, completed")
  const asked = yield* create(client, "export_report", { rows: 42 })
  yield* pollUntil(client, asked, "input_required")
  yield* answer(client, asked, "confirm-overwrite", overwrite(true))
  const { result } = yield* pollUntil(client, asked, "completed")
  yield* check(textOf(result) === "Wrote 42 rows to report.csv" && result["isError"] !== true, "42 rows", result)

  yield* chapter("2. The user says no: completed, with a result that is an error")
  const declined = yield* create(client, "export_report", { rows: 43 })
  yield* pollUntil(client, declined, "input_required")
  yield* answer(client, declined, "confirm-overwrite", { action: "decline" })
  const refusal = yield* pollUntil(client, declined, "completed")
  yield* check(refusal.result["isError"] === true, "isError", refusal.result)
})

const summarizing = Effect.fnUntraced(function*(client: DemoClient) {
  yield* chapter("3. A tool that asks for one of three levels: completed")
  const asked = yield* create(client, "summarize_report", { reportId: "q3" })
  yield* pollUntil(client, asked, "input_required")
  yield* answer(client, asked, "redaction_level", { action: "accept", content: { redaction_level: "partial" } })
  const { result } = yield* pollUntil(client, asked, "completed")
  yield* check(textOf(result).includes("partial"), "the level partial", result)

  yield* chapter("4. What it relies on breaks: failed")
  const broken = yield* create(client, "summarize_report", { reportId: "q4", simulateFail: true })
  const { error } = yield* pollUntil(client, broken, "failed")
  yield* check(error.code === -32603 && error.message === "Upstream summarizer timed out", "-32603", error)
})

const undeclared = Effect.fnUntraced(function*(client: DemoClient) {
  yield* chapter("5. A client without the tasks extension: one tool refuses, the other answers within the call")
  const refused = yield* client.callTool("export_report", { rows: 1 })
  yield* check("error" in refused && refused.error.code === -32021, "-32021", refused)
  yield* tell("tools/call", `export_report: ${"error" in refused ? refused.error.code : ""}`)
  const inline = yield* client.callTool("summarize_report", { reportId: "q1" })
  const text = "result" in inline ? textOf(inline.result) : ""
  yield* check(text.includes("full"), "the level full", inline)
  yield* tell("tools/call", `summarize_report: ${text}`)
})

const cancelling = Effect.fnUntraced(function*(client: DemoClient) {
  yield* chapter("6. The client no longer wants it: cancelled")
  const taskId = yield* create(client, "export_report", { rows: 44 })
  yield* poll(client, taskId)
  yield* cancel(client, taskId)
  yield* pollUntil(client, taskId, "cancelled")
  return taskId
})

const count = (lines: ReadonlyArray<string>, text: string) => lines.filter((line) => line.includes(text)).length

const crash = Effect.fnUntraced(function*(server: ServerProcess.Server, file: string, cancelled: string) {
  yield* chapter("7. The server is killed while a task waits for its answer")
  const before = new DemoClient(server.url)
  const waiting = yield* create(before, "export_report", { rows: 45 })
  yield* pollUntil(before, waiting, "input_required")
  const first = yield* server.lines
  yield* server.kill
  yield* tell("kill -9", "the server process is gone")

  const restarted = yield* ServerProcess.start(file)
  yield* tell("start", `a new process, the same file: ${restarted.url}`)
  const after = new DemoClient(restarted.url)
  yield* pollUntil(after, waiting, "input_required")
  yield* pollUntil(after, cancelled, "cancelled")
  yield* answer(after, waiting, "confirm-overwrite", overwrite(true))
  const { result } = yield* pollUntil(after, waiting, "completed")
  yield* check(textOf(result) === "Wrote 45 rows to report.csv", "45 rows", result)

  const second = yield* restarted.lines
  const queries = [count(first, "Querying 45 rows"), count(second, "Querying 45 rows")]
  const writes = [count(first, "Writing 45 rows"), count(second, "Writing 45 rows")]
  yield* check(queries.join() === "1,0" && writes.join() === "0,1", "one query, then one write", { queries, writes })
  yield* tell("server log", "queried once, before the kill; written once, after it")
})

const demo = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "effect-mcp-tasks-demo-" }), "tasks.sqlite")

  const server = yield* ServerProcess.start(file)
  yield* Console.log(`A server process at ${server.url}, its tasks in ${file}`)
  const client = new DemoClient(server.url)
  yield* exporting(client)
  yield* summarizing(client)
  yield* undeclared(new DemoClient(server.url, {}))
  const cancelled = yield* cancelling(client)
  yield* crash(server, file, cancelled)
}).pipe(Effect.scoped, Effect.timeout("60 seconds"))

demo.pipe(
  Effect.andThen(Console.log("\ndemo: all five statuses seen, the restart survived")),
  Effect.tapCause((cause) => Console.error(`\ndemo: FAILED. ${Cause.prettyErrors(cause).map(String).join("; ")}`)),
  Effect.provide(Layer.merge(NodeServices.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
