/** That every request of a test ends, whatever its store was told to do to it, and that a mistaken answer is told. */
import { CurrentTask, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Fault, FaultyStore, TestTasks } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"

const policy = { ttl: "1 day", recovery: "resume" } as const

const Ask = Tool.make("ask", { parameters: Schema.Struct({}), success: Schema.Unknown }).annotate(
  TaskTool.Policy,
  policy
)

const unavailable = CurrentTask.InputUnavailable

/** Asks, and says with what its call ends that nobody answers. */
const Insist = Tool.make("insist", {
  parameters: Schema.Struct({}),
  success: Schema.Unknown,
  failure: unavailable
}).annotate(TaskTool.Policy, policy)

const Sleep = Tool.make("sleep", { parameters: Schema.Struct({}), success: Schema.Unknown }).annotate(
  TaskTool.Policy,
  { ...policy, decide: () => "direct" }
)

/** Asks in its call, before there is a task. */
const First = Tool.make("first", { parameters: Schema.Struct({}), success: Schema.Unknown, failure: unavailable })
  .annotate(TaskTool.Policy, policy)

const Kit = Toolkit.make(Ask, Insist, First, Sleep)

const form = { message: "Sure?", schema: Schema.Struct({ sure: Schema.Boolean }) }

const ask = Effect.gen(function*() {
  const task = yield* CurrentTask.CurrentTask
  return yield* task.elicit("sure", form)
})

const tools = Layer.provide(
  TaskTools.layer(Kit),
  Kit.toLayer({
    ask: () => Effect.catchTag(ask, "InputUnavailable", () => Effect.succeed("unasked")),
    insist: () => ask,
    first: TaskTool.askFirst(() => ask, (_, answer) => Effect.succeed(answer.action)),
    sleep: () => Effect.as(Effect.sleep("1 hour"), "slept")
  })
)

const faulty = Effect.provide(
  TestTasks.layer(tools).pipe(Layer.provideMerge(FaultyStore.layer), Layer.provide(Layer.fresh(TaskStore.layerMemory)))
)

const services = Effect.all({ tasks: TestTasks.TestTasks, faults: FaultyStore.FaultyStore })

interface Request {
  readonly name: string
  readonly method: string
  /** The operations of a store that it needs. */
  readonly needs: ReadonlyArray<FaultyStore.Operation>
  readonly send: (tasks: TestTasks.TestClient, task: TestTasks.TestTask) => Effect.Effect<unknown, unknown>
}

const accepted = { action: "accept", content: { sure: true } }

/** Whatever a test may ask of the server, of a task that asks. */
const requests: ReadonlyArray<Request> = [
  { name: "call", method: "tools/call", needs: ["create"], send: (tasks) => tasks.call("ask", {}) },
  { name: "now", method: "tasks/get", needs: ["view"], send: (_, task) => task.now },
  { name: "until", method: "tasks/get", needs: ["view"], send: (_, task) => task.until("input_required") },
  {
    name: "ended",
    method: "tasks/get",
    needs: ["view"],
    send: (tasks, task) =>
      Effect.andThen(tasks.send("tasks/cancel", { taskId: task.taskId }), task.ended)
  },
  {
    name: "accept",
    method: "tasks/update",
    needs: ["read", "replace"],
    send: (_, task) => task.accept("sure", { sure: true })
  },
  { name: "decline", method: "tasks/update", needs: ["read", "replace"], send: (_, task) => task.decline("sure") },
  {
    name: "answer",
    method: "tasks/update",
    needs: ["read", "replace"],
    send: (_, task) => task.answer({ sure: accepted })
  },
  { name: "cancel", method: "tasks/cancel", needs: ["read", "replace"], send: (_, task) => task.cancel },
  {
    name: "send",
    method: "tasks/update",
    needs: ["read", "replace"],
    send: (tasks, { taskId }) => tasks.send("tasks/update", { taskId, inputResponses: { sure: accepted } })
  },
  { name: "a restart", method: "start of the server", needs: ["list"], send: (tasks) => tasks.restart("shutdown") }
]

