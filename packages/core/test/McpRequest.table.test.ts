import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Schema } from "effect"
import { MetaKey, ProtocolVersion, TasksExtension } from "../src/McpProtocol.ts"
import * as McpRequest from "../src/McpRequest.ts"
import {
  admit,
  admitted,
  call,
  type Draft,
  draft,
  edited,
  expectRefusal,
  get,
  refused,
  server,
  setHeader,
  tasksCapabilities,
  textOf
} from "./McpRequestDraft.ts"

interface Rule {
  readonly name: string
  readonly code: number
  readonly httpStatus: number
  readonly message: RegExp
  readonly onStdio: boolean
  readonly break: (draft: Draft) => void
}

/** The refusal order: each rule with one way to break it and nothing before it. */
const rules: ReadonlyArray<Rule> = [
  {
    name: "JSON",
    code: -32700,
    httpStatus: 400,
    message: /JSON/,
    onStdio: true,
    break: (draft) => {
      draft.cut = true
    }
  },
  {
    name: "envelope",
    code: -32600,
    httpStatus: 400,
    message: /jsonrpc/,
    onStdio: true,
    break: (draft) => {
      draft.envelope.jsonrpc = "1.0"
    }
  },
  {
    name: "_meta",
    code: -32602,
    httpStatus: 400,
    message: /clientCapabilities/,
    onStdio: true,
    break: (draft) => {
      draft.meta[MetaKey.clientCapabilities] = undefined
    }
  },
  {
    name: "version header",
    code: -32020,
    httpStatus: 400,
    message: /MCP-Protocol-Version/,
    onStdio: false,
    break: setHeader("mcp-protocol-version", undefined)
  },
  {
    name: "supported version",
    code: -32022,
    httpStatus: 400,
    message: /Unsupported protocol version/,
    onStdio: true,
    break: (draft) => {
      draft.meta[MetaKey.protocolVersion] = "1900-01-01"
      setHeader("mcp-protocol-version", "1900-01-01")(draft)
    }
  },
  {
    name: "Mcp-Method",
    code: -32020,
    httpStatus: 400,
    message: /Mcp-Method/,
    onStdio: false,
    break: setHeader("mcp-method", "tools/list")
  },
  {
    name: "Mcp-Name",
    code: -32020,
    httpStatus: 400,
    message: /Mcp-Name/,
    onStdio: false,
    break: setHeader("mcp-name", "other")
  },
  {
    name: "method",
    code: -32601,
    httpStatus: 404,
    message: /Method not found: test\/unknown/,
    onStdio: true,
    break: (draft) => {
      draft.envelope.method = "test/unknown"
      setHeader("mcp-method", "test/unknown")(draft)
    }
  },
  {
    name: "capability",
    code: -32021,
    httpStatus: 400,
    message: /io\.modelcontextprotocol\/tasks/,
    onStdio: true,
    break: (draft) => {
      draft.meta[MetaKey.clientCapabilities] = {}
    }
  }
]

const everything = () => draft("test/everything", { name: "deploy" }, { "mcp-name": "deploy" })

/** Breaks the later rule first, so that the earlier one is broken in the end whatever both touch. */
const breaking = (earlier: Rule, later: Rule, headers: boolean): Draft => {
  const message = everything()
  if (!headers) message.headers = undefined
  later.break(message)
  earlier.break(message)
  return message
}

const expectRule = (message: Draft, rule: Rule) => {
  const refusal = expectRefusal(message, rule.code, rule.httpStatus, rule.message)
  assert.strictEqual(refusal.id, rule.name === "JSON" ? null : "req-1")
}

describe("the refusal order [C4]", () => {
  it("admits the message no rule is broken in", () => {
    assert.strictEqual(admitted(everything()).method, "test/everything")
  })

  for (const rule of rules) {
    it(`${rule.name}: broken alone`, () => expectRule(breaking(rule, rule, true), rule))
  }

  rules.forEach((earlier, at) => {
    for (const later of rules.slice(at + 1)) {
      // An unknown method asks for no Mcp-Name, so here the later rule is the only one broken.
      const winner = earlier.name === "Mcp-Name" && later.name === "method" ? later : earlier
      it(`${earlier.name} and ${later.name}: ${winner.name} wins`, () =>
        expectRule(breaking(earlier, later, true), winner))
    }
  })

  const stdio = rules.filter((rule) => rule.onStdio)
  stdio.forEach((earlier, at) => {
    for (const later of stdio.slice(at)) {
      it(`without headers, ${earlier.name} and ${later.name}: ${earlier.name} wins`, () =>
        expectRule(breaking(earlier, later, false), earlier))
    }
  })

  it("checks Mcp-Name before Mcp-Param", () => {
    expectRefusal(call({ region: "eu" }, { "mcp-name": "other" }), -32020, 400, /Mcp-Name/)
  })

  it("checks Mcp-Param before the capability", () => {
    const strict: McpRequest.Server = {
      ...server,
      methods: new Map([["tools/call", { requiresTasks: true, nameParam: "name" }]])
    }
    const message = edited(call({ region: "eu" }), (draft) => {
      draft.meta[MetaKey.clientCapabilities] = {}
    })
    assert.strictEqual(refused(message, strict).error.code, -32020)
  })
})

