/** What a client gets by what it declares, and by nothing else. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { everywhere, isError, type Server } from "./Wire.ts"

const extension = "io.modelcontextprotocol/tasks"

/** Capabilities that do not declare the extension, however much they look like it. */
const undeclared: ReadonlyArray<Schema.Json> = [
  {},
  { tasks: {} },
  { tasks: { requests: { tools: { call: {} } } } },
  { extensions: {} },
  { extensions: { tasks: {} } },
  { extensions: { [extension]: null } },
  { extensions: { [extension]: true } },
  { extensions: [extension] },
  { extensions: null },
  { [extension]: {} },
  { experimental: { [extension]: {} } }
]

const count = (server: Server) => Effect.map(server.store.list({ limit: 100 }), (tasks) => tasks.length)

/** The refusal of whoever needed the extension, which names it. */
const isRefused = (answer: Effect.Success<ReturnType<Server["ask"]>>) => {
  isError(answer, -32021, 400)
  assert.deepStrictEqual(answer.error?.data, { requiredCapabilities: { extensions: { [extension]: {} } } })
}

everywhere((test) => {
  test("a client that did not declare the extension gets no task, even if it did before [C14, E1, E18]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* server.call("job", { text: "hi" })).result?.["resultType"], "task")
      for (const capabilities of undeclared) {
        const answer = yield* server.call("job", { text: "hi" }, { capabilities })
        assert.deepInclude(answer.result, { resultType: "complete", content: [{ type: "text", text: "hi" }] })
      }
      assert.strictEqual(yield* count(server), 1)
    }))

  test("a tool that is a task or nothing is refused, and does not run [C9, C14, E2]", (server) =>
    Effect.gen(function*() {
      for (const capabilities of undeclared) isRefused(yield* server.call("strict", { text: "hi" }, { capabilities }))
      assert.strictEqual(yield* count(server), 0)
      assert.strictEqual((yield* server.call("strict", { text: "hi" })).result?.["resultType"], "task")
    }))

  test("requests about tasks are refused, before it is looked for one [C9, E3, E18]", (server) =>
    Effect.gen(function*() {
      const own = yield* server.create("ask")
      for (const capabilities of undeclared) {
        for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
          for (const taskId of [own, "unknown"]) {
            isRefused(yield* server.ask(method, { taskId, inputResponses: {} }, { capabilities }))
          }
        }
      }
      assert.strictEqual((yield* server.get(own))["status"], "input_required")
    }))

  test("settings of the extension that are not known yet do not undo it [C13]", (server) =>
    Effect.gen(function*() {
      const capabilities = { extensions: { [extension]: { later: true }, "com.example/other": {} } }
      assert.strictEqual((yield* server.call("job", { text: "hi" }, { capabilities })).result?.["resultType"], "task")
    }))

  test("the task parameter of earlier revisions asks for nothing [E18]", (server) =>
    Effect.gen(function*() {
      const params = { name: "plain", arguments: { text: "hi" }, task: { ttl: 1, pollInterval: 1 } }
      const plain = yield* server.ask("tools/call", params)
      assert.deepInclude(plain.result, { resultType: "complete" })
      const inline = yield* server.ask("tools/call", { ...params, name: "job" }, { capabilities: { tasks: {} } })
      assert.deepInclude(inline.result, { resultType: "complete" })
      const created = yield* server.ask("tools/call", { ...params, name: "job" })
      assert.deepInclude(created.result, { resultType: "task", ttlMs: 60_000, pollIntervalMs: 1_000 })
    }))
})
