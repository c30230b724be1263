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

const scalars: ReadonlyArray<Schema.Json> = [null, true, false, 0, -0, 1, 10, -1.5, 1e21, 5e-324, "", "1", "a", `"`,
  "\ud800", "\u2028", "null", "{}"]

const names = ["a", "b", "1", "10", "9", "", `"`, "a\",\"b", "__proto__", "constructor", "\ud800", "\u00e4"]

/**
 * The value that a list of choices describes: a generator of whole values takes many times as long to draw smaller
 * ones, and two of its values are hardly ever alike.
 */
const described = (choices: ReadonlyArray<number>): Schema.Json => {
  let at = 0
  const next = (below: number): number => Math.abs(choices[at++] ?? 0) % below
  const value = (depth: number): Schema.Json => {
    const kind = depth > 6 ? 0 : next(4)
    if (kind < 2) return scalars[next(scalars.length)] ?? null
    const length = next(4)
    if (kind === 2) return Array.from({ length }, () => value(depth + 1))
    return Object.fromEntries(
      Array.from({ length }, () => [names[next(names.length)] ?? "", value(depth + 1)] as const)
    )
  }
  // Some choices ask for a list first, so that most values are of many parts.
  return [value(0), value(1), value(1)]
}

const Choices = Schema.Array(Schema.Int)

const runs = { arbitrary: { runs: 300 } }

describe("CanonicalJson.encode", () => {
  it.prop("is JSON of the same value, whatever the order of members", [Choices], ([choices]) => {
    const value = described(choices)
    const text = CanonicalJson.encode(value)
    assert.isTrue(jsonEqual(JSON.parse(text), plain(value)))
    assert.strictEqual(CanonicalJson.encode(reordered(plain(value))), CanonicalJson.encode(plain(value)))
  }, runs)

  it.prop("tells values apart that JSON tells apart", [Choices, Choices, Schema.Int], ([one, two, change]) => {
    // Besides another value, one that differs in a single choice, which often is the same value all the same.
    const near = one.length === 0 ? [change] : one.with(Math.abs(change) % one.length, change)
    for (const other of [two, near, one]) {
      const same = CanonicalJson.encode(described(one)) === CanonicalJson.encode(described(other))
      assert.strictEqual(same, jsonEqual(plain(described(one)), plain(described(other))))
    }
  }, runs)

  it("is not misled by names and nesting", () => {
    const values = [`{"a":1,"b":2}`, `{"a":{"b":2}}`, `{"a":[1,2]}`, `{"a":"1,2"}`, `{"__proto__":1}`, `{}`, `{"1":1}`,
      `["a"]`, `"a"`, `{"a":null}`, `[[],[]]`, `[[[]]]`, `{"a\\",\\"b":1}`]
    const texts = values.map((value) => CanonicalJson.encode(JSON.parse(value)))
    assert.strictEqual(new Set(texts).size, values.length)
    assert.strictEqual(CanonicalJson.encode(JSON.parse(`{"b":1,"10":2,"9":3,"__proto__":4}`)),
      `{"10":2,"9":3,"__proto__":4,"b":1}`)
  })
})