describe("an admitted request", () => {
  it("carries id, method, params and meta", () => {
    const message = edited(get("t-1", "t-1"), (draft) => {
      draft.envelope.id = 7
      draft.meta[MetaKey.clientInfo] = { name: "client", version: "1" }
      draft.meta[MetaKey.logLevel] = "warning"
      draft.meta.progressToken = "p"
      draft.meta.traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    })
    const request = admitted(message)
    assert.strictEqual(request.id, 7)
    assert.strictEqual(request.params.taskId, "t-1")
    assert.isTrue(Object.hasOwn(request.params, "_meta"))
    assert.isTrue(request.declaresTasks)
    assert.deepStrictEqual(request.meta, {
      protocolVersion: ProtocolVersion,
      clientCapabilities: tasksCapabilities,
      clientInfo: { name: "client", version: "1" },
      progressToken: "p",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
      logLevel: "warning"
    })
  })

  it("needs no client info and no optional field [C8]", () => {
    const { meta } = admitted(get("t-1", "t-1"))
    assert.isUndefined(meta.clientInfo)
    assert.isUndefined(meta.progressToken)
    assert.isUndefined(meta.traceparent)
    assert.isUndefined(meta.logLevel)
  })

  it("ignores a traceparent that is no string, and the legacy task param [E18]", () => {
    const message = edited(call({}), (draft) => {
      draft.meta.traceparent = 5
      draft.params.task = { ttl: 60_000 }
    })
    assert.isUndefined(admitted(message).meta.traceparent)
  })

  it("may be any method without headers", () => {
    const message = get("t-1", undefined)
    message.headers = undefined
    assert.strictEqual(admitted(message).method, "tasks/get")
  })
})

describe("_meta (basic/index, General fields) [C8]", () => {
  const malformed: ReadonlyArray<readonly [string, (draft: Draft) => void]> = [
    ["params missing", (draft) => {
      draft.envelope.params = undefined
    }],
    ["_meta null", (draft) => {
      draft.envelope.params = { _meta: null }
    }],
    ["_meta an array", (draft) => {
      draft.envelope.params = { _meta: [] }
    }],
    ...([
      [MetaKey.protocolVersion, undefined],
      [MetaKey.protocolVersion, 20260728],
      [MetaKey.protocolVersion, null],
      [MetaKey.clientCapabilities, null],
      [MetaKey.clientCapabilities, []],
      [MetaKey.clientCapabilities, "tasks"],
      [MetaKey.clientInfo, "client"],
      [MetaKey.clientInfo, null],
      ["progressToken", {}],
      ["progressToken", 1.5],
      [MetaKey.logLevel, "loud"],
      [MetaKey.logLevel, 3]
    ] as const).map(([key, value]) =>
      [`${key} = ${JSON.stringify(value)}`, (draft: Draft) => {
        draft.meta[key] = value
      }] as const
    )
  ]
  for (const [name, edit] of malformed) {
    it(`${name}: -32602 with HTTP 400, whatever the headers`, () => {
      const message = edited(get("t-1", "t-1"), edit)
      message.headers = {}
      assert.strictEqual(expectRefusal(message, -32602, 400).id, "req-1")
    })
  }
})

describe("methods [A13, E17]", () => {
  for (const method of ["tasks/result", "tasks/list", "ping", "logging/setLevel", "__proto__", "constructor", ""]) {
    it(`${JSON.stringify(method)} is not found, with HTTP 404 and without Mcp-Name`, () => {
      const refusal = expectRefusal(draft(method, { taskId: "t" }, {}), -32601, 404)
      assert.strictEqual(refusal.id, "req-1")
    })
  }

  it("does not send a hostile method back", () => {
    const method = "m".repeat(100_000)
    assert.isBelow(refused(draft(method, {}, {})).error.message.length, 100)
  })
})

