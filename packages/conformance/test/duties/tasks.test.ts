/** What a task says of itself from its creation to its end, and after it. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { everywhere, isError, type Server, settle } from "./Wire.ts"

/** What every task says, whatever its status. */
const Common = Schema.Struct({
  taskId: Schema.NonEmptyString,
  status: Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"]),
  createdAt: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  lastUpdatedAt: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  ttlMs: Schema.Union([Schema.Int, Schema.Null]),
  pollIntervalMs: Schema.Int
})

const common = (task: Schema.JsonObject) => Schema.decodeUnknownSync(Common)(task)

/** Members of a task that not every status has. */
const payload = (task: Schema.JsonObject) =>
  ["inputRequests", "result", "error"].filter((name) => Object.hasOwn(task, name))

/** A task in each status, by how its tool was told to behave. */
const inEachStatus = Effect.fnUntraced(function*(server: Server) {
  const working = yield* server.create("wait")
  const asking = yield* server.create("ask two")
  const completed = yield* server.create("done")
  const unsuccessful = yield* server.create("fail")
  const failed = yield* server.create("break")
  const cancelled = yield* server.create("wait")
  yield* server.ask("tasks/cancel", { taskId: cancelled })
  yield* settle
  return { working, asking, completed, unsuccessful, failed, cancelled }
})

