/** What a server shows of its tools, and the headers that mirror their parameters. */
import { Embedded, TaskOwner, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ada, mcpHeaders, message, read } from "./TestServer.ts"

const header = (name: string) => ({ "x-mcp-header": name })

const Routed = Tool.make("routed", {
  description: "Goes where its headers say",
  parameters: Schema.Struct({
    region: Schema.optionalKey(Schema.String.annotate(header("Region"))),
    count: Schema.optionalKey(Schema.Int.annotate(header("Count"))),
    flag: Schema.optionalKey(Schema.Boolean.annotate(header("Flag"))),
    target: Schema.optionalKey(Schema.Struct({ zone: Schema.optionalKey(Schema.String.annotate(header("Zone"))) }))
  }),
  success: Schema.String
})
  .annotate(Tool.Title, "Router")
  .annotate(Tool.Readonly, true)
  .annotate(Tool.Destructive, false)
  .annotate(Tool.Idempotent, true)
  .annotate(Tool.OpenWorld, false)

const dynamicSchema: Schema.JsonObject = {
  type: "object",
  properties: { region: { type: ["string", "null"] }, tenant: { type: "string", "x-mcp-header": "Tenant" } }
}
const Dynamic = Tool.dynamic("a_dynamic_tool", { parameters: dynamicSchema, success: TaskTool.ToolResult })
const Job = Tool.make("job", {
  parameters: Schema.Struct({ region: Schema.String.annotate(header("REGION")) }),
  success: Schema.Struct({ n: Schema.Int })
}).annotate(TaskTool.Policy, {})

const Kit = Toolkit.make(Routed, Dynamic, Job)
const handlers = Kit.toLayer({
  routed: () => Effect.succeed("there"),
  a_dynamic_tool: () => Effect.succeed(TaskTool.text("there")),
  job: () => Effect.succeed({ n: 1 })
})

const start = Effect.gen(function*() {
  const context = yield* Layer.build(Layer.fresh(
    Dispatcher.layer({ name: "test", version: "0" }).pipe(
      Layer.provide(Embedded.layer),
      Layer.provide(TaskTools.layer(Kit)),
      Layer.provide(handlers),
      Layer.provide(TaskStore.layerMemory)
    )
  ))
  const { handle } = Context.get(context, Dispatcher.Dispatcher)
  return (body: string, headers: Readonly<Record<string, string>> | undefined) =>
    handle({ headers, body }).pipe(
      Effect.flatMap(Dispatcher.finalReply),
      Effect.provideService(TaskOwner.CurrentOwner, ada)
    )
})

