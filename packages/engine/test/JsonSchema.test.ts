/** JSON Schema 2020-12, as far as we add to the library or rely on it (basic/index, "JSON Schema Usage"). */
import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema } from "effect"
import * as jsonSchema from "../src/internal/jsonSchema.ts"

const compile = (schema: Schema.JsonObject) => Result.getOrThrow(jsonSchema.compile(schema))
const fault = (schema: Schema.JsonObject) => Result.getOrThrow(Result.flip(jsonSchema.compile(schema)))
const problem = (schema: Schema.JsonObject, value: Schema.Json) =>
  Result.getOrThrow(Result.flip(compile(schema)(value)))

const dialect = "https://json-schema.org/draft/2020-12/schema"

describe("a schema that cannot be applied is refused when it is compiled", () => {
  const faults: ReadonlyArray<readonly [string, Schema.JsonObject, RegExp]> = [
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, /draft-07.* is not supported/],
    ["another dialect within", { $defs: { a: { $id: "https://a.example", $schema: "x" } } }, /dialect x/],
    ["a reference to the network", { $ref: "https://a.example/schema" }, /leads to nothing in the schema/],
    ["a reference to nothing", { properties: { a: { $ref: "#/$defs/absent" } } }, /#\/\$defs\/absent leads to nothing/],
    ["a reference to data", { $ref: "#/examples/0", examples: [{}] }, /leads to nothing/],
    ["a dynamic reference", { items: { $dynamicRef: "#a" } }, /\$dynamicRef is not supported/],
    ["a word that is no type", { properties: { a: { type: "strng" } } }, /"strng" is not a type/],
    ["a list with a word that is no type", { type: ["string", "text"] }, /"text" is not a type/],
    ["a pattern that is none", { pattern: "(" }, /"\(" is not a regular expression/],
    ["a pattern of names that is none", { patternProperties: { "[": {} } }, /"\[" is not a regular expression/],
    ["two schemas of one name", { $defs: { a: { $id: "x:a" }, b: { $id: "x:a" } } }, /Duplicate schema URI/],
    ["too much depth", JSON.parse(`${`{"not":`.repeat(70)}{}${"}".repeat(70)}`), /deeper than 64/],
    ["too many parts", { anyOf: Array.from({ length: 10_001 }, (_, id) => ({ const: id })) }, /more than 10000 parts/]
  ]
  for (const [name, schema, expected] of faults) {
    it(`${name} [C18]`, () => assert.match(fault(schema), expected))
  }
})

describe("a schema is applied", () => {
  const address = {
    $schema: dialect,
    $defs: { address: { $anchor: "address", type: "object", properties: { zip: { type: "string" } } } },
    type: "object",
    properties: { place: { $ref: "#address" }, kind: { enum: ["a", "b"] }, n: { type: "integer" } },
    required: ["place"],
    if: { properties: { kind: { const: "b" } }, required: ["kind"] },
    then: { required: ["n"] },
    additionalProperties: false
  }
  it("to what satisfies it [C18]", () => {
    const check = compile(address)
    for (const value of [{ place: {} }, { place: { zip: "1" }, kind: "a" }, { place: {}, kind: "b", n: 1 }]) {
      assert.deepStrictEqual(check(value), Result.void)
    }
  })
  const problems: ReadonlyArray<readonly [Schema.Json, string]> = [
    [null, `Instance type "null" is invalid. Expected "object".`],
    [{}, `Instance does not have required property "place".`],
    [{ place: { zip: 1 } }, `/place/zip: Instance type "number" is invalid. Expected "string".`],
    [{ place: {}, kind: "c" }, `/kind: Instance does not match any of ["a","b"].`],
    [{ place: {}, kind: "b" }, `Instance does not match "then" schema. Instance does not have required property "n".`],
    [{ place: {}, more: 1 }, `Property "more" does not match additional properties schema.`]
  ]
  for (const [value, expected] of problems) {
    it(`and says what is wrong with ${JSON.stringify(value)}`, () => {
      assert.strictEqual(problem(address, value), expected)
    })
  }
  it("whatever names its properties have", () => {
    const schema = JSON.parse(`{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},` +
      `"required":["toString"]}`)
    assert.match(problem(schema, {}), /toString/)
    assert.match(problem(schema, JSON.parse(`{"toString":1,"__proto__":1}`)), /^\/__proto__: /)
    assert.match(problem(schema, JSON.parse(`{"toString":1,"constructor":1}`)), /^\/constructor: /)
  })
  it("and names places as they are written", () => {
    const additionalProperties = { type: "string" }
    for (const name of ["a b", "é", "a%20b", "#"]) {
      assert.match(problem({ additionalProperties }, { [name]: 1 }), new RegExp(`/${name}: `))
    }
    assert.match(problem({ additionalProperties }, { "a/b~": 1 }), /^\/a~1b~0: /)
    assert.strictEqual(problem({ additionalProperties }, { "\ud800": 1 }), "the schema cannot be applied to this value")
  })
  it("and asserts formats", () => {
    assert.match(problem({ format: "email" }, "nobody"), /format "email"/)
    assert.deepStrictEqual(compile({ format: "email" })("ada@a.example"), Result.void)
    assert.deepStrictEqual(compile({ format: "its-own" })("nobody"), Result.void)
  })
  it("and one that leads to itself without an end refuses all", () =>
    assert.strictEqual(problem({ $ref: "#" }, 1), "the schema cannot be applied to this value"))
  it("and is not changed by it", () => {
    const schema = { $id: "https://a.example", $defs: { a: { type: "string" } }, $ref: "#/$defs/a" }
    const before = JSON.stringify(schema)
    compile(schema)("x")
    assert.deepStrictEqual(Reflect.ownKeys(schema), ["$id", "$defs", "$ref"])
    assert.strictEqual(JSON.stringify(schema), before)
  })
})
