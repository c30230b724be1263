/** Handlers: forms from a requested schema, at a terminal, from a record or a file, and declined. */
import { InputHandler, TaskClientError } from "@effect-mcp-tasks/client"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Result, type Schema } from "effect"
import * as TestTerminal from "./TestTerminal.ts"

const { keys, type } = TestTerminal

const question = (
  requestedSchema: Schema.Json | undefined,
  more: Partial<InputHandler.InputQuestion> & { readonly mode?: string; readonly message?: string } = {}
): InputHandler.InputQuestion => ({
  key: "confirm",
  method: "elicitation/create",
  params: {
    message: more.message ?? "Please say",
    ...(more.mode === undefined ? {} : { mode: more.mode }),
    ...(requestedSchema === undefined ? {} : { requestedSchema })
  },
  server: "http://server.test/mcp",
  tool: "work",
  taskId: "t1",
  isRepeated: false,
  ...(more.method === undefined ? {} : { method: more.method }),
  ...(more.isRepeated === undefined ? {} : { isRepeated: more.isRepeated })
})

const formOf = (properties: Schema.JsonObject, required: ReadonlyArray<string> = Object.keys(properties)) =>
  question({ type: "object", properties, required })

const every = formOf({
  name: { type: "string", title: "Your name", minLength: 2, maxLength: 5 },
  mail: { type: "string", format: "email" },
  home: { type: "string", format: "uri" },
  day: { type: "string", format: "date" },
  at: { type: "string", format: "date-time" },
  count: { type: "integer", minimum: 1, maximum: 10, default: 3 },
  share: { type: "number" },
  sure: { type: "boolean", default: true },
  color: { type: "string", enum: ["red", "blue"], default: "blue" },
  size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] },
  tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 }
})

const given = {
  name: "Ada",
  mail: "ada@example.org",
  home: "https://example.org/ada",
  day: "2026-07-28",
  at: "2026-07-28T10:00:00Z",
  share: "0.5",
  sure: "no",
  size: "Large",
  tags: "a, c"
}

