/** Our client on our server: over real HTTP, and with no transport between them, on one clock. */
import { InputHandler, TaskClient, TaskClientError, TaskHandleStore, Transport } from "@effect-mcp-tasks/client"
import { Embedded, TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { Dispatcher } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Ref, Schema, type Scope, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import * as Calling from "../src/calling.ts"
import * as Reports from "../src/Reports.ts"
import * as Tools from "../src/tools.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"
import * as TestServer from "./TestServer.ts"

const identity = { name: "test", version: "0" }
const text = { success: Schema.String }

/** Lets time pass for client and server until a fiber has ended. */
const run = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  for (let turn = 0; turn < 2000 && fiber.pollUnsafe() === undefined; turn++) {
    // The sockets between the two know of no test clock.
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
    yield* TestClock.adjust("100 millis")
  }
  return yield* Fiber.join(fiber)
})

const accepting = (content: Schema.JsonObject) => InputHandler.fromRecord(content)

const tools = Tools.layer.pipe(Layer.provide(Reports.layer))

const overHttp = Effect.gen(function*() {
  const { url } = yield* TestServer.start(tools, TaskStore.layerMemory)
  return TaskClient.layerHttp({ ...identity, url }).pipe(Layer.provide(FetchHttpClient.layer))
})

/** The dispatcher as it is: only the headers that a client would send are checked, as over HTTP. */
const inMemory = Effect.succeed(
  TaskClient.layer(identity).pipe(
    Layer.provide(Layer.unwrap(Effect.gen(function*() {
      const { handle } = yield* Dispatcher.Dispatcher
      const owner = yield* TaskOwner.CurrentOwner
      return Transport.layerMemory((message) =>
        Effect.provideService(Effect.flatMap(handle(message), Dispatcher.finalReply), TaskOwner.CurrentOwner, owner))
    }))),
    Layer.provide(Dispatcher.layer({ name: "memory", version: "0" })),
    Layer.provide(Embedded.layer),
    Layer.provide(tools),
    Layer.provide(TaskStore.layerMemory),
    Layer.provide(TaskOwner.layerAnonymous)
  )
)

const suite = (
  name: string,
  layer: Effect.Effect<Layer.Layer<TaskClient.TaskClient, unknown>, unknown, Scope.Scope>
) => {
  type Use = (client: TaskClient.TaskClient["Service"]) => Effect.Effect<void, unknown, Scope.Scope>
  const test = (title: string, use: Use) =>
    it.effect(title, () =>
      Effect.gen(function*() {
        const context = yield* Layer.build(Layer.fresh(yield* layer))
        yield* use(yield* Effect.provideContext(TaskClient.TaskClient, context))
      }))

  describe(`our client on our server, ${name}`, () => {
    test("calls a tool that works, asks and works again", Effect.fnUntraced(function*(client) {
      const said = client.call("export_report", { rows: 7 }, { ...text, onInput: accepting({ overwrite: true }) })
      assert.strictEqual(yield* run(said), "Wrote 7 rows to report.csv")
    }))

    test("shows what the task says of itself", Effect.fnUntraced(function*(client) {
      const onInput = accepting({ overwrite: true })
      const handle = yield* run(client.start("export_report", { rows: 7 }, { ...text, onInput }))
      const views = yield* run(Stream.runCollect(handle.changes))
      const seen = views.map(({ status, statusMessage = "" }) => `${status}: ${statusMessage}`)
      assert.include(seen, "input_required: Querying 7 rows")
      assert.strictEqual(seen.at(-1)?.split(":")[0], "completed")
    }))

    test("tells a tool's error from a task's", Effect.fnUntraced(function*(client) {
      const declined = client.call("export_report", { rows: 7 }, { onInput: InputHandler.decline })
      const tool = yield* run(Effect.flip(declined))
      assert.instanceOf(tool, TaskClientError.ToolError)
      assert.strictEqual(tool.message, "Nothing was written: report.csv was not to be overwritten")
      const broken = client.call("summarize_report", { reportId: "q3", simulateFail: true }, {
        onInput: InputHandler.decline
      })
      const failed = yield* run(Effect.flip(broken))
      assert.instanceOf(failed, TaskClientError.TaskFailed)
      assert.deepStrictEqual(failed.error, { code: -32603, message: "Upstream summarizer timed out" })
    }))

    test("tells the server that nobody can be asked", Effect.fnUntraced(function*(client) {
      const said = yield* run(client.call("summarize_report", { reportId: "q3" }, text))
      assert.match(said, /Redaction level: full, since nobody chose one/)
    }))

    test("is told of arguments that do not fit, before there is a task", Effect.fnUntraced(function*(client) {
      const failed = yield* run(Effect.flip(client.call("export_report", { rows: "many" })))
      assert.instanceOf(failed, TaskClientError.ToolError)
      assert.isUndefined(failed.taskId)
      const unknown = yield* run(Effect.flip(client.call("no_such_tool")))
      assert.instanceOf(unknown, TaskClientError.ProtocolError)
      assert.strictEqual(unknown.error.code, -32602)
    }))

    test("is told of an answer that does not fit, while the task goes on waiting", Effect.fnUntraced(
      function*(client) {
        const onInput = InputHandler.make({
          elicit: () => Effect.succeed({ action: "accept", content: { overwrite: "maybe" } })
        })
        const refused = yield* run(Effect.flip(client.call("export_report", { rows: 7 }, { onInput })))
        assert.instanceOf(refused, TaskClientError.ProtocolError)
        assert.strictEqual(refused.error.code, -32602)
        assert.strictEqual((yield* run(client.get(refused.taskId ?? ""))).status, "input_required")
      }
    ))

    test("cancels what its caller interrupts", Effect.fnUntraced(function*(client) {
      const waiting = client.start("export_report", { rows: 7 }, { onInput: InputHandler.manual })
      const handle = yield* run(waiting)
      const asks = Stream.runHead(Stream.filter(handle.changes, ({ status }) => status === "input_required"))
      yield* run(asks)
      yield* run(handle.cancel)
      assert.instanceOf(yield* run(Effect.flip(handle.await)), TaskClientError.TaskCancelled)

      const fiber = yield* Effect.forkChild(client.call("export_report", { rows: 8 }, { onInput: InputHandler.manual }))
      yield* run(Effect.sleep("5 seconds"))
      yield* run(Fiber.interrupt(fiber))
      assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
    }))

    test("finds its way by what the server says of itself", Effect.fnUntraced(function*(client) {
      const { offersTasks, supportedVersions } = yield* run(client.discover)
      assert.isTrue(offersTasks)
      assert.deepStrictEqual(supportedVersions, ["2026-07-28"])
      const names = (yield* run(client.tools)).map(({ name }) => name)
      assert.deepStrictEqual(names, ["export_report", "summarize_report"])
    }))

    test("does not find a task that there is not", Effect.fnUntraced(function*(client) {
      assert.instanceOf(yield* run(Effect.flip(client.get("nope"))), TaskClientError.TaskExpired)
    }))
  })
}

