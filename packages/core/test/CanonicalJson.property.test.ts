import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CanonicalJson } from "../src/index.ts"
import { jsonEqual } from "../src/internal/jsonEqual.ts"

/** The same value with the members of every object in another order. */
const reordered = (value: Schema.Json): Schema.Json => {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).toReversed().map(([name, member]) => [name, reordered(member)]))
}

const plain = (value: Schema.Json): Schema.Json => JSON.parse(JSON.stringify(value))

describe("CanonicalJson.encode", () => {
  it.prop("is JSON of the same value, whatever the order of members", [Schema.Json], ([value]) => {
    const text = CanonicalJson.encode(value)
    assert.isTrue(jsonEqual(JSON.parse(text), plain(value)))
    assert.strictEqual(CanonicalJson.encode(reordered(plain(value))), CanonicalJson.encode(plain(value)))
  })

  it.prop("tells values apart that JSON tells apart", [Schema.Json, Schema.Json], ([one, two]) => {
    const same = CanonicalJson.encode(one) === CanonicalJson.encode(two)
    assert.strictEqual(same, jsonEqual(plain(one), plain(two)))
  })

  it("is not misled by names and nesting", () => {
    const values = [`{"a":1,"b":2}`, `{"a":{"b":2}}`, `{"a":[1,2]}`, `{"a":"1,2"}`, `{"__proto__":1}`, `{}`, `{"1":1}`,
      `["a"]`, `"a"`, `{"a":null}`, `[[],[]]`, `[[[]]]`, `{"a\\",\\"b":1}`]
    const texts = values.map((value) => CanonicalJson.encode(JSON.parse(value)))
    assert.strictEqual(new Set(texts).size, values.length)
    assert.strictEqual(CanonicalJson.encode(JSON.parse(`{"b":1,"10":2,"9":3,"__proto__":4}`)),
      `{"10":2,"9":3,"__proto__":4,"b":1}`)
  })
})