describe("capability [C9, E3, E18]", () => {
  const undeclared: ReadonlyArray<Schema.Json> = [
    {},
    { extensions: {} },
    { extensions: null },
    { extensions: [TasksExtension] },
    { extensions: { [TasksExtension]: null } },
    { extensions: { [TasksExtension]: true } },
    { extensions: { [TasksExtension]: [] } },
    { extensions: { [TasksExtension]: "{}" } },
    { tasks: {} },
    { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    { experimental: { [TasksExtension]: {} } },
    { extensions: { "io.modelcontextprotocol/Tasks": {} } }
  ]
  for (const capabilities of undeclared) {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      it(`${method} with ${JSON.stringify(capabilities)} is refused`, () => {
        const message = edited(draft(method, { taskId: "t" }, { "mcp-name": "t" }), (draft) => {
          draft.meta[MetaKey.clientCapabilities] = capabilities
        })
        const { error } = expectRefusal(message, -32021, 400)
        assert.deepStrictEqual(error.data, { requiredCapabilities: { extensions: { [TasksExtension]: {} } } })
      })
    }
    it(`tools/call with ${JSON.stringify(capabilities)} is admitted as not declaring`, () => {
      const message = edited(call({}), (draft) => {
        draft.meta[MetaKey.clientCapabilities] = capabilities
      })
      assert.isFalse(admitted(message).declaresTasks)
    })
  }

  it("counts an extension's own name only", () => {
    const capabilities = { extensions: {} }
    for (const name of ["__proto__", "constructor"]) assert.isFalse(McpRequest.declaresExtension(capabilities, name))
  })

  it("is not remembered from an earlier request [C6]", () => {
    admitted(get("t", "t"))
    const message = edited(get("t", "t"), (draft) => {
      draft.meta[MetaKey.clientCapabilities] = {}
    })
    expectRefusal(message, -32021, 400)
  })

  it("cannot be smuggled in by a prototype key", () => {
    const body = textOf(get("t", "t")).replace("\"extensions\"", "\"__proto__\"")
    const outcome = McpRequest.admit({ headers: undefined, body }, server)
    assert.isTrue(Result.isFailure(outcome) && outcome.failure.error.code === -32021)
  })
})

describe("initialize (basic/versioning, Backward Compatibility) [C15]", () => {
  it("with good _meta is an unknown method that names the versions", () => {
    const { error, id } = expectRefusal(draft("initialize", {}, {}), -32601, 404, /2026-07-28/)
    assert.strictEqual(id, "req-1")
    assert.deepStrictEqual(error.data, { supported: [ProtocolVersion] })
  })

  it("from an earlier client lacks _meta, and is told the versions", () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } }
    })
    for (const headers of [undefined, {}]) {
      const outcome = McpRequest.admit({ headers, body }, server)
      if (Result.isSuccess(outcome)) return assert.fail("admitted")
      const { error, httpStatus, id } = outcome.failure
      assert.deepStrictEqual([error.code, httpStatus, id], [-32602, 400, 0])
      assert.match(error.message, /2026-07-28/)
      assert.deepStrictEqual(error.data, { supported: [ProtocolVersion] })
    }
  })

  it("keeps the data of an unsupported version", () => {
    const message = edited(draft("initialize", {}, {}), (draft) => {
      draft.meta[MetaKey.protocolVersion] = "2025-11-25"
      setHeader("mcp-protocol-version", "2025-11-25")(draft)
    })
    assert.deepStrictEqual(refused(message).error.data, { supported: [ProtocolVersion], requested: "2025-11-25" })
  })

  it("is the only method whose refusal is extended", () => {
    assert.isFalse(Object.hasOwn(refused(draft("ping", {}, {})).error, "data"))
  })
})

describe("notifications [A5]", () => {
  it("need neither _meta nor headers, and what theirs say is not compared", () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
    for (const headers of [undefined, {}, { "mcp-method": "other" }, { "mcp-protocol-version": "1999-01-01" }]) {
      const outcome = McpRequest.admit({ headers, body }, server)
      assert.deepStrictEqual(
        Result.isSuccess(outcome) && outcome.success,
        { _tag: "Notification", method: "notifications/cancelled", params: { requestId: 1 } }
      )
    }
  })

  it("need a good envelope", () => {
    const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: [] })
    const outcome = McpRequest.admit({ headers: {}, body }, server)
    assert.isTrue(Result.isFailure(outcome) && outcome.failure.error.code === -32600 && outcome.failure.id === null)
  })
})

describe("limits", () => {
  it("are the server's", () => {
    const deep: McpRequest.Server = { ...server, limits: { maxDepth: 6 } }
    const outcome = (args: Schema.Json) => admit(call(args), deep)
    assert.isTrue(Result.isSuccess(outcome({})))
    const refusal = refused(call({ a: [[[[]]]] }), deep)
    assert.deepStrictEqual([refusal.error.code, refusal.httpStatus], [-32600, 400])
  })
})
