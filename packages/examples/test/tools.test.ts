import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Ref, type Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Reports from "../src/Reports.ts"
import * as Tools from "../src/tools.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"
import * as TestServer from "./TestServer.ts"

const { create, error, http, result, settled } = TestServer

const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } }

const accept = (content: Schema.JsonObject) => ({ action: "accept", content })

/** The pretended reports, and a list of what was asked of them. */
const countingReports = Effect.gen(function*() {
  const done = yield* Ref.make<ReadonlyArray<string>>([])
  const note = (text: string) => Ref.update(done, (earlier) => [...earlier, text])
  const layer = Layer.effect(
    Reports.Reports,
    Effect.map(Reports.Reports, (reports) => ({
      query: (rows: number) => Effect.andThen(note(`query ${rows}`), reports.query(rows)),
      write: (file: string, rows: number) => Effect.andThen(note(`write ${file} ${rows}`), reports.write(file, rows)),
      summarize: (reportId: string, options: { readonly simulateFail: boolean }) =>
        Effect.andThen(note(`summarize ${reportId}`), reports.summarize(reportId, options))
    }))
  ).pipe(Layer.provide(Reports.layer))
  return { layer: Tools.layer.pipe(Layer.provide(layer)), done: Ref.get(done) }
})

const text = (task: TestServer.Seen): string => task.result.content[0]?.text ?? ""

const suite = <E>(name: string, store: Layer.Layer<TaskStore.TaskStore, E>) => {
  const started = Effect.gen(function*() {
    const { done, layer } = yield* countingReports
    return { ...(yield* TestServer.start(layer, store)), done }
  })

  describe(`export_report, ${name}`, () => {
    it.effect("queries, asks for a boolean under confirm-overwrite, and writes when it is true", () =>
      Effect.gen(function*() {
        const server = yield* started
        const client = server.client()
        const taskId = yield* create(client, "export_report", { rows: 7 })
        const asked = yield* settled(client, taskId)
        assert.strictEqual(asked.status, "input_required")
        assert.deepStrictEqual(Object.keys(asked.inputRequests), ["confirm-overwrite"])
        const schema = asked.inputRequests["confirm-overwrite"]?.params.requestedSchema
        assert.strictEqual(schema?.properties["overwrite"]?.["type"], "boolean")
        yield* result(client.updateTask(taskId, { "confirm-overwrite": accept({ overwrite: true }) }))
        const ended = yield* settled(client, taskId)
        assert.strictEqual(ended.status, "completed")
        assert.strictEqual(text(ended), "Wrote 7 rows to report.csv")
        assert.notStrictEqual(ended.result.isError, true)
        assert.deepStrictEqual(yield* server.done, ["query 7", "write report.csv 7"])
      }).pipe(http))

    for (const answer of [accept({ overwrite: false }), { action: "decline" }, { action: "cancel" }]) {
      it.effect(`completes with isError and writes nothing after ${JSON.stringify(answer)}`, () =>
        Effect.gen(function*() {
          const server = yield* started
          const client = server.client()
          const taskId = yield* create(client, "export_report", { rows: 7 })
          yield* settled(client, taskId)
          yield* result(client.updateTask(taskId, { "confirm-overwrite": answer }))
          const ended = yield* settled(client, taskId)
          assert.strictEqual(ended.status, "completed")
          assert.strictEqual(ended.result.isError, true)
          assert.deepStrictEqual(yield* server.done, ["query 7"])
        }).pipe(http))
    }

    it.effect("refuses clients without the extension with -32021 and does nothing", () =>
      Effect.gen(function*() {
        const server = yield* started
        const refused = yield* error(server.client({ elicitation: {} }).callTool("export_report", { rows: 7 }))
        assert.strictEqual(refused.code, -32021)
        assert.deepStrictEqual(refused.data, { requiredCapabilities: tasks })
        assert.deepStrictEqual(yield* server.done, [])
      }).pipe(http))

    it.effect("completes with isError for clients that take tasks but cannot be asked", () =>
      Effect.gen(function*() {
        const server = yield* started
        const client = server.client(tasks)
        const ended = yield* settled(client, yield* create(client, "export_report", { rows: 7 }))
        assert.strictEqual(ended.result.isError, true)
        assert.deepStrictEqual(yield* server.done, ["query 7"])
      }).pipe(http))

    it.effect("makes no task of arguments that do not fit", () =>
      Effect.gen(function*() {
        const server = yield* started
        for (const args of [{}, { rows: 0 }, { rows: 1.5 }, { rows: "7" }]) {
          const refused = yield* result(server.client().callTool("export_report", args))
          assert.strictEqual(refused.isError, true, JSON.stringify(args))
          assert.isUndefined(refused.taskId)
        }
        assert.deepStrictEqual(yield* server.done, [])
      }).pipe(http))
  })

  describe(`summarize_report, ${name}`, () => {
    it.effect("asks for one of three levels after one and a half seconds", () =>
      Effect.gen(function*() {
        const server = yield* started
        const client = server.client()
        const taskId = yield* create(client, "summarize_report", { reportId: "q3" })
        while ((yield* server.done).length === 0) yield* result(client.getTask(taskId))
        yield* TestClock.adjust("1499 millis")
        assert.strictEqual((yield* result(client.getTask(taskId))).status, "working")
        yield* TestClock.adjust("1 millis")
        const asked = yield* settled(client, taskId)
        const schema = asked.inputRequests["redaction_level"]?.params.requestedSchema
        assert.deepStrictEqual(schema?.properties["redaction_level"]?.["enum"], ["none", "partial", "full"])
      }).pipe(http))

    const answers = [
      ...["none", "partial", "full"].map((level) => [accept({ redaction_level: level }), level] as const),
      [{ action: "decline" }, "full"] as const,
      [{ action: "cancel" }, "full"] as const
    ]
    for (const [answer, level] of answers) {
      it.effect(`names the level ${level} after ${JSON.stringify(answer)}`, () =>
        Effect.gen(function*() {
          const client = (yield* started).client()
          const taskId = yield* create(client, "summarize_report", { reportId: "q3" })
          yield* settled(client, taskId)
          yield* result(client.updateTask(taskId, { redaction_level: answer }))
          const ended = yield* settled(client, taskId)
          assert.strictEqual(ended.status, "completed")
          assert.include(text(ended), `Redaction level: ${level}`)
        }).pipe(http))
    }

    it.effect("keeps its question when the level is none of the three", () =>
      Effect.gen(function*() {
        const client = (yield* started).client()
        const taskId = yield* create(client, "summarize_report", { reportId: "q3" })
        yield* settled(client, taskId)
        const wrong = { redaction_level: accept({ redaction_level: "some" }) }
        assert.strictEqual((yield* error(client.updateTask(taskId, wrong))).code, -32602)
        assert.strictEqual((yield* settled(client, taskId)).status, "input_required")
      }).pipe(http))

    it.effect("fails with -32603 when the summarizer times out, without asking", () =>
      Effect.gen(function*() {
        const client = (yield* started).client()
        const taskId = yield* create(client, "summarize_report", { reportId: "q3", simulateFail: true })
        const ended = yield* settled(client, taskId)
        assert.strictEqual(ended.status, "failed")
        assert.deepStrictEqual(ended.error, { code: -32603, message: "Upstream summarizer timed out" })
      }).pipe(http))

    it.effect("runs within the call for clients without the extension, at the level full", () =>
      Effect.gen(function*() {
        const server = yield* started
        const call = yield* Effect.forkChild(result(server.client({}).callTool("summarize_report", { reportId: "q3" })))
        while ((yield* server.done).length === 0) yield* error(server.client({}).getTask("nobody's"))
        yield* TestClock.adjust("1500 millis")
        const answered = yield* Fiber.join(call)
        assert.strictEqual(answered.resultType, "complete")
        assert.include(answered.content[0]?.text, "Redaction level: full")
      }).pipe(http))

    it.effect("answers -32603 within the call when the summarizer times out", () =>
      Effect.gen(function*() {
        const server = yield* started
        const call = yield* Effect.forkChild(
          error(server.client({}).callTool("summarize_report", { reportId: "q3", simulateFail: true }))
        )
        while ((yield* server.done).length === 0) yield* error(server.client({}).getTask("nobody's"))
        yield* TestClock.adjust("1500 millis")
        assert.deepStrictEqual(yield* Fiber.join(call), { code: -32603, message: "Upstream summarizer timed out" })
      }).pipe(http))
  })
}

