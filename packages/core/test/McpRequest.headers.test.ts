import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { MetaKey, ProtocolVersion } from "../src/McpProtocol.ts"
import type * as McpRequest from "../src/McpRequest.ts"
import {
  admit, admitted, call, draft, edited, expectRefusal, get, refused, server, setHeader
} from "./McpRequestDraft.ts"

describe("protocol version [A11, A12]", () => {
  it("names what is supported and what was asked", () => {
    const refusal = expectRefusal(
      edited(get("t", "t"), (draft) => {
        draft.meta[MetaKey.protocolVersion] = "v999.0.0"
        setHeader("mcp-protocol-version", "v999.0.0")(draft)
      }),
      -32022,
      400
    )
    assert.deepStrictEqual(refusal.error.data, { supported: [ProtocolVersion], requested: "v999.0.0" })
  })

  it("a header that differs is a mismatch, even when _meta is unsupported", () => {
    expectRefusal(
      edited(get("t", "t"), (draft) => {
        draft.meta[MetaKey.protocolVersion] = "v999.0.0"
      }),
      -32020,
      400,
      /MCP-Protocol-Version/
    )
  })

  it("tolerates blanks around the header, refuses other white space", () => {
    admitted(edited(get("t", "t"), setHeader("mcp-protocol-version", ` \t${ProtocolVersion} `)))
    const invalid = edited(get("t", "t"), setHeader("mcp-protocol-version", `${ProtocolVersion}\n`))
    expectRefusal(invalid, -32020, 400, /invalid characters/)
  })
})

describe("Mcp-Method [A14]", () => {
  for (const value of [undefined, "", "TASKS/GET", "tasks/update", "tasks/get, tasks/get", "=?base64?dGFza3MvZ2V0?="]) {
    it(`${JSON.stringify(value)} is a mismatch`, () => {
      expectRefusal(edited(get("t", "t"), setHeader("mcp-method", value)), -32020, 400, /Mcp-Method/)
    })
  }
  it("tolerates blanks around it", () => {
    admitted(edited(get("t", "t"), setHeader("mcp-method", "  tasks/get\t")))
  })
})

describe("Mcp-Name [A14, A15]", () => {
  const methods = [
    ["tools/call", "name"],
    ["prompts/get", "name"],
    ["resources/read", "uri"],
    ["tasks/get", "taskId"],
    ["tasks/update", "taskId"],
    ["tasks/cancel", "taskId"]
  ] as const
  for (const [method, param] of methods) {
    const named = (header: string | undefined) => draft(method, { [param]: "abc-1" }, { "mcp-name": header })
    for (const good of ["abc-1", "  abc-1 ", "\tabc-1", "abc-1 \t", "=?base64?YWJjLTE=?=", " =?base64?YWJjLTE=?= "]) {
      it(`${method} serves ${JSON.stringify(good)}`, () => {
        assert.strictEqual(admitted(named(good)).method, method)
      })
    }
    const bad = [
      undefined,
      "",
      "abc-2",
      "ABC-1",
      "abc-1, abc-1",
      "=?BASE64?YWJjLTE=?=",
      "=?base64?YWJjLTE?=",
      "=?base64?YWJj!!LTE=?=",
      "=?base64?YWJjLTF=?=",
      "=?base64?YWJj LTE=?=",
      "=?base64?gICA?=",
      "=?base64??=",
      "abc-1\u00e9",
      "abc-1\r\n",
      "abc-1\u0000"
    ]
    for (const header of bad) {
      it(`${method} refuses ${JSON.stringify(header)}`, () => {
        expectRefusal(named(header), -32020, 400, /Mcp-Name/)
      })
    }
  }

  it("compares the decoded value of a name no header can carry", () => {
    admitted(get("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="))
    admitted(get(" padded ", "=?base64?IHBhZGRlZCA=?="))
    admitted(get("\ufeffx", "=?base64?77u/eA==?="))
    expectRefusal(get(" padded ", " padded "), -32020, 400)
    expectRefusal(get("Hello, 世界", "Hello, 世界"), -32020, 400)
  })

  it("takes half a sentinel for a literal", () => {
    admitted(get("=?base64?YWJjLTE=", "=?base64?YWJjLTE="))
    admitted(get("YWJjLTE=?=", "YWJjLTE=?="))
    admitted(get("=?base64?=", "=?base64?="))
  })

  it("leaves an absent or malformed name to the method, unless a header claims one", () => {
    for (const taskId of [undefined, null, 5, {}, [], true]) admitted(get(taskId, undefined))
    admitted(get(5, "5"))
    for (const taskId of [undefined, null, {}, []]) expectRefusal(get(taskId, "t"), -32020, 400)
  })

  it("is not asked for where the method has no name", () => {
    admitted(draft("tools/list", {}, {}))
    admitted(draft("tools/list", {}, { "mcp-name": "anything" }))
  })

  it("never repeats the values in the message", () => {
    const { error } = refused(get("secret-in-body", "secret-in-header"))
    assert.notMatch(error.message, /secret/)
  })
})

