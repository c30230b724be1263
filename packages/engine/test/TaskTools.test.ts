import { CurrentTask, TaskLimits, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option, Result, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const any = Tool.make("any", { parameters: Schema.Struct({}), success: Schema.Unknown, failure: Schema.Unknown })

/** The outcome of one call of a tool whose handler is given. */
const outcome = (handler: Effect.Effect<unknown, unknown>, limits: Partial<TaskLimits.Limits> = {}) =>
  Effect.gen(function*() {
    const kit = Toolkit.make(any)
    const tools = yield* TaskTools.TaskTools.pipe(
      Effect.provide(
        TaskTools.layer(kit).pipe(
          Layer.provide(kit.toLayer({ any: () => handler })),
          Layer.provide(TaskLimits.layer(limits))
        )
      )
    )
    const call = Result.getOrThrow(yield* Option.getOrThrow(tools.get("any")).call({}))
    return yield* call.run
  })

const deep = (levels: number): unknown => {
  let value: unknown = "bottom"
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

const cycle = (): unknown => {
  const value: Record<string, unknown> = {}
  value["self"] = value
  return value
}

const throwing = (): unknown => ({
  get secret(): string {
    throw new Error("/srv/secret")
  }
})

describe("outcomes that JSON cannot carry", () => {
  const bad: ReadonlyArray<readonly [string, () => unknown]> = [
    ["a cycle", cycle],
    ["a BigInt", () => ({ n: 1n })],
    ["a throwing getter", throwing],
    ["a throwing toJSON", () => ({ toJSON: () => assert.fail("/srv/secret") })],
    ["60,000 levels", () => deep(60_000)],
    ["one level too many", () => deep(65)],
    ["too many characters", () => "x".repeat(2_000)]
  ]
  for (const [name, make] of bad) {
    for (const kind of ["success", "failure"] as const) {
      it.effect(`${name} as a ${kind} is an error in one short sentence`, () =>
        Effect.gen(function*() {
          const ended = kind === "success" ? Effect.sync(make) : Effect.flatMap(Effect.sync(make), Effect.fail)
          const result = yield* outcome(ended, { maxResultLength: 1_000 })
          assert(result._tag === "Error")
          assert.strictEqual(result.error.code, -32603)
          assert.isBelow(result.error.message.length, 120)
          assert.notInclude(result.error.message, "/srv")
        }))
    }
  }
})

describe("outcomes that JSON can carry", () => {
  const good: ReadonlyArray<readonly [string, unknown, string]> = [
    ["text", "hi", `{"resultType":"complete","content":[{"type":"text","text":"hi"}]}`],
    ["nothing", undefined, `{"resultType":"complete","content":[]}`],
    [
      "NaN and infinities become null",
      { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: undefined },
      `{"resultType":"complete","content":[{"type":"text","text":"{\\"a\\":null,\\"b\\":null}"}],` +
      `"structuredContent":{"a":null,"b":null}}`
    ],
    ["a Map has no members", new Map([[1, 2]]), "{}"],
    ["a lone surrogate is escaped", "\ud800", String.raw`\ud800`]
  ]
  for (const [name, value, text] of good) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const result = yield* outcome(Effect.succeed(value))
        assert(result._tag === "Result")
        assert.include(result.result, text)
        assert.isFalse(result.isError)
      }))
  }

  it.effect("a protocol error is that error, failed with or thrown", () =>
    Effect.gen(function*() {
      const error = new TaskTool.ProtocolError({ code: -32001, message: "gone", data: { id: 7 } })
      const expected = { _tag: "Error", error: { code: -32001, message: "gone", data: { id: 7 } } } as const
      assert.deepStrictEqual(yield* outcome(Effect.fail(error)), expected)
      assert.deepStrictEqual(yield* outcome(Effect.die(error)), expected)
    }))

  it.effect("a protocol error under a code that is the protocol's own is an internal error with its words", () =>
    Effect.gen(function*() {
      for (const code of [-32050, -32042, -32020, -32002]) {
        const error = new TaskTool.ProtocolError({ code, message: "gone", data: { id: 7 } })
        const expected = { _tag: "Error", error: { code: -32603, message: "gone", data: { id: 7 } } } as const
        assert.deepStrictEqual(yield* outcome(Effect.fail(error)), expected)
      }
    }))

  it.effect("an interruption stays one", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(outcome(Effect.interrupt))
      assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    }))
})

