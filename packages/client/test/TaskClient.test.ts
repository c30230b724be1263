/** What a client does when the server is as it should be; the numbers are those of the duties of a client. */
import { InputHandler, TaskClientError } from "@effect-mcp-tasks/client"
import { McpProtocol } from "@effect-mcp-tasks/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { asking, by, complete, created, done, error, form, got, result } = HostileServer

const text = (value: string) => complete({ content: [{ type: "text", text: value }] })

const capabilitiesOf = ({ params }: HostileServer.Seen) =>
  (params["_meta"] as Schema.JsonObject)[McpProtocol.MetaKey.clientCapabilities]

describe("a call", () => {
  it.effect("gives the result of a server that answers at once [J2]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [text("at once")] })
      const result = yield* TestClient.run(client.call("work", { rows: 1 }))
      assert.deepStrictEqual(result.content, [{ type: "text", text: "at once" }])
      assert.deepStrictEqual(server.of("tools/call")[0]?.params["arguments"], { rows: 1 })
      assert.isEmpty(server.of("tasks/get"))
    }))

  it.effect("polls a task to its end, at the pace that the server asks for [J2, J5]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created({ pollIntervalMs: 3000 })],
        "tasks/get": [got({ pollIntervalMs: 3000 }), got({ pollIntervalMs: 500 }), done("finished")]
      })
      const result = yield* TestClient.run(client.call("work", {}, { success: Schema.String }), 10)
      assert.strictEqual(result, "finished")
      const [first = 0, second = 0, third = 0] = server.of("tasks/get").map(({ at }) => at)
      for (const [waited, asked] of [[first, 3000], [second - first, 3000], [third - second, 500]] as const) {
        assert.isAtLeast(waited, asked)
        assert.isAtMost(waited, asked * 1.2 + 20)
      }
      assert.strictEqual(server.of("tools/call").length, 1)
    }))

  it.effect("declares tasks, and what its handler can be asked, on every request [J1]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [asking(["a"]), done("x")]
      })
      yield* TestClient.run(client.call("work", {}, { onInput: TestClient.accepting().handler }))
      const extensions = { [McpProtocol.TasksExtension]: {} }
      for (const request of server.seen) {
        const declared = capabilitiesOf(request) as Schema.JsonObject
        assert.deepStrictEqual(declared["extensions"], extensions, request.method)
        if (request.method === "tools/call" || request.method.startsWith("tasks/")) {
          assert.deepStrictEqual(declared["elicitation"], { form: {} }, request.method)
        }
      }
      assert.sameMembers(Array.from(new Set(server.seen.map(({ method }) => method))), [
        "tools/list", "tools/call", "tasks/get", "tasks/update"
      ])
    }))

  it.effect("sends the protocol's headers with every request, and takes both kinds of answer [J4, J11]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created({ taskId: "täsk\n1" })],
        "tasks/get": [asking(["a"], { taskId: "täsk\n1" }), done("x", { taskId: "täsk\n1" })]
      })
      yield* TestClient.run(client.call("work", {}, { onInput: TestClient.accepting().handler }))
      for (const { headers, method } of server.seen) {
        assert.strictEqual(headers["mcp-protocol-version"], McpProtocol.ProtocolVersion)
        assert.strictEqual(headers["mcp-method"], method)
        assert.strictEqual(headers["accept"], "application/json, text/event-stream")
        assert.strictEqual(headers["content-type"], "application/json")
        const names: Record<string, string> = { "tools/list": "none", "tools/call": "work" }
        assert.strictEqual(headers["mcp-name"] ?? "none", names[method] ?? "=?base64?dMOkc2sKMQ==?=", method)
      }
      const ids = server.seen.map(({ id }) => id)
      assert.strictEqual(new Set(ids).size, ids.length, "each request has an id of its own")
    }))

  it.effect("goes on with its caller's trace in every request of the call", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [done("x")] })
      yield* TestClient.run(client.call("work"))
      const traces = server.seen.map(({ params }) => String((params["_meta"] as Schema.JsonObject)["traceparent"]))
      for (const trace of traces) assert.match(trace, /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
      assert.strictEqual(new Set(traces.map((trace) => trace.split("-")[1])).size, 1)
    }))

  it.effect("takes an absent resultType as complete, and a wrong one on tasks/get too [J3]", () =>
    Effect.gen(function*() {
      const plain = yield* TestClient.make({ "tools/call": [result({ content: [] })] })
      assert.deepStrictEqual((yield* TestClient.run(plain.client.call("work"))).content, [])
      const ended = HostileServer.task({ resultType: "task", status: "completed", result: { content: [] } })
      const tasks = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [result(ended)] })
      assert.deepStrictEqual((yield* TestClient.run(tasks.client.call("work"))).content, [])
    }))

  it.effect("takes an answer that comes as a stream of events [J11]", () =>
    Effect.gen(function*() {
      const message = (fields: Schema.JsonObject) => HostileServer.event(fields)
      const { client } = yield* TestClient.make({
        "tools/call": [by(({ id }) =>
          HostileServer.events(Stream.make(
            ": keep-alive\n\n",
            message({ method: "notifications/progress", params: { progress: 1 } }),
            message({ id: "server-1", method: "elicitation/create", params: {} }),
            message({ id, result: { resultType: "complete", content: [{ type: "text", text: "streamed" }] } })
          ))
        )]
      })
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, { success: Schema.String })), "streamed")
    }))
})

