import { assert, describe, it } from "@effect/vitest"
import { TasksExtension } from "../src/McpProtocol.ts"
import type { Schema } from "effect"
import * as WireError from "../src/WireError.ts"

describe("WireError [C4, C5]", () => {
  const cases: ReadonlyArray<readonly [WireError.WireError, code: number, status: number]> = [
    [WireError.parseError("m"), -32700, 400],
    [WireError.invalidRequest("m"), -32600, 400],
    [WireError.methodNotFound("m"), -32601, 404],
    [WireError.invalidParams("m"), -32602, 200],
    [WireError.internalError("m"), -32603, 200],
    [WireError.headerMismatch("m"), -32020, 400],
    [WireError.missingRequiredClientCapability({ roots: {} }), -32021, 400],
    [WireError.unsupportedProtocolVersion(["a"], "b"), -32022, 400],
    [{ code: 1234, message: "a tool's own" }, 1234, 200]
  ]
  for (const [error, code, status] of cases) {
    it(`${code} goes with HTTP ${status}`, () => {
      assert.strictEqual(error.code, code)
      assert.deepStrictEqual(WireError.refusal("id", error), { httpStatus: status as 200 | 400 | 404, id: "id", error })
    })
  }

  it("a tool may send what the protocol does not keep for itself", () => {
    const may = (code: number, data?: Schema.Json) =>
      WireError.mayBeOfATool({ code, message: "m", ...(data === undefined ? {} : { data }) })
    for (const code of [-32100, -32603, -32602, -32019, -32001, -32000, -1, 0, 1]) assert.isTrue(may(code), `${code}`)
    for (const code of [-32099, -32050, -32042, -32022, -32021, -32020, -32002]) assert.isFalse(may(code), `${code}`)
    assert.isTrue(may(-32021, { requiredCapabilities: { sampling: {} } }))
    for (const data of [null, [], "all", {}, { requiredCapabilities: [] }]) assert.isFalse(may(-32021, data))
    assert.isFalse(may(-32020, { requiredCapabilities: {} }))
  })

  it("lets the caller choose 400 for malformed _meta", () => {
    assert.strictEqual(WireError.refusal(1, WireError.invalidParams("m"), 400).httpStatus, 400)
  })

  it("carries data only where there is some", () => {
    assert.isFalse(Object.hasOwn(WireError.parseError("m"), "data"))
    assert.isFalse(Object.hasOwn(WireError.invalidParams("m"), "data"))
    assert.deepStrictEqual(WireError.invalidParams("m", { uri: "u" }).data, { uri: "u" })
    assert.deepStrictEqual(WireError.unsupportedProtocolVersion(["a"], "b").data, { supported: ["a"], requested: "b" })
  })

  it("names the required capabilities [C9, E2]", () => {
    assert.deepStrictEqual(WireError.tasksRequired.data, {
      requiredCapabilities: { extensions: { [TasksExtension]: {} } }
    })
    assert.deepStrictEqual(WireError.featureRequired("sampling").data, { requiredCapabilities: { sampling: {} } })
    assert.deepStrictEqual(WireError.featureRequired("roots").data, { requiredCapabilities: { roots: {} } })
    const url = WireError.featureRequired("elicitation", { url: {} })
    assert.deepStrictEqual(url.data, { requiredCapabilities: { elicitation: { url: {} } } })
    assert.match(url.message, /elicitation/)
  })
})