/** What comes of a request. */
const outcomeOf = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) ? "ends" : String(Cause.squash(exit.cause))

const trying = Effect.fnUntraced(function*({ send }: Request, operation: FaultyStore.Operation, fault: Fault.Fault) {
  const { faults, tasks } = yield* services
  const task = yield* tasks.call("ask", {})
  yield* task.until("input_required")
  yield* faults.next(operation, fault)
  const began = yield* Clock.currentTimeMillis
  const outcome = outcomeOf(yield* Effect.exit(send(tasks, task)))
  return { outcome, tookMs: (yield* Clock.currentTimeMillis) - began }
})

describe("a request of a test", () => {
  for (const request of requests) {
    for (const operation of request.needs) {
      const suffers = `${request.name}, whose ${operation}`
      it.effect(`${suffers} is late, is waited for`, () =>
        Effect.gen(function*() {
          const late = yield* trying(request, operation, Fault.delay("3 hours"))
          assert.strictEqual(late.outcome, "ends")
          assert.isAtLeast(late.tookMs, 3 * 60 * 60 * 1_000)
        }).pipe(faulty))

      it.effect(`${suffers} is to be done after the next, is waited for`, () =>
        Effect.gen(function*() {
          assert.strictEqual((yield* trying(request, operation, Fault.reorder)).outcome, "ends")
        }).pipe(faulty))

      it.effect(`${suffers} is dropped, dies in words`, () =>
        Effect.gen(function*() {
          const { outcome } = yield* trying(request, operation, Fault.drop)
          assert.strictEqual(
            outcome,
            `NoReply: No reply to ${request.method}: its ${operation} was dropped, by a fault of this test`
          )
        }).pipe(faulty))
    }
  }
})

describe("a request that is later than anybody waits", () => {
  for (const request of requests.filter(({ name }) => ["call", "now", "a restart"].includes(name))) {
    it.effect(`dies in words: ${request.name}`, () =>
      Effect.gen(function*() {
        const [operation = "view"] = request.needs
        const { outcome } = yield* trying(request, operation, Fault.delay("1000 days"))
        assert.include(outcome, `No reply to ${request.method}: its ${operation} is delayed by 1000d, by a fault`)
      }).pipe(faulty))
  }
})

describe("a request that is under way when its test ends", () => {
  const stuck = Layer.effect(TaskStore.TaskStore, Effect.map(TaskStore.TaskStore, (store) =>
    FaultyStore.around(store, ({ operation }, effect) => operation === "create" ? Effect.never : effect)))

  it.effect("does not keep it from ending, though it cannot be interrupted", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const calling = yield* Effect.forkChild(tasks.call("ask", {}), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(calling.pollUnsafe())
    }).pipe(Effect.provide(TestTasks.layer(tools).pipe(
      Layer.provide(stuck),
      Layer.provide(Layer.fresh(TaskStore.layerMemory))
    ))))
})