/** Calls a tool with these arguments and these headers besides the usual ones. */
const call = Effect.fnUntraced(function*(tool: string, args: Schema.Json, params: Readonly<Record<string, string>>) {
  const send = yield* start
  const named = Object.fromEntries(Object.entries(params).map(([name, value]) => [`mcp-param-${name}`, value]))
  const body = message("tools/call", { name: tool, arguments: args })
  const reply = yield* send(body, { ...mcpHeaders("tools/call", tool), ...named })
  return { status: reply.httpStatus, error: read(reply.body).error }
})

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`

type Case = readonly [string, Schema.Json, Readonly<Record<string, string>>]

const accepted: ReadonlyArray<Case> = [
  ["no value, no header", {}, {}],
  ["null, no header", { region: null }, {}],
  ["the same text", { region: "us-west1" }, { region: "us-west1" }],
  ["the same text between blanks", { region: "us-west1" }, { region: " \tus-west1 " }],
  ["the same text in base64", { region: "Hello, 世界" }, { region: base64("Hello, 世界") }],
  ["plain text in base64", { region: "Hello" }, { region: base64("Hello") }],
  ["a text that looks encoded, encoded", { region: "=?base64?literal?=" }, { region: base64("=?base64?literal?=") }],
  ["half of the base64 form is a literal", { region: "=?base64?abc" }, { region: "=?base64?abc" }],
  ["the base64 form in capitals is a literal", { region: "=?BASE64?QQ==?=" }, { region: "=?BASE64?QQ==?=" }],
  ["an empty text", { region: "" }, { region: "" }],
  ["edge blanks in base64", { region: " padded " }, { region: base64(" padded ") }],
  ["an integer", { count: 42 }, { count: "42" }],
  ["an integer as another number of the same value", { count: 42 }, { count: "42.0" }],
  ["an integer with an exponent", { count: 4200 }, { count: "4.2e3" }],
  ["a negative integer", { count: -7 }, { count: "-7" }],
  ["the largest integer", { count: Number.MAX_SAFE_INTEGER }, { count: "9007199254740991" }],
  ["a truth value", { flag: true }, { flag: "true" }],
  ["a nested value", { target: { zone: "b" } }, { zone: "b" }],
  ["a header that no parameter asks for", { region: "x" }, { region: "x", unknown: "y" }]
]

const refused: ReadonlyArray<Case> = [
  ["the header missing", { region: "us-west1" }, {}],
  ["the nested header missing", { target: { zone: "b" } }, {}],
  ["a header without a value", {}, { region: "us-west1" }],
  ["a header beside null", { region: null }, { region: "null" }],
  ["an empty header without a value", {}, { region: "" }],
  ["another text", { region: "us-west1" }, { region: "us-west2" }],
  ["the same text in other case", { region: "us-west1" }, { region: "US-WEST1" }],
  ["the text encoded for what is not", { region: "=?base64?SGVsbG8=?=" }, { region: "=?base64?SGVsbG8=?=" }],
  ["base64 without its padding", { region: "Hello" }, { region: "=?base64?SGVsbG8?=" }],
  ["base64 of another alphabet", { region: "Hello" }, { region: "=?base64?SGVs-_8=?=" }],
  ["base64 that is no UTF-8", { region: "\ufffd" }, { region: "=?base64?/w==?=" }],
  ["bytes that no header may hold", { region: "é" }, { region: "é" }],
  ["the header twice", { region: "a" }, { region: "a, a" }],
  ["another number", { count: 42 }, { count: "43" }],
  ["a number that JavaScript alone reads", { count: 42 }, { count: "0x2a" }],
  ["no number", { count: 0 }, { count: "" }],
  ["a number as text", { count: "42" }, { count: "42.0" }],
  ["a fraction", { count: 1.5 }, { count: "1.5" }],
  ["an integer beyond what a double holds", { count: 2 ** 53 }, { count: "9007199254740993" }],
  ["a truth value in other case", { flag: true }, { flag: "True" }],
  ["a truth value as a number", { flag: true }, { flag: "1" }],
  ["a value that no header can state", { region: ["a"] }, { region: "a" }],
  ["a value that no header can state, and no header", { region: {} }, {}]
]

describe("Mcp-Param-*", () => {
  for (const [name, args, params] of accepted) {
    it.effect(`accepts ${name} [A14, A15, A16, A17]`, () =>
      Effect.gen(function*() {
        // What is wrong with the arguments themselves is a result, and no matter of headers.
        assert.deepStrictEqual(yield* call("routed", args, params), { status: 200, error: undefined })
      }))
  }
  for (const [name, args, params] of refused) {
    it.effect(`refuses ${name}, without a word of the values [A14, A15, A18]`, () =>
      Effect.gen(function*() {
        const { error, status } = yield* call("routed", args, params)
        assert.deepStrictEqual([status, error?.code], [400, -32020])
        assert.match(error?.message ?? "", /^Header mismatch: Mcp-Param-\w+ [a-zA-Z0-9 -]+$/)
      }))
  }

  it.effect("holds for tools with a raw schema and for tasks, each by its own annotations [A14]", () =>
    Effect.gen(function*() {
      const mismatch = { status: 400 as const, code: -32020 }
      const seen = Effect.fnUntraced(function*(...given: Parameters<typeof call>) {
        const { error, status } = yield* call(...given)
        return { status, code: error?.code }
      })
      const good = { status: 200 as const, code: undefined }
      assert.deepStrictEqual(yield* seen("a_dynamic_tool", { tenant: "t" }, { tenant: "t" }), good)
      assert.deepStrictEqual(yield* seen("a_dynamic_tool", { tenant: "t" }, {}), mismatch)
      assert.deepStrictEqual(yield* seen("a_dynamic_tool", { region: "r" }, {}), good)
      assert.deepStrictEqual(yield* seen("job", { region: "r" }, { region: "r" }), good)
      assert.deepStrictEqual(yield* seen("job", { region: "r" }, {}), mismatch)
    }))

  it.effect("is not asked for where there are no headers", () =>
    Effect.gen(function*() {
      const send = yield* start
      const reply = yield* send(message("tools/call", { name: "routed", arguments: { region: "r" } }), undefined)
      assert.strictEqual(read(reply.body).error, undefined)
    }))
})

describe("tools/list", () => {
  const list = Effect.gen(function*() {
    const send = yield* start
    const reply = yield* send(message("tools/list"), undefined)
    return read(reply.body).result ?? {}
  })

  it.effect("has the tools in the order in which they were declared, the same each time [D1, D2]", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* list, yield* list]
      assert.deepStrictEqual(one, two)
      const tools = one["tools"] as ReadonlyArray<Schema.JsonObject>
      assert.deepStrictEqual(tools.map(({ name }) => name), ["routed", "a_dynamic_tool", "job"])
    }))

  it.effect("says how long and for whom it may be kept, and is complete [C16]", () =>
    Effect.gen(function*() {
      const { cacheScope, nextCursor, resultType, ttlMs } = yield* list
      assert.deepStrictEqual([resultType, cacheScope, nextCursor], ["complete", "private", undefined])
      assert.isTrue(Number.isInteger(ttlMs) && Number(ttlMs) >= 0)
    }))

  it.effect("has title, description, annotations and schemas", () =>
    Effect.gen(function*() {
      const [routed, dynamic, job] = (yield* list)["tools"] as ReadonlyArray<Schema.JsonObject>
      assert.deepStrictEqual([routed?.["title"], routed?.["description"]], ["Router", "Goes where its headers say"])
      assert.deepStrictEqual(routed?.["annotations"], {
        readOnlyHint: true,
        openWorldHint: false
      })
      assert.isFalse("outputSchema" in (routed ?? {}))
      assert.deepStrictEqual(dynamic?.["inputSchema"], dynamicSchema)
      assert.deepStrictEqual(dynamic?.["annotations"], {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true
      })
      assert.include(JSON.stringify(job?.["outputSchema"]), `"type":"object"`)
    }))
})