describe("what the caller is given", () => {
  const structured = (value: Schema.Json) => complete({ content: [], structuredContent: value })
  const Rows = Schema.Struct({ rows: Schema.Int, at: Schema.DateTimeUtcFromString })

  it.effect("is decoded by the schema that they give", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "tools/call": [
          structured({ rows: 3, at: "2026-07-28T00:00:00Z" }),
          text(`{"rows":4,"at":"2026-07-28T00:00:00Z"}`)
        ]
      })
      assert.strictEqual((yield* TestClient.run(client.call("work", {}, { success: Rows }))).rows, 3)
      assert.strictEqual((yield* TestClient.run(client.call("work", {}, { success: Rows }))).rows, 4)
    }))

  it.effect("is refused when it does not fit that schema", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({ "tools/call": [structured({ rows: "three" })] })
      const failed = yield* TestClient.failure(client.call("work", {}, { success: Rows }))
      assert.instanceOf(failed, TaskClientError.InvalidOutput)
      const whole = { resultType: "complete", content: [], structuredContent: { rows: "three" } }
      assert.deepStrictEqual(failed.result, whole)
    }))

  it.effect("is held to the tool's output schema, with or without a task", () =>
    Effect.gen(function*() {
      const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
      const tools = complete({ tools: [{ ...HostileServer.tool, outputSchema }] })
      const plain = yield* TestClient.make({ "tools/list": [tools], "tools/call": [structured({ n: "1" })] })
      const failed = yield* TestClient.failure(plain.client.call("work"))
      assert.instanceOf(failed, TaskClientError.InvalidOutput)
      const tasks = yield* TestClient.make({
        "tools/list": [tools],
        "tools/call": [created()],
        "tasks/get": [done("no structure"), done("", { result: { content: [], structuredContent: { n: 1 } } })]
      })
      const unstructured = yield* TestClient.failure(tasks.client.call("work"))
      assert.instanceOf(unstructured, TaskClientError.InvalidOutput)
      assert.strictEqual(unstructured.taskId, "t1")
      assert.deepStrictEqual((yield* TestClient.run(tasks.client.call("work"))).structuredContent, { n: 1 })
    }))

  it.effect("is not held to a schema that cannot be checked, or that the tool's error need not fit", () =>
    Effect.gen(function*() {
      const outputSchema = { $schema: "http://json-schema.org/draft-04/schema#", type: "object" }
      const { client } = yield* TestClient.make({
        "tools/list": [complete({ tools: [{ ...HostileServer.tool, outputSchema }] })],
        "tools/call": [text("free"), complete({ isError: true, content: [{ type: "text", text: "no disk" }] })]
      })
      assert.strictEqual(yield* TestClient.run(client.call("work", {}, { success: Schema.String })), "free")
      assert.instanceOf(yield* TestClient.failure(client.call("work")), TaskClientError.ToolError)
    }))
})