describe("the code of the guide on calling", () => {
  it.effect("does what the guide says", () =>
    Effect.gen(function*() {
      const { url } = yield* TestServer.start(tools, TaskStore.layerMemory)
      const client = Effect.provide(Calling.client(url))
      assert.strictEqual(yield* run(client(Calling.exportReport)), "Wrote 42 rows to report.csv")
      const said = yield* run(client(Calling.exportCarefully))
      assert.strictEqual(said, "The tool says: Nothing was written: report.csv was not to be overwritten")
      assert.strictEqual(yield* run(client(Calling.followed)), "Wrote 42 rows to report.csv")
      assert.strictEqual(yield* run(client(Calling.impatient)), "Wrote 42 rows to report.csv")
    }))
})

suite("over HTTP", overHttp)
suite("in memory", inMemory)

describe("a server and a client that both end in the middle", () => {
  it.effect("go on where they were: each question is asked once, and the result is not lost", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryDirectory}/tasks.sqlite`
      const asked = yield* Ref.make(0)
      const onInput = InputHandler.make({
        elicit: () =>
          Effect.as(Ref.update(asked, (count) => count + 1), { action: "accept", content: { overwrite: true } })
      })
      const values = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory)
      const store = Layer.provide(TaskHandleStore.layer, Layer.succeed(KeyValueStore.KeyValueStore, values))
      const life = Effect.fnUntraced(function*<A>(
        use: (client: TaskClient.TaskClient["Service"]) => Effect.Effect<A, unknown, Scope.Scope>
      ) {
        const sqlite = TaskStore.layerSql.pipe(Layer.provide(SqliteClient.layer({ filename: file })))
        const server = yield* TestServer.start(tools, sqlite)
        const client = TaskClient.layerHttp({ ...identity, url: server.url, server: "reports" })
        const context = yield* Layer.build(
          Layer.fresh(client.pipe(Layer.provide(store), Layer.provide(FetchHttpClient.layer)))
        )
        const used = yield* run(Effect.flatMap(Effect.provideContext(TaskClient.TaskClient, context), use))
        yield* server.stop
        return used
      }, Effect.scoped)

      const id = yield* life(Effect.fnUntraced(function*({ start }) {
        const handle = yield* start("export_report", { rows: 7 }, { ...text, onInput })
        const writes = Stream.filter(handle.changes, ({ statusMessage = "" }) => statusMessage.startsWith("Writing"))
        yield* Stream.runHead(writes)
        return handle.id
      }))
      assert.isTrue(Option.isSome(id))
      assert.strictEqual(yield* Ref.get(asked), 1)

      const results = yield* life(Effect.fnUntraced(function*({ open, resume }) {
        const ids = yield* open
        assert.deepStrictEqual(ids, Option.toArray(id))
        return yield* Effect.forEach(ids, (taskId) =>
          Effect.flatMap(resume(taskId, { ...text, onInput }), (handle) => handle.await))
      }))
      assert.deepStrictEqual(results, ["Wrote 7 rows to report.csv"])
      assert.strictEqual(yield* Ref.get(asked), 1)
      assert.deepStrictEqual(yield* life(({ open }) => open), [])
    }))
})
