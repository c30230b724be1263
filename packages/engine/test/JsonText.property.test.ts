import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as jsonText from "../src/internal/jsonText.ts"

const depth = { maxDepth: 10_000 }

describe("jsonText.encode", () => {
  it.prop("takes any JSON value that is as long as the bound, and no longer one", [Schema.Json], ([value]) => {
    const text = JSON.stringify(value)
    assert.deepStrictEqual(jsonText.encode(value, { ...depth, maxLength: text.length }), Result.succeed(text))
    const refused = jsonText.encode(value, { ...depth, maxLength: text.length - 1 })
    assert.deepStrictEqual(refused, Result.fail({ reason: `it is longer than ${text.length - 1} characters` }))
  }, { arbitrary: { runs: 500 } })

  it("does not count what JSON leaves out", () => {
    const value = { a: undefined, b: () => 1, ["c".repeat(99)]: Symbol("s"), d: [undefined, () => 1, Symbol("s")] }
    const text = `{"d":[null,null,null]}`
    assert.deepStrictEqual(jsonText.encode(value, { ...depth, maxLength: text.length }), Result.succeed(text))
  })

  it("gives up as soon as a value is certain to be too long", () => {
    let visited = 0
    const part = {
      toJSON: () => {
        visited++
        return "x".repeat(98)
      }
    }
    const text = jsonText.encode(Array.from({ length: 100_000 }, () => part), { ...depth, maxLength: 1_000 })
    assert.deepStrictEqual(text, Result.fail({ reason: "it is longer than 1000 characters" }))
    assert.strictEqual(visited, 10)
  })
})
