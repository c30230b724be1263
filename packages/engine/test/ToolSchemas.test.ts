/** What `tools/list` shows of a tool, and what arguments and results are held to (MCP, "Tools"). */
import { TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, Effect, Exit, Layer, Option, Result, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as jsonSchema from "../src/internal/jsonSchema.ts"

const any = Tool.make("any", { parameters: Schema.Unknown, success: Schema.Unknown })

/** Registers one tool with a handler. */
const register = Effect.fnUntraced(function*(tool: Tool.Any, handler: (args: unknown) => Effect.Effect<unknown>) {
  const kit = Toolkit.make(tool as typeof any)
  const { all } = yield* TaskTools.TaskTools.pipe(
    Effect.provide(TaskTools.layer(kit).pipe(Layer.provide(kit.toLayer({ any: handler, [tool.name]: handler }))))
  )
  const [registered] = all
  assert(registered !== undefined)
  return registered
})

const echo = (args: unknown) => Effect.succeed(TaskTool.text(JSON.stringify(args)))

const address: Schema.JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    city: { type: "string", minLength: 1 },
    region: { type: "string", "x-mcp-header": "Region" },
    zip: { type: ["string", "integer"] }
  },
  required: ["city"],
  additionalProperties: false,
  dependentRequired: { zip: ["region"] }
}

const dynamic = (parameters: Schema.JsonObject) => Tool.dynamic("dyn", { parameters, success: TaskTool.ToolResult })

describe("a tool whose parameters are JSON Schema", () => {
  it.effect("shows the schema as it is", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* register(dynamic(address), echo)).definition["inputSchema"], address)
    }))

  it.effect("runs with arguments that satisfy it, as they came", () =>
    Effect.gen(function*() {
      const tool = yield* register(dynamic(address), echo)
      for (const args of [{ city: "Paris" }, { city: "Paris", zip: 1, region: "x" }]) {
        const called = Result.getOrThrow(yield* tool.call(args))
        const outcome = yield* called.run
        assert(outcome._tag === "Result")
        assert.include(outcome.result, JSON.stringify(JSON.stringify(args)).slice(1, -1))
      }
    }))

  it.effect("is not called with others, and says what is wrong with them [C18, D4, D6]", () =>
    Effect.gen(function*() {
      const tool = yield* register(dynamic(address), () => Effect.die("called"))
      const bad: ReadonlyArray<readonly [Schema.JsonObject, RegExp]> = [
        [{}, /required property "city"/],
        [{ city: 1 }, /\/city: .*Expected "string"/],
        [{ city: "" }, /\/city: String is too short/],
        [{ city: "Paris", zip: true, region: "x" }, /\/zip: /],
        [{ city: "Paris", zip: 1 }, /region/],
        [{ city: "Paris", more: 1 }, /"more"/]
      ]
      for (const [args, words] of bad) {
        const called = yield* tool.call(args)
        assert(Result.isFailure(called))
        assert.match(called.failure, /^Invalid arguments for tool dyn: /)
        assert.match(called.failure, words)
      }
    }))

  it.effect("is not offered when its schema cannot be applied [A21, C18]", () =>
    Effect.gen(function*() {
      const bad: ReadonlyArray<readonly [Schema.JsonObject, RegExp]> = [
        [{ type: "object", $schema: "http://json-schema.org/draft-07/schema#" }, /dialect .* is not supported/],
        [{ type: "object", properties: { a: { $ref: "https://a.example/b" } } }, /leads to nothing/],
        [{ type: "array" }, /parameters must be an object/],
        [{ type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } }, /needs type string/],
        [{ type: "object", allOf: [{ properties: { a: { type: "string", "x-mcp-header": "A" } } }] }, /reachable/]
      ]
      for (const [parameters, words] of bad) {
        const exit = yield* Effect.exit(register(dynamic(parameters), echo))
        assert(Exit.isFailure(exit))
        assert.match(Cause.pretty(exit.cause), words)
      }
    }))
})

