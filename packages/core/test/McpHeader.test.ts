import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Schema } from "effect"
import * as McpHeader from "../src/McpHeader.ts"

describe("encodeHeaderValue (streamable-http, Value Encoding) [A15]", () => {
  const cases: ReadonlyArray<readonly [string | number | boolean, string]> = [
    ["us-west1", "us-west1"],
    ["us west 1", "us west 1"],
    ["", ""],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    [" lead", "=?base64?IGxlYWQ=?="],
    ["trail ", "=?base64?dHJhaWwg?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["a\tb", "=?base64?YQli?="],
    ["\u007f", "=?base64?fw==?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
    ["=?base64?half", "=?base64?half"],
    ["half?=", "half?="],
    [42, "42"],
    [-7, "-7"],
    [true, "true"],
    [false, "false"]
  ]
  for (const [value, header] of cases) {
    it(`${JSON.stringify(value)} is sent as ${header}`, () => {
      assert.strictEqual(McpHeader.encodeHeaderValue(value), header)
    })
  }
})

describe("decodeHeaderValue [A15]", () => {
  it("gives the reason it cannot decode", () => {
    const reason = (value: string) => Result.match(McpHeader.decodeHeaderValue(value), {
      onFailure: (reason) => reason,
      onSuccess: () => "decoded"
    })
    assert.strictEqual(reason("=?base64?A?="), "contains invalid base64")
    assert.strictEqual(reason("=?base64?QQ==QQ==?="), "contains invalid base64")
    assert.strictEqual(reason("=?base64?/w==?="), "contains invalid UTF-8")
    assert.strictEqual(reason("=?base64?7aCA?="), "contains invalid UTF-8")
    assert.strictEqual(reason("a\u0080"), "contains invalid characters")
    assert.strictEqual(reason("a\u00a0"), "contains invalid characters")
  })

  it("accepts tabs inside, trims blanks around", () => {
    assert.deepStrictEqual(McpHeader.decodeHeaderValue("\t a\tb \t"), Result.succeed("a\tb"))
    assert.deepStrictEqual(McpHeader.decodeHeaderValue(" \t "), Result.succeed(""))
  })
})

describe("paramHeaders (streamable-http, Schema Extension) [A21]", () => {
  const object = (properties: Schema.JsonObject): Schema.JsonObject => ({ type: "object", properties })
  const text = (header: Schema.Json, type: Schema.Json = "string") => ({ type, "x-mcp-header": header })

  it("finds every annotation reachable by properties", () => {
    const schema = object({
      region: text("Region"),
      nested: object({ count: text("Count", "integer"), deeper: object({ on: text("On", "boolean") }) }),
      plain: { type: "number" },
      ["__proto__"]: text("Proto")
    })
    assert.deepStrictEqual(
      McpHeader.paramHeaders(schema),
      Result.succeed([
        { header: "Region", path: ["region"], type: "string" },
        { header: "Proto", path: ["__proto__"], type: "string" },
        { header: "Count", path: ["nested", "count"], type: "integer" },
        { header: "On", path: ["nested", "deeper", "on"], type: "boolean" }
      ])
    )
  })

  it("finds none where there is none", () => {
    for (const schema of [{}, { type: "object" }, true, null, object({ a: {} })]) {
      assert.deepStrictEqual(McpHeader.paramHeaders(schema), Result.succeed([]))
    }
  })

  it("does not take data or a property's name for an annotation", () => {
    const data = { "x-mcp-header": "No" }
    const schema = {
      ...object({
        "x-mcp-header": { type: "string" },
        a: { const: data, default: data, enum: [data], examples: [data] }
      }),
      $defs: { "x-mcp-header": { type: "string" } }
    }
    assert.deepStrictEqual(McpHeader.paramHeaders(schema), Result.succeed([]))
  })

  const item = text("Region")
  const invalid: ReadonlyArray<readonly [string, Schema.Json, RegExp]> = [
    ["an empty name", object({ a: text("") }), /token/],
    ["a blank", object({ a: text("My Region") }), /token/],
    ["a colon", object({ a: text("Region:Primary") }), /token/],
    ["a non-ASCII letter", object({ a: text("Région") }), /token/],
    ["a control character", object({ a: text("Region\t1") }), /token/],
    ["a line break", object({ a: text("Region\r\nX: y") }), /token/],
    ["no string", object({ a: text(5) }), /token/],
    ["null", object({ a: text(null) }), /token/],
    ["type object", object({ a: text("A", "object") }), /type/],
    ["type array", object({ a: text("A", "array") }), /type/],
    ["type null", object({ a: text("A", "null") }), /type/],
    ["type number", object({ a: text("A", "number") }), /type/],
    ["a list of types", object({ a: text("A", ["string", "null"]) }), /type/],
    ["no type", object({ a: { "x-mcp-header": "A" } }), /type/],
    ["a duplicate", object({ a: text("Region"), b: text("Region") }), /twice/],
    ["a duplicate in another case", object({ a: text("MyField"), b: object({ c: text("myfield") }) }), /twice/],
    ["the root", { ...text("Root") }, /reachable/],
    ["items", object({ a: { type: "array", items: item } }), /reachable/],
    ["prefixItems", object({ a: { type: "array", prefixItems: [item] } }), /reachable/],
    ["oneOf", { oneOf: [object({ a: item })] }, /reachable/],
    ["anyOf", object({ a: { anyOf: [item] } }), /reachable/],
    ["allOf", { allOf: [object({ a: item })] }, /reachable/],
    ["not", { not: object({ a: item }) }, /reachable/],
    ["if", { if: object({ a: item }) }, /reachable/],
    ["then", JSON.parse(`{"then":${JSON.stringify(object({ a: item }))}}`), /reachable/],
    ["else", { else: object({ a: item }) }, /reachable/],
    ["$defs", { $defs: { a: item }, ...object({ a: { $ref: "#/$defs/a" } }) }, /reachable/],
    ["definitions", { definitions: { a: item } }, /reachable/],
    ["patternProperties", { patternProperties: { "^a": item } }, /reachable/],
    ["additionalProperties", { additionalProperties: item }, /reachable/],
    ["properties under items", object({ a: { items: object({ b: item }) } }), /reachable/]
  ]
  for (const [name, schema, reason] of invalid) {
    it(`refuses ${name}`, () => {
      const outcome = McpHeader.paramHeaders(schema)
      if (Result.isSuccess(outcome)) return assert.fail("accepted")
      assert.match(outcome.failure, reason)
    })
  }

  it("survives a schema 100 000 levels deep", () => {
    let schema: Schema.JsonObject = text("Deep")
    for (let level = 0; level < 100_000; level++) schema = object({ a: schema })
    const outcome = McpHeader.paramHeaders(schema)
    assert.strictEqual(Result.isSuccess(outcome) && outcome.success[0]?.path.length, 100_000)
  })
})

describe("valueAt", () => {
  it("follows own keys only", () => {
    const root = JSON.parse(`{"a":{"b":1},"__proto__":{"c":2},"d":null,"list":[1]}`)
    assert.strictEqual(McpHeader.valueAt(root, ["a", "b"]), 1)
    assert.strictEqual(McpHeader.valueAt(root, ["__proto__", "c"]), 2)
    assert.isNull(McpHeader.valueAt(root, ["d"]))
    for (const path of [["constructor"], ["c"], ["a", "toString"], ["d", "x"], ["list", "0"], ["a", "b", "c"]]) {
      assert.isUndefined(McpHeader.valueAt(root, path))
    }
  })
})