describe("a failure", () => {
  const ending = (fields: Schema.JsonObject) =>
    Effect.flatMap(
      TestClient.make({ "tools/call": [created()], "tasks/get": [got(), got(fields)] }),
      ({ client }) => TestClient.failure(client.call("work"))
    )

  it.effect("of the task keeps the JSON-RPC error and the id", () =>
    Effect.gen(function*() {
      const failed = yield* ending({
        status: "failed",
        statusMessage: "Ran out",
        error: { code: -32050, message: "No rows", data: { table: "t" } }
      })
      assert.instanceOf(failed, TaskClientError.TaskFailed)
      assert.deepStrictEqual(failed.error, { code: -32050, message: "No rows", data: { table: "t" } })
      assert.strictEqual(failed.taskId, "t1")
      assert.strictEqual(failed.statusMessage, "Ran out")
    }))

  it.effect("says that the task was cancelled", () =>
    Effect.gen(function*() {
      const cancelled = yield* ending({ status: "cancelled", statusMessage: "by an operator" })
      assert.instanceOf(cancelled, TaskClientError.TaskCancelled)
      assert.strictEqual(cancelled.message, "Task t1 was cancelled: by an operator")
    }))

  it.effect("of the tool keeps its result, with the id where there is one", () =>
    Effect.gen(function*() {
      const isError = { isError: true, content: [{ type: "text", text: "no disk" }], extra: 1 }
      const failed = yield* ending({ status: "completed", result: isError })
      assert.instanceOf(failed, TaskClientError.ToolError)
      assert.deepStrictEqual([failed.taskId, failed.message, failed.result["extra"]], ["t1", "no disk", 1])
      const { client } = yield* TestClient.make({ "tools/call": [complete(isError)] })
      const plain = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(plain, TaskClientError.ToolError)
      assert.isUndefined(plain.taskId)
    }))

  it.effect("says that the server knows no such task (any more)", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), error(-32602, "Task not found")]
      })
      const expired = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(expired, TaskClientError.TaskExpired)
      assert.deepStrictEqual(expired.error, { code: -32602, message: "Task not found" })
      assert.instanceOf(yield* TestClient.failure(client.get("gone")), TaskClientError.TaskExpired)
      assert.instanceOf(yield* TestClient.failure(Effect.scoped(client.resume("gone"))), TaskClientError.TaskExpired)
    }))

  it.effect("comes when a task outlives its ttl, or stands still [J7]", () =>
    Effect.gen(function*() {
      const old = yield* TestClient.make({
        "tools/call": [created({ ttlMs: 5000 })],
        "tasks/get": [got({ ttlMs: 5000 })]
      })
      const expired = yield* TestClient.failure(old.client.call("work"), 1000)
      assert.instanceOf(expired, TaskClientError.TaskExpired)
      const still = yield* TestClient.make({
        "tools/call": [created({ ttlMs: null })],
        "tasks/get": [got({ ttlMs: null })]
      }, { limits: { stuckAfterMs: 60_000 } })
      const stuck = yield* TestClient.failure(still.client.call("work"), 1000)
      assert.instanceOf(stuck, TaskClientError.TaskStuck)
      assert.strictEqual(stuck.taskId, "t1")
      assert.isEmpty(still.server.of("tasks/cancel"), "a stuck task is left as it is")
    }))

  it.effect("comes from an answer that is none [J3]", () =>
    Effect.gen(function*() {
      const invalid: ReadonlyArray<readonly [string, HostileServer.Script]> = [
        ["tools/call", { "tools/call": [result({ resultType: "future", content: [] })] }],
        ["tools/call", { "tools/call": [result({ resultType: "task" })] }],
        ["tools/call", { "tools/call": [result({ resultType: "complete", content: "none" })] }],
        ["tools/call", { "tools/call": [result({ resultType: "input_required" })] }],
        ["tasks/get", { "tools/call": [created()], "tasks/get": [got({ status: "completed" })] }],
        ["tasks/get", { "tools/call": [created()], "tasks/get": [got({ taskId: "t2" })] }],
        [
          "tasks/get",
          {
            "tools/call": [created()],
            "tasks/get": [done("", { result: { resultType: "input_required", content: [] } })]
          }
        ],
        ["prompts/get", { "prompts/get": [created()] }]
      ]
      for (const [method, script] of invalid) {
        const { client } = yield* TestClient.make(script)
        const prompt = client.request(method, { name: "p" })
        const calling = method === "prompts/get" ? prompt : Effect.asVoid(client.call("work"))
        const failed = yield* TestClient.failure<unknown, unknown, never>(calling)
        assert.instanceOf(failed, TaskClientError.InvalidResponse, JSON.stringify(script))
        assert.strictEqual(failed.method, method)
        if (method === "tasks/get") assert.strictEqual(failed.taskId, "t1")
      }
    }))
})

