/** Calls that ask before they answer: what is asked, what is carried through the client, and what is taken back. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Asking, everywhere, isError, type Server, settle } from "./Wire.ts"

const accepted = { action: "accept", content: { name: "Ada" } }

interface Round {
  readonly inputResponses?: Schema.Json
  readonly requestState?: Schema.Json
}

interface Calling extends Asking {
  readonly tool?: string
  readonly text?: string
}

const call = (server: Server, round: Round = {}, { text = "ask", tool = "plain", ...rest }: Calling = {}) =>
  server.ask("tools/call", { name: tool, arguments: { text }, ...round }, rest)

/** Expects a question, and gives back what it carries. */
const isAsked = ({ result, text }: Effect.Success<ReturnType<typeof call>>, ...keys: ReadonlyArray<string>) => {
  assert.strictEqual(result?.["resultType"], "input_required", text)
  assert.deepStrictEqual(Object.keys(result?.["inputRequests"] ?? {}), keys)
  assert.isString(result?.["requestState"])
  return String(result?.["requestState"])
}

const form = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Which name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
  }
}

everywhere((test) => {
  test("a call asks, and completes when it is sent again with the answer and the state [C2, F6]", (server) =>
    Effect.gen(function*() {
      const asked = yield* call(server, {}, { id: "first" })
      const requestState = isAsked(asked, "name")
      assert.deepStrictEqual(asked.result?.["inputRequests"], { name: form })
      const done = yield* call(server, { inputResponses: { name: accepted }, requestState }, { id: 2 })
      assert.deepInclude(done.result, { resultType: "complete" })
      assert.include(done.text, "Ada")
      for (const member of ["inputRequests", "requestState"]) assert.notProperty(done.result, member)
    }))

  test("a result that asks may not be cached, and is no task [C16, E4]", (server) =>
    Effect.gen(function*() {
      const { result } = yield* call(server)
      for (const member of ["ttlMs", "cacheScope", "taskId", "status"]) assert.notProperty(result, member)
    }))

  test("what is to be asked first is asked before there is a task, which has the answers [E6, E20]", (server) =>
    Effect.gen(function*() {
      const asked = yield* call(server, {}, { tool: "first", text: "" })
      const requestState = isAsked(asked, "name")
      assert.strictEqual((yield* server.store.list({ limit: 10 })).length, 0)
      const answered = { inputResponses: { name: accepted }, requestState }
      const created = yield* call(server, answered, { tool: "first", text: "" })
      assert.strictEqual(created.result?.["resultType"], "task")
      for (const member of ["inputRequests", "requestState"]) assert.notProperty(created.result, member)
      yield* settle
      const task = yield* server.get(String(created.result?.["taskId"]))
      assert.strictEqual(task["status"], "completed")
      assert.include(JSON.stringify(task["result"]), "Ada")
      assert.notProperty(task, "requestState")
    }))

  test("questions that belong together are asked together, under keys of their own [F6]", (server) =>
    Effect.gen(function*() {
      const requestState = isAsked(yield* call(server, {}, { text: "ask two" }), "one", "two")
      const some = { inputResponses: { two: accepted }, requestState }
      const rest = isAsked(yield* call(server, some, { text: "ask two" }), "one")
      const last = { inputResponses: { one: accepted }, requestState: rest }
      assert.deepInclude((yield* call(server, last, { text: "ask two" })).result, { resultType: "complete" })
    }))

  test("no other method is answered with a question, whatever it brings [F7]", (server) =>
    Effect.gen(function*() {
      const requestState = isAsked(yield* call(server), "name")
      const taskId = yield* server.create("wait")
      const round = { inputResponses: {}, requestState }
      for (const method of ["server/discover", "tools/list", "tasks/get", "tasks/update", "tasks/cancel"]) {
        const { result, text } = yield* server.ask(method, { taskId, ...round })
        assert.strictEqual(result?.["resultType"], "complete", text)
      }
    }))

  test("missing answers are asked for again, and superfluous ones ignored [F9]", (server) =>
    Effect.gen(function*() {
      const requestState = isAsked(yield* call(server), "name")
      const missing: ReadonlyArray<Round> = [
        { requestState },
        { inputResponses: {}, requestState },
        { inputResponses: { other: accepted }, requestState },
        { inputResponses: JSON.parse(`{"__proto__":{"action":"accept"}}`) as Schema.Json, requestState }
      ]
      for (const round of missing) isAsked(yield* call(server, round), "name")
      const more = { inputResponses: { name: accepted, other: 7 }, requestState }
      assert.deepInclude((yield* call(server, more)).result, { resultType: "complete" })
    }))

  test("malformed answers, and answers that do not fit, are errors [F9, F10]", (server) =>
    Effect.gen(function*() {
      const requestState = isAsked(yield* call(server), "name")
      for (const inputResponses of [null, [], "accept", 7]) {
        isError(yield* call(server, { inputResponses, requestState }), -32602, 200)
      }
      for (const name of [12345, null, "Ada", {}, { action: "maybe" }, { action: "accept", content: { name: 7 } }]) {
        const answer = yield* call(server, { inputResponses: { name }, requestState })
        isError(answer, -32602, 200)
        assert.include(answer.error?.message, "name")
      }
      // Nothing of it counted: the state is as good as before.
      assert.include((yield* call(server, { inputResponses: { name: accepted }, requestState })).text, "Ada")
    }))

  test("declining and cancelling complete the round [F10]", (server) =>
    Effect.gen(function*() {
      for (const action of ["decline", "cancel"]) {
        const requestState = isAsked(yield* call(server), "name")
        const inputResponses = { name: { action, content: { name: 7 } } }
        const done = yield* call(server, { inputResponses, requestState })
        assert.deepInclude(done.result, { resultType: "complete" })
        assert.include(done.text, action)
      }
    }))

  test("a state that was changed, or is another's, is refused in the same words [F8, I2, I5]", (server) =>
    Effect.gen(function*() {
      const inputResponses = { name: accepted }
      const requestState = isAsked(yield* call(server), "name")
      const [head, last] = [requestState.slice(0, -1), requestState.slice(-1)]
      const changed = [
        `${requestState}-TAMPERED`,
        head,
        `${head}${last === "A" ? "B" : "A"}`,
        requestState.slice(1),
        requestState.toLowerCase(),
        "",
        "e30=",
        JSON.stringify({ name: accepted })
      ]
      const attempts: ReadonlyArray<readonly [Round, Calling]> = [
        ...changed.map((state) => [{ inputResponses, requestState: state }, {}] as const),
        ...[null, 7, {}, [requestState]].map((state) => [{ inputResponses, requestState: state }, {}] as const),
        [{ inputResponses, requestState }, { as: "bob" }],
        [{ inputResponses, requestState }, { tool: "first" }],
        [{ inputResponses, requestState }, { text: "ask two" }]
      ]
      for (const [round, asking] of attempts) {
        const answer = yield* call(server, round, asking)
        isError(answer, -32602, 200)
        assert.strictEqual(answer.error?.message, "params.requestState is not one that is valid for this call")
      }
      assert.include((yield* call(server, { inputResponses, requestState })).text, "Ada")
    }))

  test("a state expires [F8]", (server) =>
    Effect.gen(function*() {
      const requestState = isAsked(yield* call(server), "name")
      const round = { inputResponses: { name: accepted }, requestState }
      yield* TestClock.adjust("59 minutes")
      assert.deepInclude((yield* call(server, round)).result, { resultType: "complete" })
      yield* TestClock.adjust("1 minute")
      isError(yield* call(server, round), -32602, 200)
    }))

  const kinds: ReadonlyArray<readonly [text: string, key: string, method: string, needed: Schema.JsonObject]> = [
    ["ask", "name", "elicitation/create", { elicitation: { form: {} } }],
    ["ask url", "url", "elicitation/create", { elicitation: { url: {} } }],
    ["ask model", "model", "sampling/createMessage", { sampling: {} }],
    ["ask roots", "roots", "roots/list", { roots: {} }]
  ]

  test("each kind of question is asked of who declared it, and of nobody else [C9, F5, F6]", (server) =>
    Effect.gen(function*() {
      for (const [text, key, method, needed] of kinds) {
        const { result = {} } = yield* call(server, {}, { text, capabilities: needed })
        assert.strictEqual((result["inputRequests"] as Record<string, { method: string }>)[key]?.method, method)
        const others = kinds.filter(([other]) => other !== text).map(([, , , capabilities]) => capabilities)
        for (const capabilities of [{}, ...others]) {
          const answer = yield* call(server, {}, { text, capabilities })
          isError(answer, -32021, 400)
          assert.deepStrictEqual(answer.error?.data, { requiredCapabilities: needed })
        }
      }
    }))

  test("a task asks each kind of who declared it when it was created, and of nobody else [F5]", (server) =>
    Effect.gen(function*() {
      const extensions = { "io.modelcontextprotocol/tasks": {} }
      for (const [text, key, method, needed] of kinds) {
        const asking = yield* server.create(text, { capabilities: { extensions, ...needed } })
        const { inputRequests } = yield* server.get(asking)
        assert.strictEqual((inputRequests as Record<string, { method: string }>)[key]?.method, method)
        const mute = yield* server.create(text, { capabilities: { extensions } })
        const task = yield* server.get(mute)
        assert.include(["completed", "failed"], task["status"])
        assert.notProperty(task, "inputRequests")
      }
    }))
})