everywhere((test) => {
  test("a created task is answered as one, flat, and without what its status brings [E4, E7, E20]", (server) =>
    Effect.gen(function*() {
      const { result = {} } = yield* server.call("job", { text: "ask" })
      assert.strictEqual(result["resultType"], "task")
      assert.deepInclude(common(result), { status: "working", ttlMs: 60_000, pollIntervalMs: 1_000 })
      assert.strictEqual(result["createdAt"], "1970-01-01T00:00:00.000Z")
      assert.deepStrictEqual(payload(result), [])
      for (const gone of ["task", "requestState", "ttl", "pollInterval"]) assert.notProperty(result, gone)
    }))

  test("a task can be read as soon as it was answered, over any connection [C7, E5]", (server) =>
    Effect.gen(function*() {
      for (let time = 0; time < 20; time++) {
        const { result } = yield* server.call("job", { text: "wait" })
        const task = yield* server.get(String(result?.["taskId"]), { apart: true })
        assert.strictEqual(task["taskId"], result?.["taskId"])
        assert.strictEqual(task["createdAt"], result?.["createdAt"])
      }
    }))

  test("each status shows what belongs to it, and nothing else [E4, E7, E9, E10]", (server) =>
    Effect.gen(function*() {
      const ids = yield* inEachStatus(server)
      const expected: Readonly<Record<keyof typeof ids, readonly [status: string, members: Array<string>]>> = {
        working: ["working", []],
        asking: ["input_required", ["inputRequests"]],
        completed: ["completed", ["result"]],
        unsuccessful: ["completed", ["result"]],
        failed: ["failed", ["error"]],
        cancelled: ["cancelled", []]
      }
      for (const [name, [status, members]] of Object.entries(expected)) {
        const task = yield* server.get(ids[name as keyof typeof ids])
        assert.strictEqual(task["resultType"], "complete", name)
        assert.strictEqual(common(task).status, status, name)
        assert.deepStrictEqual(payload(task), members, name)
      }
      const asking = (yield* server.get(ids.asking))["inputRequests"]
      assert.deepStrictEqual(Object.keys(asking as Schema.JsonObject), ["one", "two"])
    }))

  test("a completed task has the result that a plain call would have had, success or not [E9, E11]", (server) =>
    Effect.gen(function*() {
      for (const text of ["done", "fail"]) {
        const plain = yield* server.call("job", { text }, { capabilities: {} })
        const { _meta: _, ...expected } = plain.result ?? {}
        const task = yield* server.get(yield* server.create(text))
        assert.strictEqual(task["status"], "completed")
        assert.deepStrictEqual(task["result"], expected)
      }
    }))

  test("a failed task has the error that its call broke with, and says so [E12]", (server) =>
    Effect.gen(function*() {
      const task = yield* server.get(yield* server.create("break"))
      assert.deepStrictEqual(task["error"], { code: -32603, message: "The upstream broke", data: { why: "test" } })
      assert.strictEqual(task["statusMessage"], "The upstream broke")
      const plain = yield* server.call("job", { text: "break" }, { capabilities: {} })
      assert.deepStrictEqual(plain.error, task["error"])
    }))

  test("lastUpdatedAt moves with every change, and with nothing else [E8]", (server) =>
    Effect.gen(function*() {
      const updated = (taskId: string) => Effect.map(server.get(taskId), (task) => common(task).lastUpdatedAt)
      const taskId = yield* server.create("ask twice")
      const asked = yield* updated(taskId)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* updated(taskId), asked)
      const answer = (key: string) =>
        server.ask("tasks/update", { taskId, inputResponses: { [key]: { action: "decline" } } })
      yield* answer("one")
      yield* settle
      const answered = yield* updated(taskId)
      assert.isTrue(answered > asked)
      yield* answer("two")
      yield* settle
      assert.isTrue((yield* updated(taskId)) > answered)
      const reporting = yield* server.get(yield* server.create("report"))
      assert.strictEqual(reporting["statusMessage"], "halfway")
      assert.isTrue(String(reporting["lastUpdatedAt"]) > String(reporting["createdAt"]))
    }))

  test("a task that has ended stays as it ended, whatever is asked of it [E13, F3, G3]", (server) =>
    Effect.gen(function*() {
      const { asking: _, working: __, ...ended } = yield* inEachStatus(server)
      for (const taskId of Object.values(ended)) {
        const before = yield* server.get(taskId)
        yield* TestClock.adjust("1 second")
        const inputResponses = { one: { action: "accept", content: { name: "Eve" } } }
        for (const [method, params] of [["tasks/cancel", {}], ["tasks/update", { inputResponses }]] as const) {
          const { result } = yield* server.ask(method, { taskId, ...params })
          assert.strictEqual(result?.["resultType"], "complete")
        }
        yield* settle
        assert.deepStrictEqual(yield* server.get(taskId), before)
      }
    }))

  test("a task lives as long as it says: then a live one fails, and an ended one is forgotten [E14, E15]", (server) =>
    Effect.gen(function*() {
      const live = yield* server.create("wait")
      const ended = yield* server.create("done")
      yield* TestClock.adjust("59999 millis")
      yield* settle
      assert.strictEqual((yield* server.get(live))["status"], "working")
      assert.strictEqual((yield* server.get(ended))["status"], "completed")
      yield* TestClock.adjust("1 millis")
      yield* settle
      const failed = yield* server.get(live)
      assert.strictEqual(failed["status"], "failed")
      assert.isDefined((failed["error"] as Schema.JsonObject)["message"])
      isError(yield* server.ask("tasks/get", { taskId: ended }), -32602, 200)
      yield* TestClock.adjust("1 hour")
      yield* settle
      isError(yield* server.ask("tasks/get", { taskId: live }), -32602, 200)
    }))

  test("an id that no task has is refused by each method in the words that it has for them all [E15, G1]", (server) =>
    Effect.gen(function*() {
      const own = yield* server.create("ask")
      const near = [own.toUpperCase(), `${own} `, own.slice(1)]
      const ids = [...near, "unknown", "", "x".repeat(9_000), "../1", "__proto__", "ü"]
      const verbs = [["tasks/get", "retrieve"], ["tasks/update", "update"], ["tasks/cancel", "cancel"]] as const
      for (const [method, verb] of verbs) {
        for (const taskId of [...ids, 7, null, true, [own], { taskId: own }]) {
          const headers = typeof taskId === "string" && taskId.endsWith(" ")
            ? { "mcp-name": `=?base64?${Buffer.from(taskId).toString("base64")}?=` }
            : {}
          const answer = yield* server.ask(method, { taskId, inputResponses: {} }, { headers })
          isError(answer, -32602, 200)
          assert.strictEqual(answer.error?.message, `Failed to ${verb} task: Task not found`)
        }
        isError(yield* server.ask(method, { inputResponses: {} }), -32602, 200)
      }
    }))

  test("ids have 128 bits of chance [I1]", (server) =>
    Effect.gen(function*() {
      const ids = yield* Effect.forEach(Array.from({ length: 200 }), () => server.create("done"))
      assert.strictEqual(new Set(ids).size, ids.length)
      // Each of the last 128 bits takes both values: none is a counter, a clock or a constant.
      const bits = ids.map((id) => BigInt(`0x${id.replaceAll("-", "")}`))
      for (let bit = 0n; bit < 128n; bit++) {
        const ones = bits.filter((id) => (id >> bit) & 1n).length
        assert.isTrue(ones > 50 && ones < 150, `bit ${bit}: ${ones} of ${ids.length}`)
      }
    }))

  test("polls may come as often as a client likes, unless a rate is set [E16]", (server) =>
    Effect.gen(function*() {
      const taskId = yield* server.create("wait")
      for (let time = 0; time < 50; time++) assert.strictEqual((yield* server.get(taskId))["status"], "working")
    }))
})