describe("a record", () => {
  const answer = (record: Schema.JsonObject, asked: InputHandler.InputQuestion) =>
    InputHandler.fromRecord(record).answer(asked)

  it.effect("answers a form, with text turned into what each field takes", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* answer(given, every), {
        action: "accept",
        content: { ...given, count: 3, share: 0.5, sure: false, color: "blue", size: "l", tags: ["a", "c"] }
      })
    }))

  it.effect("tells two questions with the same field apart, and leaves out what is optional", () =>
    Effect.gen(function*() {
      const asked = formOf({ ok: { type: "boolean" }, note: { type: "string" } }, ["ok"])
      const record = { ok: false, "confirm.ok": true }
      assert.deepStrictEqual(yield* answer(record, asked), { action: "accept", content: { ok: true } })
    }))

  it.effect("refuses a question that it has no answer for, by the name of the field", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(answer({}, formOf({ ok: { type: "boolean" } })))
      assert.instanceOf(refused, TaskClientError.InputRefused)
      assert.deepStrictEqual([refused.key, refused.taskId], ["confirm", "t1"])
      assert.strictEqual(refused.detail, "there is no answer for ok")
      const inherited = yield* Effect.flip(answer({}, formOf({ constructor: { type: "string" } })))
      assert.strictEqual(inherited.detail, "there is no answer for constructor")
    }))

  it.effect("declines by the key of the question, and what asks for a secret", () =>
    Effect.gen(function*() {
      const asked = formOf({ ok: { type: "boolean" } })
      assert.deepStrictEqual(yield* answer({ confirm: "decline" }, asked), { action: "decline" })
      const secret = formOf({ password: { type: "string" } })
      assert.deepStrictEqual(yield* answer({ password: "hunter2" }, secret), { action: "decline" })
    }))

  it.effect("hands on what it cannot answer, but not what does not fit", () =>
    Effect.gen(function*() {
      const handler = InputHandler.fromRecord({ count: "many" }, { otherwise: InputHandler.decline })
      assert.deepStrictEqual(yield* handler.answer(formOf({ ok: { type: "boolean" } })), { action: "decline" })
      const misfit = yield* Effect.flip(handler.answer(formOf({ count: { type: "integer" } })))
      assert.strictEqual(misfit.detail, "the answer for count has to be a number")
      assert.deepStrictEqual(yield* handler.answer(question(undefined, { method: "roots/list" })), { roots: [] })
    }))

  it.effect("refuses what does not fit before it misses anything, whoever else could answer", () =>
    Effect.gen(function*() {
      const asked = formOf({ s: { type: "string" }, n: { type: "integer", maximum: 9 }, b: { type: "boolean" } })
      for (const otherwise of [InputHandler.decline, undefined]) {
        const handler = InputHandler.fromRecord({ n: "99", b: "maybe" }, { otherwise })
        const refused = yield* Effect.flip(handler.answer(asked))
        assert.match(refused.detail, /^the answer for n has to be .*; the answer for b has to be /)
        assert.deepStrictEqual(refused.fields, ["n", "b"])
      }
      const missing = yield* Effect.flip(InputHandler.fromRecord({ n: 9 }).answer(asked))
      assert.deepStrictEqual([missing.detail, missing.fields], ["there is no answer for s, b", ["s", "b"]])
    }))

  it.effect("may be a file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      yield* fs.writeFileString(file, JSON.stringify({ ok: true }))
      const handler = yield* InputHandler.fromFile(file)
      const answer = yield* handler.answer(formOf({ ok: { type: "boolean" } }))
      assert.deepStrictEqual(answer, { action: "accept", content: { ok: true } })
      yield* fs.writeFileString(file, "[1]")
      assert.strictEqual((yield* Effect.flip(InputHandler.fromFile(file)))._tag, "SchemaError")
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("values that do not fit", () => {
  const misfits: ReadonlyArray<readonly [name: string, schema: Schema.JsonObject, value: Schema.Json, has: string]> = [
    ["too short", { type: "string", minLength: 2 }, "a", "at least 2 characters"],
    ["too long, in characters", { type: "string", maxLength: 1 }, "👍👍", "at most 1 characters"],
    ["no mail", { type: "string", format: "email" }, "ada", "a valid email"],
    ["no uri", { type: "string", format: "uri" }, "example", "a valid uri"],
    ["no date", { type: "string", format: "date" }, "2026-13-01", "a valid date"],
    ["a date without time", { type: "string", format: "date-time" }, "2026-07-28", "a valid date-time"],
    ["an object for text", { type: "string" }, {}, "a text"],
    ["a fraction", { type: "integer" }, "1.5", "a whole number"],
    ["blank for a number", { type: "number" }, " ", "a number"],
    ["infinite", { type: "number" }, "1e999", "a number"],
    ["too small", { type: "integer", minimum: 3 }, 2, "at least 3"],
    ["too large", { type: "integer", maximum: 3 }, 4, "at most 3"],
    ["maybe", { type: "boolean" }, "maybe", "yes or no"],
    ["a number for a boolean", { type: "boolean" }, 1, "yes or no"],
    ["another choice", { type: "string", enum: ["a", "b"] }, "c", "one of a, b"],
    ["another choice of several", { type: "array", items: { enum: ["a"] } }, ["c"], "one of a"],
    ["too few", { type: "array", items: { enum: ["a"] }, minItems: 1 }, [], "at least 1 of them"],
    ["too many", { type: "array", items: { enum: ["a", "b"] }, maxItems: 1 }, "a,b", "at most 1 of them"],
    ["no list", { type: "array", items: { enum: ["a"] } }, 1, "a list"]
  ]
  it.effect.each(misfits)("are refused: %s", ([, schema, value, has]) =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(InputHandler.fromRecord({ it: value }).answer(formOf({ it: schema })))
      assert.strictEqual(refused.detail, `the answer for it has to be ${has}`)
    }))
})