describe("registration", () => {
  const register = (tool: Tool.Any) =>
    Effect.exit(
      TaskTools.TaskTools.pipe(
        Effect.provide(
          TaskTools.layer(Toolkit.make(tool as typeof any)).pipe(
            Layer.provide(Toolkit.make(tool as typeof any).toLayer({ any: () => Effect.void }))
          )
        )
      )
    )

  it.effect("a name that MCP does not allow stops the start [D3]", () =>
    Effect.gen(function*() {
      const exit = yield* register(Tool.make("a b", { success: Schema.Void }))
      assert(Exit.isFailure(exit))
    }))

  it.effect("arguments are decoded before anything runs, and what is wrong is said [D6]", () =>
    Effect.gen(function*() {
      const kit = Toolkit.make(
        Tool.make("export", { parameters: Schema.Struct({ rows: Schema.Int }), success: Schema.String })
          .annotate(TaskTool.Policy, {})
      )
      const tools = yield* TaskTools.TaskTools.pipe(
        Effect.provide(
          TaskTools.layer(kit).pipe(Layer.provide(kit.toLayer({ export: ({ rows }) => Effect.succeed(`${rows}`) })))
        )
      )
      const tool = Option.getOrThrow(tools.get("export"))
      for (const args of [{}, { rows: "7" }, { rows: 1.5 }, JSON.parse(`{"__proto__":{"rows":7}}`)]) {
        const called = yield* tool.call(args)
        assert(Result.isFailure(called))
        assert.include(called.failure, "rows")
      }
      const called = yield* tool.call({ rows: 7, task: { ttl: 1 } })
      assert(Result.isSuccess(called))
      assert.strictEqual(called.success.mode, "task")
      assert.isTrue(Option.isNone(tools.get("__proto__")))
      assert.strictEqual(Option.getOrThrow(tool.settings).policy.recovery, "fail")
    }))

  it.effect("recovery follows the annotations unless it is given", () =>
    Effect.gen(function*() {
      const make = (name: string) => Tool.make(name, { success: Schema.Void })
      const kit = Toolkit.make(
        make("plain"),
        make("read").annotate(Tool.Readonly, true).annotate(TaskTool.Policy, {}),
        make("idempotent").annotate(Tool.Idempotent, true).annotate(TaskTool.Policy, {}),
        make("given").annotate(Tool.Readonly, true).annotate(TaskTool.Policy, { recovery: "fail" })
      )
      const nothing = () => Effect.void
      const { all } = yield* TaskTools.TaskTools.pipe(
        Effect.provide(
          TaskTools.layer(kit).pipe(
            Layer.provide(kit.toLayer({ plain: nothing, read: nothing, idempotent: nothing, given: nothing }))
          )
        )
      )
      assert.deepStrictEqual(
        all.map(({ name, settings }) => [name, Option.getOrUndefined(settings)?.policy.recovery]),
        [["plain", undefined], ["read", "resume"], ["idempotent", "resume"], ["given", "fail"]]
      )
    }))
})

describe("CurrentTask within a plain call", () => {
  it.effect("runs steps, reports to nobody, and cannot ask", () =>
    Effect.gen(function*() {
      const result = yield* outcome(Effect.gen(function*() {
        const task = yield* CurrentTask.CurrentTask
        yield* task.report("half way")
        yield* task.extend("1 hour")
        const rows = yield* task.step("query", Schema.Int, Effect.succeed(7))
        const asked = yield* Effect.flip(task.elicit("ok", { message: "?", schema: Schema.Struct({}) }))
        return `${rows} ${asked.reason} ${Option.isNone(task.taskId)} ${task.attempt}`
      }))
      assert(result._tag === "Result")
      assert.include(result.result, "7 NotATask true 0")
    }))
})
