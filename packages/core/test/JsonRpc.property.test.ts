import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as JsonRpc from "../src/JsonRpc.ts"

const depthOf = (value: Schema.Json): number =>
  typeof value === "object" && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map((member: Schema.Json) => depthOf(member)))
    : 0

describe("parse", () => {
  it.prop("any text gives a message or a refusal with HTTP 400", [Schema.String], ([text]) => {
    const outcome = JsonRpc.parse(text)
    assert.isTrue(Result.isFailure(outcome) && outcome.failure.httpStatus === 400)
  }, { arbitrary: { runs: 500 } })

  it.prop("reads back every request", {
    id: Schema.Union([Schema.String, Schema.Int]),
    method: Schema.String,
    value: Schema.Json
  }, ({ id, method, value }) => {
    const params = { value }
    const text = JSON.stringify({ jsonrpc: "2.0", id, method, params })
    const outcome = JsonRpc.parse(text, { maxDepth: 10_000 })
    if (Result.isFailure(outcome)) return assert.fail(JSON.stringify(outcome.failure))
    assert.deepStrictEqual(outcome.success, { _tag: "Request", ...JSON.parse(JSON.stringify({ id, method, params })) })
  }, { arbitrary: { runs: 500 } })

  it.prop("reads the id of every request that is too deep", {
    id: Schema.Union([Schema.String, Schema.Int]),
    method: Schema.String,
    value: Schema.Json
  }, ({ id, method, value }) => {
    const request = { value, params: { value }, jsonrpc: "2.0", id, method, last: [value] }
    for (const text of [JSON.stringify(request), JSON.stringify(request, null, 1)]) {
      const outcome = JsonRpc.parse(text, { maxDepth: 1 })
      assert.isTrue(Result.isFailure(outcome) && outcome.failure.id === JSON.parse(text).id)
    }
  }, { arbitrary: { runs: 500 } })

  it.prop("counts the depth a recursive count gives", [Schema.Json], ([value]) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 1)]) {
      const depth = depthOf(value)
      assert.isFalse(JsonRpc.isDeeperThan(text, depth))
      if (depth > 0) assert.isTrue(JsonRpc.isDeeperThan(text, depth - 1))
    }
  }, { arbitrary: { runs: 500 } })
})

describe("encoders", () => {
  it.prop("give one line that reads back to the id and the result", {
    id: Schema.Union([Schema.String, Schema.Int]),
    result: Schema.Json
  }, ({ id, result }) => {
    const text = JsonRpc.result(id, JSON.stringify(result, null, 2))
    assert.notMatch(text, /[\r\n]/)
    assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify({ jsonrpc: "2.0", id, result })))
  }, { arbitrary: { runs: 500 } })
})
