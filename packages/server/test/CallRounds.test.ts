/** Multi round-trip requests: what is asked, what is carried, and what comes of the answers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Ref, Schema } from "effect"
import { accept, counter, name, refuses, start, wants } from "./RoundServer.ts"
import { settle } from "./TestServer.ts"

const ada = { name: accept({ name: "Ada" }) }
const form = { elicitation: {} }

describe("a call that asks within itself", () => {
  for (const tool of ["plain", "resumable"]) {
    it.effect(`${tool} asks, and completes over the answer that the retry brings [C16, F6]`, () =>
      Effect.gen(function*() {
        const server = yield* start({})
        const asked = yield* wants(server.call(tool, {}, { capabilities: form }), "name")
        assert.deepStrictEqual(Object.keys(asked.result), ["_meta", "resultType", "inputRequests", "requestState"])
        const retry = { inputResponses: ada, requestState: asked.state }
        const answered = yield* server.call(tool, retry, { capabilities: form })
        assert.deepStrictEqual(answered.result["structuredContent"], accept({ name: "Ada" }))
        assert.strictEqual(answered.result["resultType"], "complete")
        assert.isFalse("requestState" in answered.result)
        assert.strictEqual(yield* server.taskCount, 0)
      }))
  }

  it.effect("asks one after the other, and carries the earlier answers and steps [F6]", () =>
    Effect.gen(function*() {
      const paid = yield* counter
      const server = yield* start({
        body: Effect.fnUntraced(function*(task) {
          const receipt = yield* task.step("pay", Schema.Int, paid.tick)
          const first = yield* task.elicit("first", name)
          const second = yield* task.elicit("second", { ...name, message: `After ${JSON.stringify(first)}?` })
          return [receipt, first, second]
        })
      })
      const one = yield* wants(server.call("plain"), "first")
      const two = yield* wants(
        server.call("plain", { inputResponses: { first: accept({ name: "Ada" }) }, requestState: one.state }),
        "second"
      )
      assert.notStrictEqual(one.state, two.state)
      const three = yield* server.call("plain", {
        inputResponses: { second: accept({ name: "Bob" }) },
        requestState: two.state
      })
      assert.deepStrictEqual(three.result["structuredContent"], [
        1,
        accept({ name: "Ada" }),
        accept({ name: "Bob" })
      ])
      assert.strictEqual(yield* paid.count, 1)
    }))

  it.effect("asks together what does not wait for each other, and keeps what is answered of it", () =>
    Effect.gen(function*() {
      const server = yield* start({
        body: (task) =>
          Effect.all([
            task.elicit("2", name),
            Effect.andThen(Effect.yieldNow, task.sample("1", { messages: [hello], maxTokens: 5 })),
            Effect.andThen(task.report("asking"), task.listRoots("roots")),
            task.elicit("2", name)
          ], { concurrency: "unbounded" })
      })
      const capabilities = { elicitation: {}, sampling: {}, roots: {} }
      const asked = yield* wants(server.call("plain", {}, { capabilities }), "1", "2", "roots")
      const some = { inputResponses: { 2: accept({ name: "Ada" }), roots: { roots: [] } }, requestState: asked.state }
      const rest = yield* wants(server.call("plain", some, { capabilities }), "1")
      const reply = { role: "assistant", content: { type: "text", text: "Hello" }, model: "m" }
      const last = { inputResponses: { 1: reply }, requestState: rest.state }
      const done = yield* server.call("plain", last, { capabilities })
      assert.deepStrictEqual(done.result["structuredContent"], [
        accept({ name: "Ada" }),
        reply,
        [],
        accept({ name: "Ada" })
      ])
    }))

  it.effect("asks again for what is missing, and ignores what it did not ask for [F9]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const unasked = JSON.parse(`{"wrong":1,"__proto__":{"name":1}}`)
      const asked = yield* wants(server.call("plain", { inputResponses: unasked }), "name")
      const inputResponses = { other: { ignored: true } }
      const again = yield* wants(server.call("plain", { inputResponses, requestState: asked.state }), "name")
      const done = yield* server.call("plain", { inputResponses: { ...ada, more: 1 }, requestState: again.state })
      assert.strictEqual(done.result["resultType"], "complete")
    }))

  it.effect("takes an answer that comes before its question, if it fits", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      assert.strictEqual((yield* server.call("plain", { inputResponses: ada })).result["resultType"], "complete")
      const words = yield* refuses(server.call("plain", { inputResponses: { name: 12345 } }), -32602)
      assert.match(words, /^The answer to name does not fit: /)
    }))

  it.effect("refuses an answer that does not fit: nothing of the retry counts, the state is still good [F9, F10]", () =>
    Effect.gen(function*() {
      const server = yield* start({
        body: (task) => Effect.all([task.elicit("name", name), task.elicit("other", name)], { concurrency: 2 })
      })
      const asked = yield* wants(server.call("plain"), "name", "other")
      const bad: ReadonlyArray<Schema.Json> = [
        { action: "accept" },
        accept({}),
        accept({ name: 1 }),
        accept({ name: ["Ada"] }),
        accept({ name: { first: "Ada" } }),
        accept({ name: "Ada", extra: { nested: true } }),
        { action: "maybe" },
        { role: "assistant", content: { type: "text", text: "x" }, model: "m" },
        "accept",
        null
      ]
      for (const other of bad) {
        const inputResponses = { ...ada, other }
        yield* refuses(server.call("plain", { inputResponses, requestState: asked.state }), -32602)
      }
      const inputResponses = { ...ada, other: accept({ name: "Bob", extra: 1 }) }
      const done = yield* server.call("plain", { inputResponses, requestState: asked.state })
      assert.strictEqual(done.result["resultType"], "complete")
    }))

  it.effect("passes on declining and cancelling, whatever they carry [F10]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const asked = yield* wants(server.call("plain"), "name")
      for (const action of ["decline", "cancel"]) {
        for (const extra of [{}, { content: null }, { content: { name: 7 } }]) {
          const inputResponses = { name: { action, ...extra } }
          const done = yield* server.call("plain", { inputResponses, requestState: asked.state })
          assert.deepStrictEqual(done.result["structuredContent"], { action })
        }
      }
    }))

  it.effect("asks anew when the question has changed since it was shown", () =>
    Effect.gen(function*() {
      const price = yield* Ref.make(10)
      const server = yield* start({
        body: (task) =>
          Effect.flatMap(Ref.get(price), (now) => task.elicit("pay", { ...name, message: `Pay ${now} dollars?` }))
      })
      const asked = yield* wants(server.call("plain"), "pay")
      yield* Ref.set(price, 20)
      const inputResponses = { pay: accept({ name: "Ada" }) }
      const again = yield* wants(server.call("plain", { inputResponses, requestState: asked.state }), "pay")
      assert.include(JSON.stringify(again.result), "Pay 20 dollars?")
      const done = yield* server.call("plain", { inputResponses, requestState: again.state })
      assert.strictEqual(done.result["resultType"], "complete")
    }))

  it.effect("keeps the answers that a round does not come to", () =>
    Effect.gen(function*() {
      const isDelayed = yield* Ref.make(false)
      const server = yield* start({
        body: Effect.fnUntraced(function*(task) {
          if (yield* Ref.get(isDelayed)) yield* task.elicit("before", name)
          return yield* Effect.all([task.elicit("a", name), task.elicit("b", name)], { concurrency: 2 })
        })
      })
      const [a, b] = [accept({ name: "Ada" }), accept({ name: "Bob" })]
      const first = yield* wants(server.call("plain"), "a", "b")
      yield* Ref.set(isDelayed, true)
      const both = { inputResponses: { a, b }, requestState: first.state }
      const second = yield* wants(server.call("plain", both), "before")
      const last = { inputResponses: { before: { action: "decline" } }, requestState: second.state }
      assert.deepStrictEqual((yield* server.call("plain", last)).result["structuredContent"], [a, b])
    }))

  it.effect("one key for two questions of one run is the tool's fault, and ends", () =>
    Effect.gen(function*() {
      const server = yield* start({
        body: (task) => Effect.andThen(task.elicit("k", name), task.elicit("k", { ...name, message: "Another?" }))
      })
      const asked = yield* wants(server.call("plain"), "k")
      const retry = { inputResponses: { k: accept({ name: "Ada" }) }, requestState: asked.state }
      const message = "The tool was stopped: it used the key k for another question before"
      assert.strictEqual(yield* refuses(server.call("plain", retry), -32603), message)
    }))

  it.effect("asks once more, with the reason, when an answer fits the form but not the schema", () =>
    Effect.gen(function*() {
      const even = Schema.Int.check(Schema.isMultipleOf(2))
      const server = yield* start({
        body: (task) => task.elicit("n", { message: "How many?", schema: Schema.Struct({ n: even }) })
      })
      const asked = yield* wants(server.call("plain"), "n")
      const retry = { inputResponses: { n: accept({ n: 3 }) }, requestState: asked.state }
      const again = yield* wants(server.call("plain", retry), "n#2")
      assert.match(JSON.stringify(again.result), /How many\? \(.*multiple of 2/)
      const inputResponses = { "n#2": accept({ n: 4 }) }
      const done = yield* server.call("plain", { inputResponses, requestState: again.state })
      assert.deepStrictEqual(done.result["structuredContent"], accept({ n: 4 }))
    }))

  it.effect("a question that lost a race is not put", () =>
    Effect.gen(function*() {
      const server = yield* start({
        body: (task) => Effect.raceFirst(task.elicit("name", name), Effect.as(Effect.yieldNow, "fast"))
      })
      assert.strictEqual((yield* server.call("plain")).text, "fast")
    }))

  it.effect("interrupts the handler when the round is over, and waits for its finalizers", () =>
    Effect.gen(function*() {
      const released = yield* counter
      const server = yield* start({ body: (task) => Effect.ensuring(task.elicit("name", name), released.tick) })
      const asked = yield* wants(server.call("plain"), "name")
      assert.strictEqual(yield* released.count, 1)
      yield* server.call("plain", { inputResponses: ada, requestState: asked.state })
      assert.strictEqual(yield* released.count, 2)
    }))

  it.effect("ends the round even where the handler asks and cannot be interrupted", () =>
    Effect.gen(function*() {
      const server = yield* start({ body: (task) => Effect.uninterruptible(task.elicit("name", name)) })
      yield* wants(server.call("plain"), "name")
    }))

  it.effect("a handler that catches everything does not catch the end of its round", () =>
    Effect.gen(function*() {
      const server = yield* start({
        body: (task) => Effect.catchCause(task.elicit("name", name), () => Effect.succeed("caught"))
      })
      yield* wants(server.call("plain"), "name")
    }))

  it.effect("no other method asks, nor takes a state [F7]", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const asked = yield* wants(server.call("plain"), "name")
      const retry = { inputResponses: ada, requestState: asked.state }
      for (const method of ["tools/list", "server/discover"]) {
        const answer = yield* server.ask(method, retry)
        assert.strictEqual(answer.result["resultType"], "complete")
        assert.isFalse("inputRequests" in answer.result || "requestState" in answer.result)
      }
    }))

  it.effect("a client that goes away interrupts the handler", () =>
    Effect.gen(function*() {
      const interrupted = yield* counter
      const server = yield* start({ body: () => Effect.onInterrupt(Effect.never, () => interrupted.tick) })
      yield* Effect.timeoutOption(Effect.raceFirst(server.call("plain"), settle), "1 hour")
      yield* settle
      assert.strictEqual(yield* interrupted.count, 1)
    }))
})

const hello = { role: "user", content: { type: "text", text: "Say hello" } } as const

describe("a call that asks before its task exists", () => {
  it.effect("asks first, then creates the task, which has the answers and asks nothing again [E6, E20]", () =>
    Effect.gen(function*() {
      const asks = yield* counter
      const server = yield* start({
        ask: Effect.fnUntraced(function*(task) {
          const n = yield* task.step("ask", Schema.Int, asks.tick)
          return [n, yield* task.elicit("name", name), Option.isSome(task.taskId)]
        })
      })
      const asked = yield* wants(server.call("first"), "name")
      assert.strictEqual(yield* server.taskCount, 0)
      const created = yield* server.call("first", { inputResponses: ada, requestState: asked.state })
      assert.strictEqual(created.result["resultType"], "task")
      assert.isFalse("requestState" in created.result || "inputRequests" in created.result)
      yield* settle
      const task = yield* server.ask("tasks/get", { taskId: created.result["taskId"] ?? "" })
      assert.strictEqual(task.result["status"], "completed")
      assert.isFalse("requestState" in task.result)
      const { structuredContent } = task.result["result"] as Schema.JsonObject
      assert.deepStrictEqual(structuredContent, [1, accept({ name: "Ada" }), true])
      assert.strictEqual(yield* asks.count, 1)
    }))

  it.effect("asks first in a plain call too, even of a tool that must not be run twice", () =>
    Effect.gen(function*() {
      const works = yield* counter
      const server = yield* start({ work: (answer) => Effect.as(works.tick, answer) })
      const asked = yield* wants(server.call("first", {}, { capabilities: form }), "name")
      assert.strictEqual(yield* works.count, 0)
      const retry = { inputResponses: ada, requestState: asked.state }
      const done = yield* server.call("first", retry, { capabilities: form })
      assert.deepStrictEqual(done.result["structuredContent"], accept({ name: "Ada" }))
      assert.strictEqual(yield* works.count, 1)
    }))

  it.effect("what asking fails with is the answer, and no task exists [E6]", () =>
    Effect.gen(function*() {
      const server = yield* start({
        ask: (task) =>
          Effect.flatMap(task.elicit("name", name), ({ action }) =>
            action === "accept" ? Effect.void : Effect.fail("Then not"))
      })
      const asked = yield* wants(server.call("first"), "name")
      const inputResponses = { name: { action: "decline" } }
      const done = yield* server.call("first", { inputResponses, requestState: asked.state })
      assert.deepStrictEqual([done.text, done.result["isError"]], ["Then not", true])
      assert.strictEqual(yield* server.taskCount, 0)
    }))

  it.effect("its task may ask more, under a key of its own", () =>
    Effect.gen(function*() {
      const server = yield* start({
        work: (answer, task) => Effect.map(task.elicit("more", name), (more) => [answer, more])
      })
      const asked = yield* wants(server.call("first"), "name")
      const created = yield* server.call("first", { inputResponses: ada, requestState: asked.state })
      yield* settle
      const taskId = created.result["taskId"] ?? ""
      const parked = yield* server.ask("tasks/get", { taskId })
      assert.deepStrictEqual(parked.keys, ["more"])
      yield* server.ask("tasks/update", { taskId, inputResponses: { more: accept({ name: "Bob" }) } })
      yield* settle
      const { result } = yield* server.ask("tasks/get", { taskId })
      assert.deepStrictEqual((result["result"] as Schema.JsonObject)["structuredContent"], [
        accept({ name: "Ada" }),
        accept({ name: "Bob" })
      ])
    }))

  it.effect("every accepted retry is a call of its own: the state bounds a replay and does not prevent it", () =>
    Effect.gen(function*() {
      const server = yield* start({})
      const asked = yield* wants(server.call("first"), "name")
      const retry = { inputResponses: ada, requestState: asked.state }
      const [one, two] = [yield* server.call("first", retry), yield* server.call("first", retry)]
      assert.notStrictEqual(one.result["taskId"], two.result["taskId"])
    }))
})
