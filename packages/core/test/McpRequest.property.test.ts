import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import * as JsonRpc from "../src/JsonRpc.ts"
import * as McpHeader from "../src/McpHeader.ts"
import { MetaKey, ProtocolVersion, TasksExtension } from "../src/McpProtocol.ts"
import * as McpRequest from "../src/McpRequest.ts"

const server: McpRequest.Server = {
  supportedVersions: [ProtocolVersion],
  methods: new Map<string, McpRequest.Method>([
    ["tools/list", { requiresTasks: false }],
    ["tools/call", { requiresTasks: false, nameParam: "name" }],
    ["tasks/get", { requiresTasks: true, nameParam: "taskId" }]
  ]),
  paramHeaders: () => [{ header: "Region", path: ["region"], type: "string" }]
}

const codes: ReadonlyArray<number> = [-32700, -32600, -32602, -32020, -32022, -32601, -32021]

/** Every outcome is an admitted message or a complete refusal whose encoding is one line of JSON under the same id. */
const checkOutcome = (input: McpRequest.Input) => {
  const outcome = McpRequest.admit(input, server)
  if (Result.isSuccess(outcome)) {
    assert.isString(outcome.success.method)
    if (outcome.success._tag === "Notification") return outcome
    assert.isTrue(server.methods.has(outcome.success.method))
    assert.isTrue(JsonRpc.isId(outcome.success.id))
    assert.isObject(outcome.success.params._meta)
    return outcome
  }
  const { error, httpStatus, id } = outcome.failure
  assert.include(codes, error.code)
  assert.strictEqual(httpStatus, error.code === -32601 ? 404 : 400)
  const text = JsonRpc.error(id, error)
  assert.notMatch(text, /[\r\n]/)
  assert.deepStrictEqual(JSON.parse(text), { jsonrpc: "2.0", id: Object.is(id, -0) ? 0 : id, error })
  return outcome
}

const headerName = Schema.Literals(["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region"])
const value = Schema.Union([
  Schema.Literals(["2.0", ProtocolVersion, "tools/call", "tasks/get", "tools/list", "initialize", "=?base64?YQ==?="]),
  Schema.String
])
const headers = Schema.Union([Schema.Record(headerName, Schema.Union([value, Schema.Undefined])), Schema.Undefined])
const json = Schema.Union([Schema.Json, value])
/** Messages that come close: every member is right half of the time. */
const nearly = Schema.Struct({
  jsonrpc: Schema.Union([Schema.Literal("2.0"), json]),
  id: Schema.Union([Schema.Int, Schema.String, json]),
  method: Schema.Union([Schema.Literals(["tools/call", "tasks/get", "tools/list"]), json]),
  params: Schema.Union([
    Schema.Struct({
      name: json,
      taskId: json,
      arguments: Schema.Union([Schema.Struct({ region: json }), json]),
      _meta: Schema.Union([
        Schema.Struct({
          [MetaKey.protocolVersion]: Schema.Union([Schema.Literal(ProtocolVersion), json]),
          [MetaKey.clientCapabilities]: Schema.Union([
            Schema.Struct({ extensions: Schema.Union([Schema.Struct({ [TasksExtension]: json }), json]) }),
            json
          ]),
          progressToken: Schema.Union([Schema.String, json])
        }),
        json
      ])
    }),
    json
  ])
})

describe("admit", () => {
  it.prop("any text is admitted or refused", { body: Schema.String, headers }, (input) => {
    checkOutcome(input)
  }, { arbitrary: { runs: 500 } })

  it.prop("any JSON is admitted or refused", { json, headers }, ({ headers, json }) => {
    checkOutcome({ headers, body: JSON.stringify(json) })
  }, { arbitrary: { runs: 500 } })

  it.prop("anything close to a request is admitted or refused", { nearly, headers }, ({ headers, nearly }) => {
    checkOutcome({ headers, body: JSON.stringify(nearly) })
  }, { arbitrary: { runs: 1_000 } })

  it.prop("any cut of a good message is refused as no JSON", { length: Schema.Natural }, ({ length }) => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":["\\"\\\\"]}}`
    const outcome = checkOutcome({ headers: undefined, body: body.slice(0, length % body.length) })
    assert.isTrue(Result.isFailure(outcome) && outcome.failure.error.code === -32700)
  })

  it.prop("any task id is admitted under its encoded header, and refused under another [A14, A15]", {
    taskId: Schema.String,
    other: Schema.String
  }, ({ other, taskId }) => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tasks/get",
      params: {
        taskId,
        _meta: {
          [MetaKey.protocolVersion]: ProtocolVersion,
          [MetaKey.clientCapabilities]: { extensions: { [TasksExtension]: {} } }
        }
      }
    })
    const admits = (name: string) =>
      Result.isSuccess(checkOutcome({
        headers: { "mcp-protocol-version": ProtocolVersion, "mcp-method": "tasks/get", "mcp-name": name },
        body
      }))
    assert.strictEqual(admits(McpHeader.encodeHeaderValue(taskId)), taskId.isWellFormed())
    assert.strictEqual(admits(McpHeader.encodeHeaderValue(other)), taskId.isWellFormed() && other === taskId)
  }, { arbitrary: { runs: 500 } })
})

/** Code units of every kind that matters to the encoding, lone surrogates included. */
const piece = Schema.Literals(
  ["a", "=", "?", "=?base64?", "?=", " ", "\t", "\n", "\u0000", "é", "世", "\ud83d", "\ude00", "\ufeff"]
)
const hostileText = Arbitrary.map(Arbitrary.array(Arbitrary.schema(piece)), (parts) => parts.join(""))

const checkRoundTrip = (text: string) => {
  const header = McpHeader.encodeHeaderValue(text)
  assert.match(header, /^(?:[!-~](?:[ -~]*[!-~])?)?$/)
  assert.deepStrictEqual(McpHeader.decodeHeaderValue(header), Result.succeed(text.toWellFormed()))
  assert.deepStrictEqual(McpHeader.decodeHeaderValue(` ${header}\t`), Result.succeed(text.toWellFormed()))
}

describe("header values", () => {
  it.prop("any string survives the round trip as a legal field value", [Schema.String], ([text]) => {
    checkRoundTrip(text)
  }, { arbitrary: { runs: 500 } })

  it.prop("so does hostile text", [hostileText], ([text]) => {
    checkRoundTrip(text)
  }, { arbitrary: { runs: 1_000 } })

  it.prop("any text decodes or gives a reason", [hostileText], ([text]) => {
    const decoded = McpHeader.decodeHeaderValue(text)
    if (Result.isFailure(decoded)) assert.match(decoded.failure, /^contains invalid/)
  })

  it.prop("an integer matches its own decimal form [A17]", [Schema.Int, Schema.Int], ([a, b]) => {
    assert.isTrue(McpHeader.matches(McpHeader.encodeHeaderValue(a), a))
    assert.strictEqual(McpHeader.matches(McpHeader.encodeHeaderValue(a), b), a === b)
  })

  it.prop("any schema is read or gives a reason", [Schema.Json], ([schema]) => {
    const annotated = { properties: { a: schema, b: { type: "string", "x-mcp-header": "B" } } }
    const read = McpHeader.paramHeaders(annotated)
    if (Result.isSuccess(read)) assert.isTrue(read.success.some((param) => param.header === "B"))
    else assert.isString(read.failure)
  })
})