describe("questions before there is a task (MRTR)", () => {
  const asks = (fields: Schema.JsonObject) => result({ resultType: "input_required", ...fields })
  const state = "opaque \u00e4 \"quoted\" \n"

  it.effect("are answered, with the state echoed to the letter, and in no other request [J2, J10, J12]", () =>
    Effect.gen(function*() {
      const { asked, handler } = TestClient.accepting()
      const { client, server } = yield* TestClient.make({
        "tools/call": [
          asks({ inputRequests: { a: form("One?"), b: form("Two?") }, requestState: state }),
          asks({ inputRequests: { c: form("Three?") } }),
          created()
        ],
        "tasks/get": [asking(["a"]), done("x")]
      })
      yield* TestClient.run(client.call("work", { rows: 1 }, { onInput: handler }))
      const [first, second, third] = server.of("tools/call").map(({ params: { _meta, ...params } }) => params)
      const accepted = { action: "accept", content: { ok: true } }
      const plain = { name: "work", arguments: { rows: 1 } }
      assert.deepStrictEqual(first, plain)
      assert.deepStrictEqual(second, { ...plain, inputResponses: { a: accepted, b: accepted }, requestState: state })
      assert.deepStrictEqual(third, { ...plain, inputResponses: { c: accepted } })
      assert.deepStrictEqual(asked.map(({ key, taskId }) => [key, taskId]), [
        ["a", undefined], ["b", undefined], ["c", undefined], ["a", "t1"]
      ])
      for (const { method, params } of server.seen) {
        if (method !== "tools/call") assert.notProperty(params, "requestState")
      }
    }))

  it.effect("may be no more than a wish to be asked again", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [asks({ requestState: "1" }), text("done")]
      })
      yield* TestClient.run(client.call("work"))
      const [, again] = server.of("tools/call")
      assert.deepStrictEqual([again?.params["requestState"], again?.params["inputResponses"]], ["1", undefined])
    }))

  it.effect("do not go on for ever", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [asks({ requestState: "again" })] })
      assert.instanceOf(yield* TestClient.failure(client.call("work")), TaskClientError.InvalidResponse)
      assert.strictEqual(server.of("tools/call").length, 100)
    }))

  it.effect("are answered for prompts and resources too", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "resources/read": [asks({ inputRequests: { a: form("?") } }), complete({ contents: [] })]
      })
      const onInput = TestClient.accepting().handler
      yield* TestClient.run(client.request("resources/read", { uri: "file:///x" }, { onInput }))
      assert.deepStrictEqual(server.seen.map(({ headers }) => headers["mcp-name"]), ["file:///x", "file:///x"])
    }))

  it.effect("end the call when nobody can answer them", () =>
    Effect.gen(function*() {
      const sampling = { method: "sampling/createMessage", params: {} }
      const { client } = yield* TestClient.make({ "tools/call": [asks({ inputRequests: { a: sampling } })] })
      const refused = yield* TestClient.failure(client.call("work"))
      assert.instanceOf(refused, TaskClientError.InputRefused)
      const manual = yield* TestClient.make({ "tools/call": [asks({ inputRequests: { a: form("?") } })] })
      const early = yield* TestClient.failure(manual.client.call("work", {}, { onInput: InputHandler.manual }))
      assert.instanceOf(early, TaskClientError.InputRefused)
    }))
})

describe("a handle", () => {
  it.effect("shows the task as it changes, each view once, and gives the result to whoever waits", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [
          got(),
          got({ statusMessage: "half", lastUpdatedAt: "2026-07-28T10:00:02.000Z" }),
          got({ statusMessage: "half", lastUpdatedAt: "2026-07-28T10:00:02.000Z" }),
          got({ statusMessage: "stale", lastUpdatedAt: "2026-07-28T10:00:01.000Z" }),
          done("x")
        ]
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { success: Schema.String }))
        assert.deepStrictEqual(handle.id, Option.some("t1"))
        const waiting = Effect.all([Stream.runCollect(handle.changes), handle.await], { concurrency: "unbounded" })
        const [views, value] = yield* TestClient.run(waiting)
        assert.deepStrictEqual(views.map(({ status, statusMessage }) => [status, statusMessage]), [
          ["working", undefined], ["working", "half"], ["completed", undefined]
        ])
        assert.strictEqual(value, "x")
        assert.strictEqual(yield* handle.await, "x", "again, later")
        assert.deepStrictEqual((yield* Stream.runCollect(handle.changes)).map(({ status }) => status), ["completed"])
      }))
    }))

  it.effect("of a call that was answered at once has its result and no task", () =>
    Effect.gen(function*() {
      const { client } = yield* TestClient.make({ "tools/call": [text("x")] })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { success: Schema.String }))
        assert.isTrue(Option.isNone(handle.id))
        assert.strictEqual(yield* handle.await, "x")
        assert.isEmpty(yield* Stream.runCollect(handle.changes))
        assert.instanceOf(yield* Effect.flip(handle.answer("a", {})), TaskClientError.NotOutstanding)
        yield* handle.cancel
      }))
    }))

  it.effect("cancels, and still tells how the task really ended [J8]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({
        "tools/call": [created()],
        "tasks/get": [got(), done("was faster")]
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const handle = yield* TestClient.run(client.start("work", {}, { success: Schema.String }))
        yield* TestClient.run(handle.cancel)
        assert.strictEqual(yield* TestClient.run(handle.await), "was faster")
      }))
      assert.strictEqual(server.of("tasks/cancel").length, 1)
      assert.isEmpty(server.of("notifications/cancelled"))
    }))

  it.effect("leaves the task when its scope closes", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [created()], "tasks/get": [got()] })
      yield* TestClient.run(Effect.scoped(Effect.asVoid(client.start("work"))))
      const polls = server.of("tasks/get").length
      yield* TestClient.run(Effect.sleep(60_000), 1000)
      assert.strictEqual(server.of("tasks/get").length, polls)
      assert.isEmpty(server.of("tasks/cancel"))
    }))
})
