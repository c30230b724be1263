/** From schemas to forms that a client can show (client/elicitation, "Requested Schema"). */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result, Schema } from "effect"
import * as form from "../src/internal/form.ts"
import * as jsonSchema from "../src/internal/jsonSchema.ts"

const field = (schema: Schema.Constraint): unknown => {
  const made = form.requestedSchema(Schema.Struct({ field: schema }))
  if (Result.isFailure(made)) return made.failure
  const { properties } = made.success
  return (properties as Schema.JsonObject)["field"]
}

const titled = (value: string, title: string) => Schema.Literal(value).annotate({ title })

const fields: ReadonlyArray<readonly [string, Schema.Constraint, Schema.Json]> = [
  ["text", Schema.String, { type: "string" }],
  [
    "text with all that a form can say",
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(9))
      .annotate({ title: "T", description: "D", default: "x" }),
    { type: "string", title: "T", description: "D", default: "x", minLength: 1, maxLength: 9 }
  ],
  ["a pattern is left to the schema", Schema.String.check(Schema.isPattern(/^a/)), { type: "string" }],
  ["an email", Schema.String.annotate({ format: "email" }), { type: "string", format: "email" }],
  ["another format is left out", Schema.String.annotate({ format: "uuid" }), { type: "string" }],
  ["a number", Schema.Finite, { type: "number" }],
  ["a number, where JSON has texts for what is none", Schema.Number, { type: "number" }],
  ["an integer", Schema.Int, { type: "integer" }],
  [
    "an integer within bounds",
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })).annotate({ title: "N" }),
    { type: "integer", title: "N", minimum: 1, maximum: 9 }
  ],
  ["a truth value", Schema.Boolean.annotate({ default: false }), { type: "boolean", default: false }],
  ["a choice", Schema.Literals(["a", "b"]), { type: "string", enum: ["a", "b"] }],
  [
    "a choice with titles",
    Schema.Union([titled("a", "First"), titled("b", "Second")]).annotate({ title: "Which" }),
    { type: "string", title: "Which", oneOf: [{ const: "a", title: "First" }, { const: "b", title: "Second" }] }
  ],
  [
    "several choices",
    Schema.Array(Schema.Literals(["a", "b"])).check(Schema.isMaxLength(1)),
    { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 1 }
  ],
  [
    "several choices with titles",
    Schema.Array(Schema.Union([titled("a", "First"), titled("b", "Second")])),
    {
      type: "array",
      items: { anyOf: [{ const: "a", title: "First" }, { const: "b", title: "Second" }] }
    }
  ],
  [
    "a named schema, in its place",
    Schema.Literals(["low", "high"]).annotate({ identifier: "a/Level" }),
    { type: "string", enum: ["low", "high"] }
  ],
  ["an optional field", Schema.optional(Schema.String.annotate({ title: "T" })), { type: "string", title: "T" }]
]

const none: ReadonlyArray<readonly [string, Schema.Constraint]> = [
  ["a struct", Schema.Struct({ a: Schema.String })],
  ["texts", Schema.Array(Schema.String)],
  ["text or number", Schema.Union([Schema.String, Schema.Finite])],
  ["nothing", Schema.Null],
  ["anything", Schema.Unknown],
  ["a record", Schema.Record(Schema.String, Schema.String)],
  ["numbers to choose from", Schema.Array(Schema.Literals([1, 2]))]
]

describe("requestedSchema", () => {
  for (const [name, schema, expected] of fields) {
    it(name, () => assert.deepStrictEqual(field(schema), expected))
  }
  for (const [name, schema] of none) {
    it(`${name} cannot stand in a form`, () =>
      assert.match(String(field(schema)), /^its field field is not a text, a finite number, a truth value or a choice/))
  }

  it("names what is required, and nothing that a form does not have", () => {
    const made = form.requestedSchema(Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Schema.String) }))
    assert.deepStrictEqual(
      made,
      Result.succeed({ type: "object", properties: { a: { type: "string" }, b: { type: "string" } }, required: ["a"] })
    )
  })

  it("a struct without fields asks for consent alone", () =>
    assert.deepStrictEqual(form.requestedSchema(Schema.Struct({})), Result.succeed({ type: "object", properties: {} })))

  it("is a struct or nothing", () => {
    for (const schema of [Schema.String, Schema.Array(Schema.String), Schema.Union([Schema.String, Schema.Null])]) {
      assert.deepStrictEqual(form.requestedSchema(schema), Result.fail("it must be a struct"))
    }
  })

  it.effect("takes whatever the schema takes", () =>
    Effect.gen(function*() {
      const schema = Schema.Struct({
        text: Schema.String.check(Schema.isMinLength(2), Schema.isMaxLength(8)),
        age: Schema.Int.check(Schema.isBetween({ minimum: -5, maximum: 5 })),
        share: Schema.Finite,
        sure: Schema.Boolean,
        level: Schema.Literals(["low", "high"]),
        tags: Schema.Array(Schema.Literals(["x", "y"])),
        note: Schema.optionalKey(Schema.NonEmptyString)
      })
      const check = Result.getOrThrow(Result.flatMap(form.requestedSchema(schema), jsonSchema.compile))
      const encode = Schema.encodeEffect(Schema.toCodecJson(schema))
      const checked = yield* Arbitrary.checkEffect(
        Arbitrary.schema(schema),
        (value) => Effect.map(encode(value), (encoded) => Result.isSuccess(check(JSON.parse(JSON.stringify(encoded)))))
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(checked))
    }))
})
