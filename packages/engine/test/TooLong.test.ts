/** Values that are far too long are given up after as much of them as the bound allows, and the log gets no more. */
import { CurrentTask, TaskLimits, TaskStore, TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Result, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as bulk from "../src/internal/bulk.ts"
import { call, get, settle, start } from "./TestTools.ts"

const millions = 5_000_000

/** An array of five million elements that are made when they are looked at, and counted. */
const counted = (element: (at: number) => unknown) => {
  const seen = { visits: 0 }
  const value = new Proxy(Object.assign<Array<unknown>, object>([], { length: millions }), {
    get: (target, name) => {
      if (typeof name !== "string" || !/^\d+$/.test(name)) return Reflect.get(target, name)
      seen.visits++
      return element(Number(name))
    },
    has: (target, name) => (typeof name === "string" && /^\d+$/.test(name)) || Reflect.has(target, name)
  })
  return { seen, value }
}

const heard = () => {
  const lines: Array<string> = []
  const logger = Logger.layer([
    Logger.map(Logger.formatLogFmt, (line) => {
      lines.push(line)
    })
  ])
  return { lines, logger }
}

const limits = { maxResultLength: 10_000, maxEntryLength: 10_000 }

/** The outcome of one call of a tool. */
const outcome = (tool: Tool.Any, handler: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function*() {
    const kit = Toolkit.make(tool)
    const handlers = kit.toLayer({ [tool.name]: () => handler } as never)
    const tools = yield* TaskTools.TaskTools.pipe(
      Effect.provide(
        TaskTools.layer(kit).pipe(
          Layer.provide(handlers as Layer.Layer<never>),
          Layer.provide(TaskLimits.layer(limits))
        )
      )
    )
    return yield* Result.getOrThrow(yield* Option.getOrThrow(tools.get(tool.name)).call({})).run
  })

const schemas: ReadonlyArray<readonly [name: string, schema: Schema.Top]> = [
  ["anything", Schema.Unknown],
  ["JSON", Schema.Json],
  ["numbers", Schema.Array(Schema.Number)],
  ["numbers or nothing", Schema.NullOr(Schema.Array(Schema.Int))],
  ["numbers in a recursive schema", Schema.suspend(() => Schema.Array(Schema.Finite))]
]

describe("five million elements", () => {
  for (const [name, schema] of schemas) {
    for (const kind of ["success", "failure"] as const) {
      it.effect(`as a ${kind} of ${name} are refused after ten thousand characters`, () =>
        Effect.gen(function*() {
          const { seen, value } = counted((at) => at)
          const { lines, logger } = heard()
          const tool = Tool.make("any", { parameters: Schema.Struct({}), success: schema, failure: schema })
          const ended = kind === "success" ? Effect.succeed(value) : Effect.fail(value)
          const result = yield* Effect.provide(outcome(tool, ended), logger)
          assert(result._tag === "Error")
          assert.strictEqual(result.error.message, "The tool's result was refused: it is longer than 10000 characters")
          assert.isBelow(seen.visits, 10_001)
          assert.isBelow(lines.join("").length, 1_000)
        }))
    }
  }

  it.effect("within a struct are refused as soon", () =>
    Effect.gen(function*() {
      const { seen, value } = counted((at) => ({ name: `n${at}` }))
      const rows = Schema.Array(Schema.Struct({ name: Schema.String }))
      const tool = Tool.make("any", { parameters: Schema.Struct({}), success: Schema.Struct({ rows }) })
      const result = yield* Effect.provide(outcome(tool, Effect.succeed({ rows: value })), heard().logger)
      assert.isTrue(result._tag === "Error" && result.error.message.includes("longer than 10000"))
      assert.isBelow(seen.visits, 10_001)
    }))

  it.effect("that no tool declared are not written to the log", () =>
    Effect.gen(function*() {
      for (const wrap of [Effect.fail, Effect.die, (value: unknown) => Effect.die(new Error("x", { cause: value }))]) {
        const { seen, value } = counted((at) => at)
        const { lines, logger } = heard()
        const tool = Tool.make("any", { parameters: Schema.Struct({}), failure: Schema.String })
        const result = yield* Effect.provide(outcome(tool, wrap(value)), logger)
        const error = { code: -32603, message: "The tool failed unexpectedly" }
        assert.deepStrictEqual(result, { _tag: "Error", error })
        assert.isBelow(seen.visits, 30_000)
        assert.isBelow(lines.join("").length, 2_000)
        assert.include(lines.join(""), "too long for the log")
      }
    }))

  for (const [name, schema] of schemas) {
    it.effect(`as a step of ${name} end the task`, () =>
      Effect.gen(function*() {
        const { seen, value } = counted((at) => at)
        const step = Effect.flatMap(CurrentTask.CurrentTask, (task) =>
          task.step("all rows", schema as Schema.Codec<unknown, unknown>, Effect.succeed(value)))
        const process = yield* start({ once: () => step })
        const taskId = yield* call(process, "once")
        yield* settle
        const ended = yield* get(process, taskId)
        const message = "The step all rows was refused: it is longer than 262144 characters"
        assert.deepStrictEqual(ended.status === "failed" && ended.error.message, message)
        assert.isBelow(seen.visits, 262_145)
      }).pipe(Effect.provide([Layer.fresh(TaskStore.layerMemory), heard().logger])))
  }
})

describe("five million messages of a conversation", () => {
  it.effect("are not looked at one by one before the task ends", () =>
    Effect.gen(function*() {
      const { seen, value } = counted((at) => ({ role: "user", content: { type: "text", text: `${at}` } }))
      const messages = value as unknown as Parameters<CurrentTask.TaskHandle["sample"]>[1]["messages"]
      const once = Effect.flatMap(CurrentTask.CurrentTask, (task) =>
        Effect.orDie(task.sample("talk", { messages, maxTokens: 10 })))
      const process = yield* start({ once: () => once })
      const taskId = yield* call(process, "once", "", { sampling: {} })
      yield* settle
      const ended = yield* get(process, taskId)
      const message = "The question talk was refused: it is longer than 262144 characters"
      assert.deepStrictEqual(ended.status === "failed" && ended.error.message, message)
      assert.isBelow(seen.visits, 262_145)
    }).pipe(Effect.provide([Layer.fresh(TaskStore.layerMemory), heard().logger])))
})

const cycle = (): unknown => {
  const value: Record<string, unknown> = {}
  value["self"] = value
  return value
}

const bad: ReadonlyArray<readonly [name: string, make: () => unknown, schema: Schema.Constraint, says: RegExp]> = [
  ["a cycle", cycle, Schema.Unknown, /cannot be carried by JSON/],
  ["a cycle in a struct", () => ({ a: cycle() }), Schema.Struct({ a: Schema.Unknown }), /cannot be carried by JSON/],
  ["a BigInt", () => ({ n: 1n }), Schema.Unknown, /cannot be carried by JSON/],
  [
    "a throwing toJSON",
    () => ({ toJSON: () => assert.fail("the reason") }),
    Schema.Unknown,
    /cannot be carried by JSON/
  ],
  [
    "a throwing getter",
    () => ({
      get a(): string {
        return assert.fail("the reason")
      }
    }),
    Schema.Struct({ a: Schema.String }),
    /cannot be carried by JSON/
  ],
  ["a value of another type", () => "text", Schema.Number, /does not fit the schema of the step/]
]

describe("a step whose value cannot be kept", () => {
  for (const [name, make, schema, says] of bad) {
    it.effect(`says which and why: ${name}`, () =>
      Effect.gen(function*() {
        const { lines, logger } = heard()
        const step = Effect.flatMap(CurrentTask.CurrentTask, (task) =>
          task.step("all rows", schema as Schema.Codec<unknown, unknown>, Effect.sync(make)))
        yield* Effect.gen(function*() {
          const process = yield* start({ once: () => step })
          const taskId = yield* call(process, "once")
          yield* settle
          const ended = yield* get(process, taskId)
          assert(ended.status === "failed")
          assert.match(ended.error.message, /^The step all rows was refused: it /)
          assert.match(ended.error.message, says)
          assert.notInclude(ended.error.message, "the reason")
          const [line = "", ...others] = lines
          assert.deepStrictEqual(others, [])
          assert.include(line, ended.error.message)
          assert.include(line, `taskId=${taskId}`)
          assert.include(line, "tool=once")
          if (name.startsWith("a throwing")) assert.include(line, "the reason")
        }).pipe(Effect.provide(logger))
      }).pipe(Effect.provide(Layer.fresh(TaskStore.layerMemory))))
  }
})

describe("what is certain to be too long", () => {
  it.prop("is never what is short enough", [
    Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.NullOr(Schema.Boolean)])),
    Schema.Record(Schema.String, Schema.Array(Schema.Finite)),
    Schema.Struct({ a: Schema.optionalKey(Schema.String), b: Schema.Array(Schema.Struct({ c: Schema.Finite })) })
  ], (values) => {
    const all = [
      Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.NullOr(Schema.Boolean)])),
      Schema.Record(Schema.String, Schema.Array(Schema.Finite)),
      Schema.Struct({ a: Schema.optionalKey(Schema.String), b: Schema.Array(Schema.Struct({ c: Schema.Finite })) })
    ]
    for (const [index, schema] of all.entries()) {
      const value = values[index]
      const bounds = { maxLength: JSON.stringify(value).length, maxDepth: 3 }
      assert.isUndefined(bulk.refusal(schema.ast, value, bounds))
    }
  })

  it("is not what its schema makes shorter", () => {
    const joined = Schema.Array(Schema.String).pipe(
      Schema.encodeTo(Schema.String, {
        decode: { run: Effect.succeed } as never,
        encode: { run: Effect.succeed } as never
      })
    )
    const long = Array.from({ length: 1_000 }, () => "x")
    assert.isUndefined(bulk.refusal(joined.ast, long, { maxLength: 10, maxDepth: 1 }))
  })
})
