import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as JsonRpc from "../src/JsonRpc.ts"
import * as WireError from "../src/WireError.ts"

const parsed = (text: string): JsonRpc.JsonRpcMessage => {
  const outcome = JsonRpc.parse(text)
  return Result.isSuccess(outcome) ? outcome.success : assert.fail(JSON.stringify(outcome.failure))
}

const refused = (text: string, limits?: JsonRpc.Limits): WireError.Refusal => {
  const outcome = JsonRpc.parse(text, limits)
  return Result.isFailure(outcome) ? outcome.failure : assert.fail("accepted")
}

describe("parse accepts", () => {
  it("a request", () => {
    assert.deepStrictEqual(parsed(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1]}}`), {
      _tag: "Request",
      id: 1,
      method: "m",
      params: { a: [1] }
    })
  })

  it("a request without params, white space around it, unknown members in it", () => {
    assert.deepStrictEqual(parsed(` \n{"jsonrpc":"2.0","id":"x","method":"m","extra":1}\r\n`), {
      _tag: "Request",
      id: "x",
      method: "m",
      params: undefined
    })
  })

  it("a notification", () => {
    assert.deepStrictEqual(parsed(`{"jsonrpc":"2.0","method":"m"}`), {
      _tag: "Notification",
      method: "m",
      params: undefined
    })
  })

  it("the last of duplicate keys", () => {
    const message = parsed(`{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}`)
    assert.deepStrictEqual(message, { _tag: "Request", id: 2, method: "b", params: undefined })
  })

  it("integers in any JSON spelling, 0, negative ones, and the empty string as id [C1]", () => {
    const cases = [["1.0", 1], ["1e2", 100], ["0", 0], ["-5", -5], ["9007199254740991", 2 ** 53 - 1], ["\"\"", ""]]
    for (const [text, id] of cases) {
      const message = parsed(`{"jsonrpc":"2.0","id":${text},"method":"m"}`)
      assert.strictEqual(message._tag === "Request" ? message.id : undefined, id)
    }
  })

  it("__proto__ as an ordinary key", () => {
    const message = parsed(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"__proto__":{"polluted":true}}}`)
    assert.isTrue(message.params !== undefined && Object.hasOwn(message.params, "__proto__"))
    assert.isFalse("polluted" in {})
    assert.strictEqual(refused(`{"__proto__":{"jsonrpc":"2.0","id":1,"method":"m"}}`).error.code, -32600)
  })

  it("a lone surrogate", () => {
    const message = parsed(`{"jsonrpc":"2.0","id":"\\ud800","method":"m"}`)
    assert.strictEqual(message._tag === "Request" ? message.id : undefined, "\ud800")
  })
})

