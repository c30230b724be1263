/** Multi round-trip requests: only what the caller declared is asked. */
import type { CurrentTask } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { accept, counter, name, refuses, start, wants } from "./RoundServer.ts"
import { tasks } from "./TestServer.ts"

const form = { elicitation: {} }
const hello = { role: "user", content: { type: "text", text: "Say hello" } } as const

describe("only what the caller declared", () => {
  const kinds: ReadonlyArray<
    readonly [string, (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, CurrentTask.InputUnavailable>,
      declared: ReadonlyArray<Schema.JsonObject>, undeclared: ReadonlyArray<Schema.JsonObject>, Schema.JsonObject]
  > = [
    [
      "a form",
      (task) => task.elicit("q", name),
      [{ elicitation: {} }, { elicitation: { form: {} } }, { elicitation: { form: {}, url: {} } }],
      [{}, { elicitation: null }, { elicitation: true }, { elicitation: { url: {} } }, { sampling: {}, roots: {} }],
      { elicitation: { form: {} } }
    ],
    [
      "a page",
      (task) => task.elicitUrl("q", { message: "Sign in", url: "https://a.example/connect" }),
      [{ elicitation: { url: {} } }],
      [{}, { elicitation: {} }, { elicitation: { form: {} } }, { elicitation: { url: null } }],
      { elicitation: { url: {} } }
    ],
    [
      "the model",
      (task) => task.sample("q", { messages: [hello], maxTokens: 5 }),
      [{ sampling: {} }, { sampling: { tools: {} } }],
      [{}, { sampling: null }, { elicitation: {} }],
      { sampling: {} }
    ],
    [
      "the model with tools",
      (task) => task.sample("q", { messages: [hello], maxTokens: 5, tools: [{ name: "t" }] }),
      [{ sampling: { tools: {} } }],
      [{}, { sampling: {} }, { sampling: { context: {} } }],
      { sampling: { tools: {} } }
    ],
    [
      "the roots",
      (task) => task.listRoots("q"),
      [{ roots: {} }, { roots: { listChanged: true } }],
      [{}, { roots: [] }],
      { roots: {} }
    ]
  ]
  for (const [what, body, declared, undeclared, requiredCapabilities] of kinds) {
    it.effect(`${what} is asked of who declared it, and -32021 to who did not [C9, F5]`, () =>
      Effect.gen(function*() {
        const server = yield* start({ body, ask: body })
        for (const capabilities of declared) {
          yield* wants(server.call("plain", {}, { capabilities }), "q")
          yield* wants(server.call("first", {}, { capabilities }), "q")
        }
        for (const capabilities of undeclared) {
          for (const tool of ["plain", "first"]) {
            const { error, httpStatus } = yield* server.call(tool, {}, { capabilities })
            assert.deepStrictEqual([httpStatus, error?.code, error?.data], [400, -32021, { requiredCapabilities }])
          }
        }
      }))
  }

  it.effect("a handler that must not run twice asks only as a task [C9]", () =>
    Effect.gen(function*() {
      const runs = yield* counter
      const server = yield* start({ body: (task) => Effect.andThen(runs.tick, task.elicit("name", name)) })
      const { error } = yield* server.call("once", {}, { capabilities: form })
      assert.strictEqual(error?.code, -32021)
      assert.deepStrictEqual(error?.data, {
        requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } }
      })
      assert.strictEqual(yield* runs.count, 1)
      assert.strictEqual((yield* server.call("once", {}, { capabilities: tasks })).result["resultType"], "task")
    }))

  it.effect("what each retry declares counts for that retry [C6, F5]", () =>
    Effect.gen(function*() {
      const server = yield* start({ body: (task) => Effect.andThen(task.elicit("a", name), task.elicit("b", name)) })
      const asked = yield* wants(server.call("plain", {}, { capabilities: form }), "a")
      const retry = { inputResponses: { a: accept({ name: "Ada" }) }, requestState: asked.state }
      yield* refuses(server.call("plain", retry, { capabilities: {} }), -32021, 400)
    }))
})
