/** The questions of a task: every kind of them, what may answer them, and keys that are spent. */
import { CurrentTask, TaskLimits, TaskStore } from "@effect-mcp-tasks/engine"
import * as FaultyStore from "@effect-mcp-tasks/testing/FaultyStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Ref, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as taskHandle from "../src/internal/taskHandle.ts"
import { call, get, owner, type Process, settle, start } from "./TestTools.ts"

const store = Effect.provide(Layer.fresh(TaskStore.layerMemory))

type Ask = (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, unknown>

/** A handler that asks and returns what came of it. */
const asks = (ask: Ask) => () => Effect.orDie(Effect.flatMap(CurrentTask.CurrentTask, ask))

const all = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
  extensions: { "io.modelcontextprotocol/tasks": {} }
}

const parked = Effect.fnUntraced(function*(ask: Ask) {
  const process = yield* start({ resumable: asks(ask) })
  const taskId = yield* call(process, "resumable", "", all)
  yield* settle
  return { process, taskId }
})

const requests = Effect.fnUntraced(function*(process: Process, taskId: string) {
  return (yield* get(process, taskId)).inputRequests as Record<string, Schema.JsonObject>
})

const form = { message: "Overwrite?", schema: Schema.Struct({ overwrite: Schema.Boolean }) }
const yes = { action: "accept", content: { overwrite: true } } as const
const hello = { role: "user", content: { type: "text", text: "Say hello" } } as const
const reply = { role: "assistant", content: { type: "text", text: "Hello" }, model: "m", stopReason: "endTurn" }
const roots = { roots: [{ uri: "file:///home/ada", name: "Home" }] }

