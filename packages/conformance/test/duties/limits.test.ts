/** How much one call may take, give back and keep: what is beyond is refused in a sentence, and harms nothing else. */
import { assert } from "@effect/vitest"
import { Duration, Effect, type Schema } from "effect"
import { everywhere, isError, message, read, type Server, settle } from "./Wire.ts"

/** Calls `shape` as a task, and shows what became of it. */
const become = Effect.fnUntraced(function*(server: Server, what: string, size: number) {
  const { result } = yield* server.call("shape", { what, size })
  yield* settle
  return yield* server.get(String(result?.["taskId"]))
})

/** Expects that a task has failed with a sentence. */
const hasFailed = (task: Schema.JsonObject, words: RegExp) => {
  assert.strictEqual(task["status"], "failed")
  const { code, message } = task["error"] as { readonly code: number; readonly message: string }
  assert.strictEqual(code, -32603)
  assert.match(message, words)
  assert.isBelow(message.length, 200)
}

const declined = Effect.fnUntraced(function*(server: Server, taskId: string, times: number) {
  for (let key = 0; key < times; key++) {
    yield* server.ask("tasks/update", { taskId, inputResponses: { [String(key)]: { action: "decline" } } })
    yield* settle
  }
})

everywhere((test) => {
  test("a result may be so long, as a task and within a call [D6]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* become(server, "length", 400))["status"], "completed")
      hasFailed(yield* become(server, "length", 1_100), /longer than 1000 characters/)
      const plain = yield* server.call("shape", { what: "length", size: 1_100 }, { capabilities: {} })
      isError(plain, -32603, 200)
      assert.match(String(plain.error?.message), /longer than 1000 characters/)
    }), { limits: { maxResultLength: 1_000 } })

  test("a result may be so deep [D6]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* become(server, "depth", 8))["status"], "completed")
      hasFailed(yield* become(server, "depth", 12), /nested deeper than 10 levels/)
    }), { limits: { maxJsonDepth: 10 } })

  test("a request may be so deep [C4, D6]", (server) =>
    Effect.gen(function*() {
      const nested = (levels: number) =>
        message("tools/call", { name: "plain", arguments: { text: "hi", more: "DEEP" } })
          .replace(`"DEEP"`, "[".repeat(levels) + "]".repeat(levels))
      assert.isDefined(read(yield* server.send(nested(120))).result)
      for (const levels of [130, 100_000]) {
        const answer = read(yield* server.send(nested(levels)))
        isError(answer, -32600, 400)
        assert.match(String(answer.error?.message), /deeper than 128 levels/)
      }
    }))

  test("a task may ask so many questions, each so long [D6]", (server) =>
    Effect.gen(function*() {
      const enough = yield* become(server, "questions", 2)
      yield* declined(server, String(enough["taskId"]), 2)
      assert.strictEqual((yield* server.get(String(enough["taskId"])))["status"], "completed")
      const tooMany = yield* become(server, "questions", 3)
      yield* declined(server, String(tooMany["taskId"]), 2)
      hasFailed(yield* server.get(String(tooMany["taskId"])), /it asked more than 2 questions/)
      assert.strictEqual((yield* become(server, "question", 100))["status"], "input_required")
      hasFailed(yield* become(server, "question", 1_000), /500/)
    }), { limits: { maxQuestions: 2, maxEntryLength: 500 } })

  test("a task may keep so many steps, each so long [D6]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* become(server, "steps", 2))["status"], "completed")
      hasFailed(yield* become(server, "steps", 3), /it took more than 2 steps/)
      assert.strictEqual((yield* become(server, "step", 100))["status"], "completed")
      hasFailed(yield* become(server, "step", 1_000), /500/)
    }), { limits: { maxSteps: 2, maxEntryLength: 500 } })

  test("a task may remember so much in all [D6]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* become(server, "steps", 10))["status"], "completed")
      hasFailed(yield* become(server, "steps", 50), /remembers more than 300 characters \(maxJournalLength\)/)
      assert.strictEqual((yield* become(server, "step", 200))["status"], "completed")
      hasFailed(yield* become(server, "step", 300), /maxJournalLength/)
      assert.strictEqual((yield* become(server, "question", 100))["status"], "input_required")
      hasFailed(yield* become(server, "question", 300), /maxJournalLength/)
    }), { limits: { maxJournalLength: 300 } })

  test("answers may have half of what a task may remember; a refused one leaves its question open [D6, F9]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("ask two")
      const answer = (key: string, length: number) =>
        server.ask("tasks/update", {
          taskId,
          inputResponses: { [key]: { action: "accept", content: { name: "x".repeat(length) } } }
        })
      isError(yield* answer("one", 300), -32602, 200)
      assert.isDefined((yield* answer("one", 100)).result)
      const tooLong = yield* answer("two", 100)
      isError(tooLong, -32602, 200)
      assert.match(String(tooLong.error?.message), /200 characters together/)
      assert.strictEqual((yield* server.get(taskId))["status"], "input_required")
      yield* server.ask("tasks/update", { taskId, inputResponses: { two: { action: "decline" } } })
      yield* settle
      assert.notStrictEqual((yield* server.get(taskId))["status"], "input_required")
    }), { limits: { maxJournalLength: 400 } })

  test("a status message is cut, and a life capped [D6, E7]", (server) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* become(server, "report", 1_000))["statusMessage"], "x".repeat(10))
      assert.strictEqual((yield* become(server, "extend", 1_000))["ttlMs"], 30_000)
      assert.strictEqual((yield* become(server, "extend", 3_600_000))["ttlMs"], 30_000)
    }), { limits: { maxMessageLength: 10, maxTtl: Duration.seconds(30) } })

  test("an owner may have so many live tasks, and an ended one makes room [D6]", (server) =>
    Effect.gen(function*() {
      const first = yield* server.create("wait")
      yield* server.create("ask")
      const refused = yield* server.call("job", { text: "wait" })
      isError(refused, -32603, 200)
      assert.match(String(refused.error?.message), /2 are allowed/)
      yield* server.ask("tasks/cancel", { taskId: first })
      yield* settle
      yield* server.create("wait")
    }), { limits: { maxLiveTasks: 2 } })
})