describe("a requested schema", () => {
  const secrets = [
    { password: { type: "string" } },
    { apiKey: { type: "string" } },
    { API_KEY: { type: "string" } },
    { "access-token": { type: "string" } },
    { pin: { type: "integer" } },
    { x: { type: "string", title: "Credit card number" } },
    { x: { type: "string", format: "password" } },
    { x: { type: "string", writeOnly: true } },
    { name: { type: "string" }, clientSecret: { type: "string" } }
  ]
  it.each(secrets)("that asks for a secret is refused: %j", (properties) => {
    const read = InputHandler.readForm(formOf(properties))
    assert.isTrue(Result.isFailure(read) && read.failure.reason === "secret")
  })

  it.each(["name", "email", "maxTokens", "opinion", "shipping", "passenger", "keyboard", "tokenize"])(
    "that asks for %s is no secret",
    (name) => assert.isTrue(Result.isSuccess(InputHandler.readForm(formOf({ [name]: { type: "string" } }))))
  )

  const unusable: ReadonlyArray<readonly [string, InputHandler.InputQuestion]> = [
    ["is absent", question(undefined)],
    ["is no object", question("x")],
    ["has properties that are none", question({ type: "object", properties: [] })],
    ["has a field without a schema", formOf({ a: true })],
    ["nests", formOf({ a: { type: "object", properties: {} } })],
    ["lists free text", formOf({ a: { type: "array", items: { type: "string" } } })],
    ["has a choice of nothing", formOf({ a: { type: "string", enum: [] } })],
    ["has a field of several types", formOf({ a: { type: ["string", "null"] } })],
    ["requires what it does not describe", question({ type: "object", properties: {}, required: ["a"] })],
    ["comes with a url", question({ type: "object", properties: {} }, { mode: "url" })],
    ["belongs to another kind", question({ type: "object" }, { method: "sampling/createMessage" })]
  ]
  it.each(unusable)("is not usable when it %s", (_, asked) => {
    const read = InputHandler.readForm(asked)
    assert.isTrue(Result.isFailure(read) && read.failure.reason === "unsupported")
  })

  it("is a form without a mode too, and may be empty", () => {
    const empty = question({ type: "object", properties: {} }, { mode: "form" })
    for (const asked of [question({ type: "object" }), empty]) {
      assert.deepStrictEqual(InputHandler.readForm(asked), Result.succeed([]))
    }
  })
})

describe("handlers that answer nothing", () => {
  it.effect("decline forms, and have no roots", () =>
    Effect.gen(function*() {
      for (const { answer } of [InputHandler.decline, InputHandler.none]) {
        assert.deepStrictEqual(yield* answer(every), { action: "decline" })
        assert.deepStrictEqual(yield* answer(question(undefined, { method: "roots/list" })), { roots: [] })
        const sampling = yield* Effect.flip(answer(question(undefined, { method: "sampling/createMessage" })))
        assert.instanceOf(sampling, TaskClientError.InputRefused)
      }
      assert.deepStrictEqual(InputHandler.none.capabilities, {})
      assert.deepStrictEqual(InputHandler.decline.capabilities, { elicitation: { form: {} } })
    }))

  it.effect("say what functions they are made of", () =>
    Effect.gen(function*() {
      const handler = InputHandler.make({
        sample: () => Effect.succeed({ role: "assistant" }),
        listRoots: () => Effect.succeed({ roots: [{ uri: "file:///" }] })
      })
      assert.deepStrictEqual(handler.capabilities, { sampling: {}, roots: {} })
      const roots = yield* handler.answer(question(undefined, { method: "roots/list" }))
      assert.deepStrictEqual(roots, { roots: [{ uri: "file:///" }] })
      assert.instanceOf(yield* Effect.flip(handler.answer(every)), TaskClientError.InputRefused)
    }))
})