describe("an outputSchema", () => {
  const promised = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const
  const Promised = Tool.make("promised", { parameters: Schema.Struct({}), success: TaskTool.ToolResult })
    .annotate(TaskTool.OutputSchema, promised)

  const ended = Effect.fnUntraced(function*(tool: Tool.Any, value: unknown) {
    const registered = yield* register(tool, () => Effect.succeed(value))
    return yield* Result.getOrThrow(yield* registered.call({})).run
  })

  it.effect("is shown, and results that satisfy it are sent [D5]", () =>
    Effect.gen(function*() {
      const { definition } = yield* register(Promised, echo)
      assert.deepStrictEqual(definition["outputSchema"], promised)
      const outcome = yield* ended(Promised, { ...TaskTool.text("1"), structuredContent: { n: 1 } })
      assert.strictEqual(outcome._tag, "Result")
    }))

  const broken: ReadonlyArray<readonly [TaskTool.ToolResult, RegExp]> = [
    [TaskTool.text("1"), /it has no structuredContent for the outputSchema/],
    [{ content: [], structuredContent: { n: "1" } }, /outputSchema: \/n: .*Expected "integer"/],
    [{ content: [], structuredContent: {} }, /required property "n"/],
    [{ content: [], structuredContent: null }, /Expected "object"/]
  ]
  for (const [result, words] of broken) {
    it.effect(`${JSON.stringify(result)} is not sent: -32603 [D5]`, () =>
      Effect.gen(function*() {
        const outcome = yield* ended(Promised, result)
        assert(outcome._tag === "Error")
        assert.strictEqual(outcome.error.code, -32603)
        assert.match(outcome.error.message, words)
      }))
  }

  it.effect("an error promises nothing", () =>
    Effect.gen(function*() {
      const outcome = yield* ended(Promised, TaskTool.error("no"))
      assert(outcome._tag === "Result" && outcome.isError)
    }))

  const Sum = Tool.make("sum", { success: Schema.Struct({ n: Schema.Int }) })

  it.effect("what is not as the success schema says is not sent: -32603, and its cause stays here [D5, D6]", () =>
    Effect.gen(function*() {
      for (const value of [{ n: 1.5 }, { n: "secret" }, {}, null, "secret"]) {
        assert.deepStrictEqual(yield* ended(Sum, value), {
          _tag: "Error",
          error: { code: -32603, message: "The tool's result is not what the tool declares" }
        })
      }
    }))

  it.effect("nothing and text are structured content too, where a schema promises it [D5]", () =>
    Effect.gen(function*() {
      const Maybe = Tool.make("maybe", { success: Schema.NullOr(Schema.Struct({ n: Schema.Int })) })
      const Either = Tool.make("either", { success: Schema.Union([Schema.String, Schema.Struct({ n: Schema.Int })]) })
      const cases = [[Maybe, null, "null"], [Either, "a", `"a"`], [Either, { n: 1 }, `{"n":1}`]] as const
      for (const [tool, value, text] of cases) {
        const outcome = yield* ended(tool, value)
        assert(outcome._tag === "Result")
        assert.deepStrictEqual(JSON.parse(outcome.result), {
          resultType: "complete",
          content: [{ type: "text", text }],
          structuredContent: value
        })
      }
    }))

  const successes: Readonly<Record<string, Schema.Codec<unknown, unknown>>> = {
    struct: Schema.Struct({ a: Schema.String, b: Schema.optional(Schema.Int), c: Schema.Date }),
    array: Schema.Array(Schema.Union([Schema.Finite, Schema.Null])),
    record: Schema.Record(Schema.String.check(Schema.isPattern(/^[\w é/~%#]*$/)), Schema.Boolean),
    union: Schema.Union([Schema.String, Schema.Struct({ n: Schema.BigInt })]),
    tagged: Schema.TaggedStruct("Done", { rows: Schema.Natural, kind: Schema.Literals(["a", "b"]) }),
    tuple: Schema.Tuple([Schema.String, Schema.Int]),
    checked: Schema.Struct({ s: Schema.String.check(Schema.isMinLength(2), Schema.isPattern(/^a/)) })
  }
  for (const [name, success] of Object.entries(successes)) {
    it.effect(`made from a schema (${name}) is satisfied by whatever the schema encodes [D5]`, () =>
      Effect.gen(function*() {
        const tool = Tool.make("any", { success })
        const { definition } = yield* register(tool, echo)
        const check = Result.getOrThrow(jsonSchema.compile(definition["outputSchema"] as Schema.JsonObject))
        const checked = yield* Arbitrary.checkEffect(Arbitrary.schema(success), (value) =>
          Effect.map(ended(tool, value), (outcome) =>
            outcome._tag === "Result" && Result.isSuccess(check(JSON.parse(outcome.result).structuredContent))))
        assert.isUndefined(Arbitrary.formatCheckFailure(checked))
      }))
  }
})

describe("x-mcp-header", () => {
  const header = (name: string) => ({ "x-mcp-header": name })

  it.effect("stands beside the type, wherever it was written in the schema [A21]", () =>
    Effect.gen(function*() {
      const tool = Tool.make("routed", {
        parameters: Schema.Struct({
          text: Schema.String.annotate(header("Text")),
          short: Schema.NonEmptyString.annotate(header("Short")),
          checked: Schema.String.annotate(header("Checked")).check(Schema.isMaxLength(3)),
          count: Schema.Int.annotate(header("Count")),
          bounded: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })).annotate(header("Bounded")),
          flag: Schema.Boolean.annotate(header("Flag")),
          level: Schema.Literals(["low", "high"]).annotate(header("Level")),
          maybe: Schema.optionalKey(Schema.String.annotate(header("Maybe"))),
          nested: Schema.Struct({ id: Schema.Int.annotate(header("Id")) })
        }),
        success: TaskTool.ToolResult
      })
      const { definition } = yield* register(tool, echo)
      const { properties } = definition["inputSchema"] as { readonly properties: Record<string, Schema.JsonObject> }
      const shown = Object.entries(properties).map(([name, { type, ...more }]) => [name, type, more["x-mcp-header"]])
      assert.deepStrictEqual(shown, [
        ["text", "string", "Text"],
        ["short", "string", "Short"],
        ["checked", "string", "Checked"],
        ["count", "integer", "Count"],
        ["bounded", "integer", "Bounded"],
        ["flag", "boolean", "Flag"],
        ["level", "string", "Level"],
        ["maybe", "string", "Maybe"],
        ["nested", "object", undefined]
      ])
      assert.include(JSON.stringify(properties["nested"]), `"x-mcp-header":"Id"`)
      assert.notInclude(JSON.stringify(definition), "allOf")
      assert.deepStrictEqual(properties["bounded"], {
        type: "integer",
        minimum: 1,
        maximum: 9,
        "x-mcp-header": "Bounded"
      })
      assert.isTrue(Option.isNone((yield* register(tool, echo)).settings))
    }))
})