suite("memory", TaskStore.layerMemory)

suite("SQLite", TaskStore.layerSql.pipe(Layer.provide(SqliteClient.layer({ filename: ":memory:" }))))

describe("after a restart on SQLite", () => {
  it.effect("a question stays, and what was done is not done again", () =>
    Effect.gen(function*() {
      const filename = `${yield* temporaryDirectory}/tasks.sqlite`
      const store = TaskStore.layerSql.pipe(Layer.provide(SqliteClient.layer({ filename })))
      const { done, layer } = yield* countingReports
      const first = yield* TestServer.start(layer, store)
      const exporting = yield* create(first.client(), "export_report", { rows: 7 })
      const summarizing = yield* create(first.client(), "summarize_report", { reportId: "q3" })
      yield* settled(first.client(), exporting)
      yield* settled(first.client(), summarizing)
      yield* first.stop

      const second = yield* TestServer.start(layer, store)
      const client = second.client()
      assert.strictEqual((yield* settled(client, exporting)).status, "input_required")
      yield* result(client.updateTask(exporting, { "confirm-overwrite": accept({ overwrite: true }) }))
      yield* result(client.updateTask(summarizing, { redaction_level: accept({ redaction_level: "none" }) }))
      assert.strictEqual(text(yield* settled(client, exporting)), "Wrote 7 rows to report.csv")
      assert.include(text(yield* settled(client, summarizing)), "none")
      assert.deepStrictEqual(yield* done, ["query 7", "summarize q3", "write report.csv 7"])
    }).pipe(http))
})
