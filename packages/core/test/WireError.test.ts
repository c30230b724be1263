import { assert, describe, it } from "@effect/vitest"
import { TasksExtension } from "../src/McpProtocol.ts"
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