describe("Mcp-Param (streamable-http, Server Behavior for Custom Headers)", () => {
  const all = { "mcp-param-region": "eu", "mcp-param-count": "42", "mcp-param-dry": "true" }
  const args = { region: "eu", limits: { count: 42 }, dry: true }

  it("serves equal values [A14, A15]", () => {
    admitted(call(args, all))
    admitted(call(args, { ...all, "mcp-param-region": " =?base64?ZXU=?= " }))
    admitted(call({ region: "" }, { "mcp-param-region": "" }))
  })

  it("compares integers as numbers [A17]", () => {
    for (const header of ["42", "42.0", "4.2e1", "420E-1", "4.2e+1"]) {
      admitted(call(args, { ...all, "mcp-param-count": header }))
    }
    for (const header of ["43", "", "0x2A", "42px", "4 2", "NaN", "Infinity", "+42", "042", "-42", "42.", "4_2"]) {
      expectRefusal(call(args, { ...all, "mcp-param-count": header }), -32020, 400, /Mcp-Param-Count/)
    }
  })

  it("refuses an integer a double cannot hold", () => {
    const big = { limits: { count: 2 ** 53 } }
    expectRefusal(call(big, { "mcp-param-count": String(2 ** 53) }), -32020, 400, /Mcp-Param-Count/)
  })

  it("compares strings and booleans by case [A18]", () => {
    expectRefusal(call(args, { ...all, "mcp-param-region": "EU" }), -32020, 400, /Mcp-Param-Region/)
    expectRefusal(call(args, { ...all, "mcp-param-dry": "True" }), -32020, 400, /Mcp-Param-Dry/)
    expectRefusal(call(args, { ...all, "mcp-param-dry": "1" }), -32020, 400, /Mcp-Param-Dry/)
  })

  it("refuses a missing header for a value, and a header for no value [A14, A16]", () => {
    expectRefusal(call({ region: "eu" }), -32020, 400, /Mcp-Param-Region is missing/)
    for (const value of [{}, { region: null }, undefined, "text", []]) {
      admitted(call(value))
      expectRefusal(call(value, { "mcp-param-region": "eu" }), -32020, 400, /Mcp-Param-Region is present/)
    }
  })

  it("refuses what is not strictly base64, or not a field value [A15]", () => {
    for (const header of ["=?base64?ZXU?=", "=?base64?Z!U=?=", "=?base64?_-8=?=", "e\u0001u", "e\u00fc"]) {
      expectRefusal(call({ region: "eu" }, { "mcp-param-region": header }), -32020, 400, /Mcp-Param-Region/)
    }
  })

  it("refuses an object where a header is due: no header can state it", () => {
    expectRefusal(call({ region: {} }), -32020, 400)
    expectRefusal(call({ region: {} }, { "mcp-param-region": "[object Object]" }), -32020, 400)
  })

  it("ignores parameter headers nobody asked for", () => {
    admitted(call({}, { "mcp-param-other": "x" }))
    const other = draft("tools/call", { name: "plain", arguments: { region: "eu" } }, { "mcp-name": "plain" })
    admitted(other)
    admitted(draft("prompts/get", { name: "deploy", arguments: { region: "eu" } }, { "mcp-name": "deploy" }))
  })
})

describe("a header that cannot be read [A15, E19]", () => {
  it("is refused with the reason, and without its value", () => {
    const named = (header: string) => draft("tasks/get", { taskId: "abc-1" }, { "mcp-name": header })
    expectRefusal(named("=?base64?YWJjLTE?="), -32020, 400, /Mcp-Name contains invalid base64$/)
    expectRefusal(named("=?base64?/w==?="), -32020, 400, /Mcp-Name contains invalid UTF-8$/)
    expectRefusal(named("abc\u00e9"), -32020, 400, /Mcp-Name contains invalid characters$/)
    const region = call({ region: "eu" }, { "mcp-param-region": "=?base64?ZXU?=" })
    expectRefusal(region, -32020, 400, /Mcp-Param-Region contains invalid base64$/)
  })
})

describe("a server", () => {
  it("need not mirror any parameter, and is asked for those of a name only", () => {
    const { paramHeaders: _, ...plain } = server
    assert.isTrue(Result.isSuccess(admit(call({ region: "eu" }), plain)))
    const asked: Array<string> = []
    const strict: McpRequest.Server = {
      ...server,
      paramHeaders: (name) => {
        asked.push(name)
        return []
      }
    }
    for (const name of [7, null, ["deploy"], undefined]) {
      assert.isTrue(Result.isSuccess(admit(draft("tools/call", { name }, {}), strict)))
    }
    assert.isEmpty(asked)
  })

  it("may know initialize", () => {
    const legacy = { ...server, methods: new Map([["initialize", { requiresTasks: false }]]) }
    assert.isTrue(Result.isSuccess(admit(draft("initialize", {}, {}), legacy)))
  })
})