describe("parse refuses [A4, C1, C4]", () => {
  const cases: ReadonlyArray<readonly [text: string, code: number, id: string | number | null]> = [
    ["", -32700, null],
    ["   ", -32700, null],
    ["{", -32700, null],
    [`{"jsonrpc":"2.0","id":1,"method":"m"`, -32700, null],
    [`{"jsonrpc":"2.0","id":1,"method":"m}`, -32700, null],
    [`{"jsonrpc":"2.0","id":1,"method":"m"}{}`, -32700, null],
    [`{'jsonrpc':'2.0'}`, -32700, null],
    [`{"jsonrpc":"2.0","id":NaN,"method":"m"}`, -32700, null],
    [`\ufeff{"jsonrpc":"2.0","id":1,"method":"m"}`, -32700, null],
    ["]", -32700, null],
    ["[]", -32600, null],
    [`[{"jsonrpc":"2.0","id":1,"method":"m"}]`, -32600, null],
    ["null", -32600, null],
    ["42", -32600, null],
    ["true", -32600, null],
    [`"text"`, -32600, null],
    ["{}", -32600, null],
    [`{"id":1,"method":"m"}`, -32600, 1],
    [`{"jsonrpc":"1.0","id":1,"method":"m"}`, -32600, 1],
    [`{"jsonrpc":2,"id":"a","method":"m"}`, -32600, "a"],
    [`{"jsonrpc":2.0,"id":"a","method":"m"}`, -32600, "a"],
    [`{"jsonrpc":"2.0","id":null,"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":{},"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":[],"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":true,"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":1.5,"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":1e400,"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, -32600, null],
    [`{"jsonrpc":"2.0","id":1}`, -32600, 1],
    [`{"jsonrpc":"2.0","id":1,"method":5}`, -32600, 1],
    [`{"jsonrpc":"2.0","id":1,"method":null}`, -32600, 1],
    [`{"jsonrpc":"2.0","method":{}}`, -32600, null],
    [`{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, -32600, 1],
    [`{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}`, -32600, 1],
    [`{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, -32600, 1],
    [`{"jsonrpc":"2.0","id":1,"method":"m","params":7}`, -32600, 1],
    [`{"jsonrpc":"2.0","method":"m","params":[]}`, -32600, null],
    [`{"jsonrpc":"2.0","id":1,"result":{}}`, -32600, null],
    [`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, -32600, null]
  ]
  for (const [text, code, id] of cases) {
    it(`${JSON.stringify(text)} with ${code}`, () => {
      const refusal = refused(text)
      assert.strictEqual(refusal.error.code, code)
      assert.strictEqual(refusal.id, id)
      assert.strictEqual(refusal.httpStatus, 400)
    })
  }

  it("a batch and a response by name", () => {
    assert.match(refused("[]").error.message, /batch/)
    assert.match(refused(`{"jsonrpc":"2.0","id":1,"result":{}}`).error.message, /responses/)
  })

  it("broken JSON without repeating it [C4]", () => {
    assert.notMatch(refused(`{"password": hunter2`).error.message, /hunter2/)
  })
})

describe("nesting", () => {
  const nested = (open: string, close: string, levels: number) =>
    `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":${open.repeat(levels)}1${close.repeat(levels)}}}`

  it("is accepted up to the limit and refused beyond it", () => {
    const room = JsonRpc.defaultLimits.maxDepth - 2
    parsed(nested("[", "]", room))
    parsed(nested("{\"a\":", "}", room))
    for (const text of [nested("[", "]", room + 1), nested("{\"a\":", "}", room + 1)]) {
      const { error, httpStatus, id } = refused(text)
      assert.deepStrictEqual([error.code, httpStatus, id], [-32600, 400, 1])
      assert.match(error.message, /deeper than 128 levels/)
    }
  })

  it("is refused under the id of a request, and under none where there is none to be read", () => {
    const deep = `${"[".repeat(200)}"]}"${"]".repeat(200)}`
    const ids: ReadonlyArray<readonly [string, string | number | null]> = [
      [`{"params":${deep},"jsonrpc":"2.0","method":"m","id":"\\"]}"}`, "\"]}"],
      [` {"id":1,"a":{"id":2,"b":${deep}},"id":3,"c":[${deep},{}],"method":"m"}`, 3],
      [`{"id":1,"jsonrpc":"2.0","method":"m","params":[${deep},{"id":2}]}`, 1],
      [`{"id":${deep},"jsonrpc":"2.0","method":"m"}`, null],
      [`{"id":1.5,"jsonrpc":"2.0","method":"m","params":${deep}}`, null],
      [`{"jsonrpc":"2.0","method":"m","params":${deep}}`, null],
      [`{"id":1,"jsonrpc":"2.0","result":${deep}}`, null],
      [`[{"id":1,"jsonrpc":"2.0","method":"m","params":${deep}}]`, null],
      [`{"id":1,"jsonrpc":"2.0","method":"m","params":${deep}`, null],
      [`{"id":1,"jsonrpc":"2.0","method":"m","params":[${deep}}`, null],
      [`{"id":1,"method":"m","params":${deep}}}`, null],
      [`{"id":1,"method":"m","params":${deep}} 1`, null],
      [`{"id":1,"method":"m","params":${deep},"x`, null],
      [`{"id":1,"method":"m" ${deep}}`, null]
    ]
    for (const [text, id] of ids) {
      const refusal = refused(text)
      assert.deepStrictEqual([refusal.error.code, refusal.id], [-32600, id], text)
    }
  })

  it("costs no more than to look at every character a few times, whatever is too deep", () => {
    const deep = "[".repeat(200) + "]".repeat(200)
    const long = [
      `"a":[],`.repeat(600_000),
      `"${"\\\\".repeat(2_000_000)}":1,`,
      `"${"\\\"".repeat(2_000_000)}":1,`,
      `"a":[${"[],".repeat(1_400_000)}1],`
    ]
    for (const members of long) {
      assert.strictEqual(refused(`{${members}"id":1,"jsonrpc":"2.0","method":"m","params":${deep}}`).id, 1)
    }
  })

  it("100 000 and 1 000 000 levels are refused, closed or not", () => {
    for (const levels of [100_000, 1_000_000]) {
      const { error, id } = refused(nested("[", "]", levels))
      assert.deepStrictEqual([error.code, id], [-32600, 1])
      assert.strictEqual(refused("{\"a\":".repeat(levels)).error.code, -32600)
    }
  })

  it("counts what is open, not what has been opened", () => {
    parsed(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[${"[],".repeat(10_000)}{}]}}`)
  })

  it("counts no bracket inside a string, escaped quotes included", () => {
    const limits = { maxDepth: 2 }
    const text = (value: string) =>
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "m", params: { value, [value]: 1 } })
    for (const value of ["[[[[", "\"[[[[", "\\", "\\\"[[[[", "\\\\", "\\\\\"[[[[\\", "{\"{{{\\\\\\"]) {
      assert.isTrue(Result.isSuccess(JsonRpc.parse(text(value), limits)), value)
    }
    assert.strictEqual(refused(`{"jsonrpc":"2.0","id":1,"method":"\\\\","params":{"a":[]}}`, limits).error.code, -32600)
  })

  it("stays linear on a text of quotes and backslashes", () => {
    const text = `{"a":"${"\\".repeat(2_000_000)}${"\\\"".repeat(500_000)}"}`
    assert.isFalse(JsonRpc.isDeeperThan(text, 1))
  })
})

