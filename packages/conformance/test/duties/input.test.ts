/** What a task asks of its client, and what becomes of the answers. */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { everything, everywhere, isError, type Server, settle } from "./Wire.ts"

const accepted = { action: "accept", content: { name: "Ada" } }

/** The keys of the questions that are open. */
const open = (server: Server, taskId: string) =>
  Effect.map(server.get(taskId), ({ inputRequests }) => Object.keys(inputRequests ?? {}))

const update = (server: Server, taskId: string, inputResponses: Schema.JsonObject) =>
  Effect.tap(server.ask("tasks/update", { taskId, inputResponses }), settle)

/** What the task has learned, once it has completed. */
const learned = (server: Server, taskId: string) =>
  Effect.map(server.get(taskId), ({ result, status }) => {
    assert.strictEqual(status, "completed")
    return JSON.stringify((result as Schema.JsonObject)["content"])
  })

/** Expects the empty acknowledgement. */
const isAcknowledged = ({ result, text }: Effect.Success<ReturnType<Server["ask"]>>) => {
  const { _meta: _, ...rest } = result ?? {}
  assert.deepStrictEqual(rest, { resultType: "complete" }, text)
}

everywhere((test) => {
  test("all open questions are shown, each with what is asked [E9, F1]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask two")
      const { inputRequests } = yield* server.get(taskId)
      const question = {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "Which name?",
          requestedSchema: {
            type: "object",
            properties: { name: { type: "string" } },
            required: ["name"]
          }
        }
      }
      assert.deepStrictEqual(inputRequests, { one: question, two: question })
      assert.deepStrictEqual((yield* server.get(taskId))["inputRequests"], inputRequests)
    }))

  test("answers are acknowledged with nothing, and the next poll shows their questions gone [E10, F2]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask")
      isAcknowledged(yield* server.ask("tasks/update", { taskId, inputResponses: { name: accepted } }))
      assert.deepStrictEqual(yield* open(server, taskId), [])
      yield* settle
      assert.include(yield* learned(server, taskId), "Ada")
    }))

  test("some answers may come before others [F4]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask two")
      isAcknowledged(yield* update(server, taskId, { two: accepted }))
      assert.strictEqual((yield* server.get(taskId))["status"], "input_required")
      assert.deepStrictEqual(yield* open(server, taskId), ["one"])
      isAcknowledged(yield* update(server, taskId, { one: { action: "decline" } }))
      assert.include(yield* learned(server, taskId), "decline")
    }))

  test("an answer to what was never asked, was answered or was withdrawn changes nothing [F3]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask twice")
      const untouched = yield* server.get(taskId)
      const hostile = JSON.parse(`{"__proto__":{"action":"accept"},"constructor":{"action":"decline"},"":7}`)
      for (const answers of [{}, { never: accepted }, { two: accepted }, { ONE: accepted }, hostile]) {
        isAcknowledged(yield* update(server, taskId, answers))
        assert.deepStrictEqual(yield* server.get(taskId), untouched)
      }
      yield* update(server, taskId, { one: accepted })
      const second = yield* server.get(taskId)
      isAcknowledged(yield* update(server, taskId, { one: { action: "cancel" } }))
      assert.deepStrictEqual(yield* server.get(taskId), second)
      yield* update(server, taskId, { two: accepted })
      assert.notInclude(yield* learned(server, taskId), "cancel")

      const withdrawn = yield* server.create("withdraw")
      assert.deepStrictEqual(yield* open(server, withdrawn), ["name"])
      yield* TestClock.adjust("1 second")
      yield* settle
      const working = yield* server.get(withdrawn)
      assert.strictEqual(working["status"], "working")
      isAcknowledged(yield* update(server, withdrawn, { name: accepted }))
      assert.deepStrictEqual(yield* server.get(withdrawn), working)
    }))

  test("a superfluous answer does not keep a fitting one from counting [F3, F9]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask")
      isAcknowledged(yield* update(server, taskId, { other: 7, name: accepted }))
      assert.include(yield* learned(server, taskId), "Ada")
    }))

  test("a key is not asked again: once answered it never comes back, and never means another question [F1]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask twice")
      const seen = new Set(yield* open(server, taskId))
      yield* update(server, taskId, { one: accepted })
      for (const key of yield* open(server, taskId)) assert.isFalse(seen.has(key))
      const same = yield* server.create("ask the same")
      yield* update(server, same, { name: accepted })
      const ended = yield* server.get(same)
      assert.strictEqual(ended["status"], "failed")
      assert.deepInclude(ended["error"] as Schema.JsonObject, { code: -32603 })
    }))

  test("an accepted answer that does not fit is refused, and all questions stay open [F9, F10]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask two")
      const before = yield* server.get(taskId)
      const unfit: ReadonlyArray<Schema.Json> = [
        { action: "accept", content: { name: 7 } },
        { action: "accept", content: {} },
        { action: "accept", content: null },
        { action: "accept" },
        { action: "maybe" },
        {},
        "accept",
        null
      ]
      for (const two of unfit) {
        // The fitting answer beside it is not applied either: all or none.
        const answer = yield* update(server, taskId, { one: accepted, two })
        isError(answer, -32602, 200)
        assert.include(answer.error?.message, "two")
        assert.deepStrictEqual(yield* server.get(taskId), before)
      }
    }))

  test("answers that are no map are refused [F9]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask")
      for (const inputResponses of [null, [], "accept", 7]) {
        isError(yield* server.ask("tasks/update", { taskId, inputResponses }), -32602, 200)
      }
      isError(yield* server.ask("tasks/update", { taskId }), -32602, 200)
      assert.deepStrictEqual(yield* open(server, taskId), ["name"])
    }))

  test("declining and cancelling always fit, whatever comes with them [F10]", (server) =>
    Effect.gen(function*() {
      for (const action of ["decline", "cancel"]) {
        for (const content of [undefined, null, { name: 7 }, "no"]) {
          const taskId = yield* server.create("ask")
          const name = { action, ...(content === undefined ? {} : { content }) }
          isAcknowledged(yield* update(server, taskId, { name }))
          assert.include(yield* learned(server, taskId), action)
        }
      }
    }))

  test("a client is not asked what it did not declare when it called, whatever it declares later [F5]", (server) =>
    Effect.gen(function*() {
      const { extensions } = everything
      for (const elicitation of [undefined, { url: {} }, null, true, []]) {
        const capabilities = { extensions, ...(elicitation === undefined ? {} : { elicitation }) }
        const taskId = yield* server.create("ask", { capabilities })
        const task = yield* server.get(taskId)
        assert.strictEqual(task["status"], "failed")
        assert.notProperty(task, "inputRequests")
      }
      for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) {
        const taskId = yield* server.create("ask", { capabilities: { extensions, elicitation } })
        assert.deepStrictEqual(yield* open(server, taskId), ["name"])
      }
    }))

  test("a tool that must not run twice can ask within a task only, and says so [C9, E2]", (server) =>
    Effect.gen(function*() {
      const answer = yield* server.call("job", { text: "ask" }, { capabilities: { elicitation: {} } })
      isError(answer, -32021, 400)
      assert.deepStrictEqual(answer.error?.data, { requiredCapabilities: { extensions: everything.extensions } })
    }))
})