describe("an answer of a test", () => {
  const wrong: ReadonlyArray<readonly [name: string, send: Request["send"], words: string]> = [
    ["accept", (_, task) => task.accept("nokey", { sure: true }), `under "nokey": it asks under ["sure"]`],
    ["decline", (_, task) => task.decline("Sure"), `under "Sure": it asks under ["sure"]`],
    ["answer", (_, task) => task.answer({ sure: accepted, sure2: accepted }), `under "sure2": it asks under ["sure"]`],
    ["answer", (_, task) => task.answer(JSON.parse(`{"__proto__":{}}`)), `under "__proto__": it asks under ["sure"]`]
  ]
  for (const [name, send, words] of wrong) {
    it.effect(`by ${name}, to something that is not asked, is told: ${words}`, () =>
      Effect.gen(function*() {
        const { faults, tasks } = yield* services
        const task = yield* tasks.call("ask", {})
        yield* task.until("input_required")
        const calls = (yield* faults.calls).length
        const error = yield* Effect.flip(send(tasks, task))
        assert.instanceOf(error, TestTasks.NotAsked)
        assert.include(error.message, words)
        assert.strictEqual((yield* faults.calls).length, calls)
        assert.strictEqual((yield* task.now).status, "input_required")
      }).pipe(faulty))
  }

  it.effect("is told when the question is answered already, or its task has ended", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const task = yield* tasks.call("ask", {})
      yield* task.until("input_required")
      yield* task.accept("sure", { sure: true })
      const early = yield* Effect.flip(task.accept("sure", { sure: true }))
      assert.include(early.message, `asks nothing under "sure": it is `)
      yield* task.until("completed")
      const late = yield* Effect.flip(task.accept("sure", { sure: true }))
      assert.include(late.message, `asks nothing under "sure": it is completed`)
    }).pipe(faulty))

  it.effect("may be wrong on purpose: by send, which the server acknowledges and ignores", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const task = yield* tasks.call("ask", {})
      yield* task.until("input_required")
      const inputResponses = { nokey: accepted }
      yield* tasks.send("tasks/update", { taskId: task.taskId, inputResponses })
      assert.strictEqual((yield* task.now).status, "input_required")
    }).pipe(faulty))

  it.effect("is looked at first without a fault that is meant for others", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      const task = yield* tasks.call("ask", {})
      yield* task.until("input_required")
      yield* faults.next("view", Fault.drop)
      yield* task.accept("sure", { sure: true })
      const polled = outcomeOf(yield* Effect.exit(task.now))
      assert.include(polled, "No reply to tasks/get: its view was dropped")
    }).pipe(faulty))
})

describe("a call that asks before there is a task", () => {
  it.effect("is never a task, shows what it asks, and becomes one when it is sent again with the answer", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const never = yield* Effect.flip(tasks.call("first", {}))
      assert.instanceOf(never, TestTasks.NeverReached)
      const { inputRequests, requestState, resultType } = never.seen as Record<string, Schema.Json>
      assert.strictEqual(resultType, "input_required")
      assert.deepStrictEqual(Object.keys(inputRequests as object), ["sure"])
      const answered = { inputResponses: { sure: accepted }, requestState: requestState ?? null }
      const { taskId } = yield* tasks.send("tools/call", { name: "first", arguments: {}, ...answered })
      const { result } = yield* tasks.task(String(taskId)).until("completed")
      assert.deepStrictEqual(result["content"], [{ type: "text", text: "accept" }])
    }).pipe(faulty))
})

describe("a direct call of a test", () => {
  it.effect("of a tool that asks is answered by the tool, or refused", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      assert.deepStrictEqual((yield* tasks.direct("ask", {}))["content"], [{ type: "text", text: "unasked" }])
      for (const tool of ["insist", "first"]) {
        const refusal = yield* Effect.flip(tasks.direct(tool, {}))
        assert.strictEqual(refusal.code, -32021)
        assert.deepStrictEqual(refusal.data, { requiredCapabilities: { elicitation: { form: {} } } })
      }
    }).pipe(faulty))

  it.effect("that waits for time is told so when nobody lets any pass", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const outcome = outcomeOf(yield* Effect.exit(tasks.direct("sleep", {})))
      assert.match(outcome, /No reply to tools\/call: it waits for time to pass, .*: fork it, and adjust the clock/)
    }).pipe(faulty))

  it.effect("is waited for as long as the test lets time pass, however slowly", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const direct = yield* Effect.forkChild(tasks.direct("sleep", {}))
      for (let minutes = 0; minutes < 60; minutes++) {
        assert.isUndefined(direct.pollUnsafe())
        yield* TestClock.withLive(Effect.sleep(50))
        yield* TestClock.adjust("1 minute")
      }
      yield* Fiber.join(direct)
    }).pipe(faulty))

  it.effect("lets time pass where it is made by a client that knows tasks", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const never = yield* Effect.flip(tasks.call("sleep", {}))
      assert.include(never.message, "slept")
      assert.strictEqual(yield* Clock.currentTimeMillis, 60 * 60 * 1_000)
    }).pipe(faulty))
})