describe("a form at the terminal", () => {
  const ask = (asked: InputHandler.InputQuestion, input: ReadonlyArray<TestTerminal.Press>) =>
    TestTerminal.run(InputHandler.terminal.answer(asked), input)

  it.effect("asks for each field as what it is, shows the answer, and sends it", () =>
    Effect.gen(function*() {
      const asked = formOf({
        name: { type: "string", title: "Your name", minLength: 2 },
        count: { type: "integer", default: 3 },
        sure: { type: "boolean" },
        color: { type: "string", enum: ["red", "blue"], default: "blue" },
        tags: { type: "array", items: { anyOf: [{ const: "a", title: "Ay" }, { const: "b", title: "Bee" }] } }
      })
      const { shown, value } = yield* ask(asked, [
        ...type("Ada"), keys.enter,
        keys.enter,
        ...type("y"),
        keys.enter,
        keys.down, keys.down, keys.space, keys.enter,
        keys.enter
      ])
      const content = { name: "Ada", count: 3, sure: true, color: "blue", tags: ["a"] }
      assert.deepStrictEqual(value, { action: "accept", content })
      assert.include(shown, "http://server.test/mcp asks for work:\nPlease say")
      assert.include(shown, "Your name: \"Ada\"")
      assert.include(shown, "color: \"blue\"")
    }))

  it.effect("asks again for what does not fit", () =>
    Effect.gen(function*() {
      const asked = formOf({ count: { type: "integer", maximum: 5 } })
      const { shown, value } = yield* ask(asked, [
        ...type("9"), keys.enter, keys.backspace, ...type("4"), keys.enter,
        keys.enter
      ])
      assert.deepStrictEqual(value, { action: "accept", content: { count: 4 } })
      assert.include(shown, "at most 5")
    }))

  it.effect("leaves out what is optional and left blank", () =>
    Effect.gen(function*() {
      const optional = { type: "string", enum: ["a", "b"] }
      const { value } = yield* ask(formOf({ note: { type: "string" }, pick: optional }, []), [
        keys.enter,
        keys.up, keys.enter,
        keys.enter
      ])
      assert.deepStrictEqual(value, { action: "accept", content: {} })
    }))

  it.effect("can be changed before it is sent, and declined", () =>
    Effect.gen(function*() {
      const asked = formOf({ ok: { type: "boolean" } })
      const changed = yield* ask(asked, [...type("y"), keys.down, keys.enter, ...type("n"), keys.enter])
      assert.deepStrictEqual(changed.value, { action: "accept", content: { ok: false } })
      const declined = yield* ask(asked, [...type("y"), keys.up, keys.enter])
      assert.deepStrictEqual(declined.value, { action: "decline" })
    }))

  it.effect("is dismissed when the user leaves it", () =>
    Effect.gen(function*() {
      const { value } = yield* ask(formOf({ ok: { type: "boolean" } }), [keys.escape])
      assert.deepStrictEqual(value, { action: "cancel" })
    }))

  it.effect("without fields is a yes or a no", () =>
    Effect.gen(function*() {
      const { value } = yield* ask(question({ type: "object", properties: {} }), [keys.enter])
      assert.deepStrictEqual(value, { action: "accept", content: {} })
    }))

  it.effect("declines what asks for a secret, and says so", () =>
    Effect.gen(function*() {
      const { shown, value } = yield* ask(formOf({ password: { type: "string" } }), [])
      assert.deepStrictEqual(value, { action: "decline" })
      assert.include(shown, "This is declined: field password asks for a secret")
    }))

  it.effect("shows nothing of a server that could move the cursor, pose as the program, or never end", () =>
    Effect.gen(function*() {
      const hostile = "\u001b[2J\u001b[31m? Your bank password\u0007\u202e\r\n".padEnd(10_000, "x")
      const asked = question({ type: "object", properties: {} }, { message: hostile, isRepeated: true })
      const { shown } = yield* ask({ ...asked, server: "a\u001b]0;b\u0007", tool: "t\u009bm" }, [keys.enter])
      const [header = ""] = shown.split("Send this answer?")
      // What the prompt itself writes after the header begins with an escape at the start of a line.
      const [own = ""] = header.split("\n\u001b")
      for (const control of ["\u001b", "\u0007", "\u009b", "\u202e", "\r"]) assert.notInclude(own, control)
      assert.isBelow(header.length, 3000)
      assert.include(header, "asked before; the answer was lost")
    }))

  it.effect("asks one question at a time", () =>
    Effect.gen(function*() {
      const asked = formOf({ ok: { type: "boolean" } })
      const both = Effect.all([InputHandler.terminal.answer(asked), InputHandler.terminal.answer(asked)], {
        concurrency: "unbounded"
      })
      const { value } = yield* TestTerminal.run(both, [...type("y"), keys.enter, ...type("n"), keys.enter])
      const accepted = (ok: boolean) => ({ action: "accept", content: { ok } })
      assert.deepStrictEqual(value, [accepted(true), accepted(false)])
    }))
})