describe("encoders", () => {
  it("echo the id with its JSON type and never re-encode the result [C2]", () => {
    assert.strictEqual(JsonRpc.result(1, "{\"a\": 1.0}"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\": 1.0}}")
    assert.strictEqual(JsonRpc.result("1", "{}"), "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}")
    assert.strictEqual(JsonRpc.result("a\"\n", "{}"), "{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"\\n\",\"result\":{}}")
    assert.strictEqual(JsonRpc.result(-0, "{}"), "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}")
  })

  it("write an unreadable id as null [C4]", () => {
    assert.strictEqual(
      JsonRpc.error(null, WireError.parseError("bad")),
      "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"bad\"}}"
    )
  })

  it("give one line, also around pretty-printed text", () => {
    const text = JsonRpc.result(1, JSON.stringify({ a: ["x\ny\r"] }, null, 2).replaceAll("\n", "\r\n"))
    assert.notMatch(text, /[\r\n]/)
    assert.deepStrictEqual(JSON.parse(text).result, { a: ["x\ny\r"] })
    assert.notMatch(JsonRpc.error("\n", WireError.internalError("a\nb")), /[\r\n]/)
    assert.strictEqual(JsonRpc.result(1, "{\r}"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ }}")
    assert.strictEqual(
      JsonRpc.notification("n/t", "{\n\"a\":1}"),
      "{\"jsonrpc\":\"2.0\",\"method\":\"n/t\",\"params\":{ \"a\":1}}"
    )
  })
})