describe("every kind of question", () => {
  const kinds: ReadonlyArray<readonly [
    string,
    Ask,
    wire: Schema.JsonObject,
    good: ReadonlyArray<readonly [Schema.Json, Schema.Json]>,
    bad: ReadonlyArray<Schema.Json>
  ]> = [
    [
      "elicitUrl",
      (task) => task.elicitUrl("q", { message: "Sign in", url: "https://a.example/connect?id=1" }),
      {
        method: "elicitation/create",
        params: { mode: "url", message: "Sign in", url: "https://a.example/connect?id=1" }
      },
      [[{ action: "accept" }, "accept"], [{ action: "accept", content: { ignored: 1 } }, "accept"], [
        { action: "decline", content: 7 },
        "decline"
      ], [{ action: "cancel" }, "cancel"]],
      [{}, { action: "yes" }, "accept", null, roots]
    ],
    [
      "sample",
      (task) =>
        task.sample("q", {
          messages: [hello],
          maxTokens: 9,
          systemPrompt: "Be brief",
          modelPreferences: { hints: [{ name: "small" }], costPriority: 1 },
          temperature: 0.5,
          stopSequences: ["."],
          tools: [{ name: "clock", inputSchema: { type: "object" } }],
          toolChoice: { mode: "auto" }
        }),
      {
        method: "sampling/createMessage",
        params: {
          messages: [hello],
          maxTokens: 9,
          systemPrompt: "Be brief",
          modelPreferences: { hints: [{ name: "small" }], costPriority: 1 },
          temperature: 0.5,
          stopSequences: ["."],
          tools: [{ name: "clock", inputSchema: { type: "object" } }],
          toolChoice: { mode: "auto" }
        }
      },
      [
        [reply, reply],
        [{ ...reply, content: [{ type: "tool_use", id: "1", name: "clock", input: {} }], stopReason: "toolUse" }, {
          ...reply,
          content: [{ type: "tool_use", id: "1", name: "clock", input: {} }],
          stopReason: "toolUse"
        }],
        [{ ...reply, content: { type: "image", data: "aGk=", mimeType: "image/png" }, stopReason: "its own" }, {
          ...reply,
          content: { type: "image", data: "aGk=", mimeType: "image/png" },
          stopReason: "its own"
        }]
      ],
      [
        {},
        { ...reply, role: "system" },
        { ...reply, model: 1 },
        { ...reply, content: "Hello" },
        { ...reply, content: { type: "text" } },
        { ...reply, content: { type: "video", data: "" } },
        { ...reply, content: [{ type: "tool_use", id: "1", name: "clock" }] },
        { action: "accept", content: {} },
        { action: "decline" },
        null
      ]
    ],
    [
      "listRoots",
      (task) => task.listRoots("q"),
      { method: "roots/list" },
      [[roots, roots.roots], [{ roots: [] }, []]],
      [
        {},
        { roots: {} },
        { roots: [{}] },
        { roots: [{ uri: "https://a.example" }] },
        { roots: [{ uri: "/home" }] },
        { roots: [{ uri: "file:///a", name: 1 }] },
        { action: "accept" },
        []
      ]
    ]
  ]
  for (const [name, ask, wire, good, bad] of kinds) {
    it.effect(`${name} is put as the protocol has it, refuses what is no answer, and takes what is one [F5, F10]`, () =>
      Effect.gen(function*() {
        for (const [response, meaning] of good) {
          const { process, taskId } = yield* parked(ask)
          assert.deepStrictEqual(yield* requests(process, taskId), { q: wire })
          for (const q of bad) {
            const error = yield* Effect.flip(process.engine.answer(owner, taskId, { q }))
            assert.strictEqual(error._tag, "InvalidAnswer", JSON.stringify(q))
          }
          assert.deepStrictEqual(yield* requests(process, taskId), { q: wire })
          yield* process.engine.answer(owner, taskId, { q: response })
          yield* settle
          const { result } = yield* get(process, taskId)
          assert.deepStrictEqual(result.structuredContent ?? result.content[0]?.text, meaning)
        }
      }).pipe(store))
  }

  it.effect("what was not declared is told to the handler, with what it takes [C9, F5]", () =>
    Effect.gen(function*() {
      const missing: ReadonlyArray<readonly [Ask, Schema.JsonObject]> = [
        [(task) => task.elicit("q", form), { elicitation: { form: {} } }],
        [(task) => task.elicitUrl("q", { message: "Go", url: "https://a.example" }), { elicitation: { url: {} } }],
        [(task) => task.sample("q", { messages: [hello], maxTokens: 1 }), { sampling: {} }],
        [(task) => task.sample("q", { messages: [hello], maxTokens: 1, tools: [] }), { sampling: { tools: {} } }],
        [
          (task) => task.sample("q", { messages: [hello], maxTokens: 1, toolChoice: { mode: "auto" } }),
          { sampling: { tools: {} } }
        ],
        [(task) => task.listRoots("q"), { roots: {} }]
      ]
      for (const [ask, required] of missing) {
        const process = yield* start({ once: asks((task) => Effect.flip(ask(task))), resumable: asks(ask) })
        const caught = yield* call(process, "once", "", { extensions: all.extensions })
        const uncaught = yield* call(process, "resumable", "", { extensions: all.extensions })
        yield* settle
        const { result } = yield* get(process, caught)
        assert.include(JSON.stringify(result.structuredContent), `"NotDeclared"`)
        const { error, status } = yield* get(process, uncaught)
        assert.strictEqual(status, "failed")
        assert.deepStrictEqual([error.code, error.data], [-32021, { requiredCapabilities: required }])
      }
    }).pipe(store))

  const useless: Readonly<Record<string, Ask>> = {
    "a page that is no address": (task) => task.elicitUrl("q", { message: "Go", url: "a.example" }),
    "a page that is a script": (task) => task.elicitUrl("q", { message: "Go", url: "javascript:alert(1)" }),
    "a page with a password": (task) => task.elicitUrl("q", { message: "Go", url: "https://a:b@a.example" }),
    "a form with a field of fields": (task) =>
      task.elicit("q", { message: "?", schema: Schema.Struct({ a: Schema.Struct({ b: Schema.String }) }) }),
    "a tool result that answers nothing": (task) =>
      task.sample("q", {
        messages: [{ role: "user", content: [{ type: "tool_result", toolUseId: "1", content: [] }] }],
        maxTokens: 1
      }),
    "a tool use without its result": (task) =>
      task.sample("q", {
        messages: [hello, { role: "assistant", content: { type: "tool_use", id: "1", name: "t", input: {} } }, hello],
        maxTokens: 1
      })
  }
  for (const [what, ask] of Object.entries(useless)) {
    it.effect(`${what} is put to nobody: the task fails`, () =>
      Effect.gen(function*() {
        const { process, taskId } = yield* parked(ask)
        const { error, status } = yield* get(process, taskId)
        assert.deepStrictEqual([status, error], ["failed", { code: -32603, message: "The tool failed unexpectedly" }])
      }).pipe(store))
  }
})

describe("a key that is spent (TaskMachine, invariant 3)", () => {
  const twice: Ask = Effect.fnUntraced(function*(task) {
    const first = yield* Effect.timeoutOption(task.elicit("confirm", form), "5 seconds")
    return Option.isSome(first) ? "at once" : (yield* task.elicit("confirm", form)).action
  })

  it.effect("a question that is asked again after it was withdrawn is shown under another key [F1, F3]", () =>
    Effect.gen(function*() {
      const { process, taskId } = yield* parked(twice)
      const shown = yield* requests(process, taskId)
      assert.deepStrictEqual(Object.keys(shown), ["confirm"])
      yield* TestClock.adjust("6 seconds")
      yield* settle
      const again = yield* requests(process, taskId)
      assert.deepStrictEqual(Object.keys(again), ["confirm#2"])
      assert.deepStrictEqual(again["confirm#2"], shown["confirm"])
      yield* process.engine.answer(owner, taskId, { confirm: yes })
      assert.strictEqual((yield* get(process, taskId)).status, "input_required")
      yield* process.engine.answer(owner, taskId, { "confirm#2": yes })
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).result.content[0].text, "accept")
    }).pipe(store))

  it.effect("a question that is given up on its way to the store is withdrawn once it is there", () =>
    Effect.gen(function*() {
      // What was sent is done, though whoever sent it has gone.
      const late = FaultyStore.around(yield* TaskStore.TaskStore, ({ operation }, effect) =>
        operation === "replace"
          ? Effect.flatMap(Effect.forkDetach(Effect.delay(effect, "1 second")), Fiber.join)
          : effect)
      const gone: Ask = (task) =>
        Effect.andThen(Effect.timeoutOption(task.elicit("confirm", form), "500 millis"), Effect.never)
      const { process, taskId } = yield* Effect.provideService(parked(gone), TaskStore.TaskStore, late)
      yield* TestClock.adjust("5 seconds")
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "working")
      const { task } = Option.getOrThrow(yield* late.read(taskId))
      assert.deepStrictEqual(task.questions.map(({ key, state }) => [key, state]), [["confirm", "withdrawn"]])
    }).pipe(store))

  it.effect("a run after a restart takes the answer of the last key, and asks nothing more [F1]", () =>
    Effect.gen(function*() {
      const { process, taskId } = yield* parked(twice)
      yield* TestClock.adjust("6 seconds")
      yield* settle
      yield* process.stop
      const second = yield* start({ resumable: asks(twice) })
      yield* settle
      assert.deepStrictEqual(Object.keys(yield* requests(second, taskId)), ["confirm#2"])
      yield* second.engine.answer(owner, taskId, { "confirm#2": yes })
      yield* settle
      assert.strictEqual((yield* get(second, taskId)).result.content[0].text, "at once")
    }).pipe(store))

  const even: Ask = Effect.fnUntraced(function*(task) {
    const schema = Schema.Struct({ n: Schema.Int.check(Schema.isMultipleOf(2)) })
    return yield* task.elicit("n", { message: "How many?", schema })
  })

  it.effect("an answer that fits the form and not the schema is asked for once more, with the reason [F1, F10]", () =>
    Effect.gen(function*() {
      const { process, taskId } = yield* parked(even)
      yield* process.engine.answer(owner, taskId, { n: { action: "accept", content: { n: 3 } } })
      yield* settle
      const again = yield* requests(process, taskId)
      assert.deepStrictEqual(Object.keys(again), ["n#2"])
      assert.match(JSON.stringify(again["n#2"]), /"message":"How many\? \(Expected a value that is a multiple of 2/)
      yield* process.stop
      const second = yield* start({ resumable: asks(even) })
      yield* settle
      assert.deepStrictEqual(yield* requests(second, taskId), again)
      yield* second.engine.answer(owner, taskId, { "n#2": { action: "accept", content: { n: 4 } } })
      yield* settle
      assert.deepStrictEqual((yield* get(second, taskId)).result.structuredContent, {
        action: "accept",
        content: { n: 4 }
      })
    }).pipe(store))

  it.effect("a reason is short, whatever it is", () =>
    Effect.gen(function*() {
      const never = Schema.String.check(Schema.makeFilter(() => "no ".repeat(1_000)))
      const { process, taskId } = yield* parked((task) =>
        task.elicit("s", { message: "Which?", schema: Schema.Struct({ s: never }) })
      )
      yield* process.engine.answer(owner, taskId, { s: { action: "accept", content: { s: "a" } } })
      yield* settle
      const again = (yield* requests(process, taskId))["s#2"]
      assert.match(JSON.stringify(again), /"message":"Which\? \((no )+/)
      assert.isBelow(JSON.stringify(again).length, 400)
    }).pipe(store))

  it.effect("a key that is given up while it is asked again is spent all the same", () =>
    Effect.gen(function*() {
      const { process, taskId } = yield* parked(() => Effect.never)
      const stored = Option.getOrThrow(yield* (yield* TaskStore.TaskStore).read(taskId))
      const put: Array<string> = []
      const rejected = { _tag: "TaskRejected", reason: "KeyWithdrawn", taskId, command: "Ask" } as const
      const handle = taskHandle.make({
        taskId: Option.some(taskId),
        number: 1,
        task: stored.task,
        standing: "current",
        mute: undefined,
        give: () => Effect.die("gave"),
        ask: ({ key, request }) =>
          Effect.sync(() => {
            put.push(key)
            return key === "confirm"
              ? Result.fail(rejected)
              : Result.succeed({ key, request, state: "answered", response: yes } as const)
          })
      }, TaskLimits.defaults)
      assert.deepStrictEqual(yield* handle.elicit("confirm", form), yes)
      assert.deepStrictEqual(put, ["confirm", "confirm#2"])
      yield* process.engine.cancel(owner, taskId)
    }).pipe(store))

  it.effect("asking without end ends the task", () =>
    Effect.gen(function*() {
      const { process, taskId } = yield* parked((task) =>
        Effect.forever(Effect.timeoutOption(task.elicit("confirm", form), "1 milli"))
      )
      yield* TestClock.adjust("200 millis")
      yield* settle
      const { error } = yield* get(process, taskId)
      assert.strictEqual(error.message, "The tool was stopped: it asked more than 100 questions")
    }).pipe(store))
})

describe("a handler that waits for an answer and cannot be interrupted", () => {
  const stubborn = asks((task) => Effect.uninterruptible(task.elicit("confirm", form)))

  it.effect("ends when its task is cancelled", () =>
    Effect.gen(function*() {
      const ended = yield* Ref.make(false)
      const process = yield* start({ once: () => Effect.ensuring(stubborn(), Ref.set(ended, true)) })
      const taskId = yield* call(process, "once")
      yield* settle
      yield* process.engine.cancel(owner, taskId)
      yield* settle
      assert.isTrue(yield* Ref.get(ended))
      assert.strictEqual((yield* get(process, taskId)).status, "cancelled")
    }).pipe(store))

  it.effect("does not hold up its process, and goes on in the next", () =>
    Effect.gen(function*() {
      const first = yield* start({ resumable: stubborn })
      const taskId = yield* call(first, "resumable")
      yield* settle
      yield* first.stop
      const second = yield* start({ resumable: stubborn })
      yield* settle
      assert.strictEqual((yield* get(second, taskId)).status, "input_required")
      yield* second.engine.answer(owner, taskId, { confirm: yes })
      yield* settle
      assert.strictEqual((yield* get(second, taskId)).status, "completed")
    }).pipe(store))
})
