/** A request that breaks no rule, to be broken one edit at a time. */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import type { Schema } from "effect"
import type { ParamHeader } from "../src/McpHeader.ts"
import { MetaKey, ProtocolVersion, TasksExtension } from "../src/McpProtocol.ts"
import * as McpRequest from "../src/McpRequest.ts"
import type { Refusal } from "../src/WireError.ts"

const region: ParamHeader = { header: "Region", path: ["region"], type: "string" }
const count: ParamHeader = { header: "Count", path: ["limits", "count"], type: "integer" }
const dry: ParamHeader = { header: "Dry", path: ["dry"], type: "boolean" }

export const server: McpRequest.Server = {
  supportedVersions: [ProtocolVersion],
  methods: new Map<string, McpRequest.Method>([
    ["server/discover", { requiresTasks: false }],
    ["tools/list", { requiresTasks: false }],
    ["tools/call", { requiresTasks: false, nameParam: "name" }],
    ["prompts/get", { requiresTasks: false, nameParam: "name" }],
    ["resources/read", { requiresTasks: false, nameParam: "uri" }],
    ["tasks/get", { requiresTasks: true, nameParam: "taskId" }],
    ["tasks/update", { requiresTasks: true, nameParam: "taskId" }],
    ["tasks/cancel", { requiresTasks: true, nameParam: "taskId" }],
    // A made-up method on which every rule of the order can be broken at once.
    ["test/everything", { requiresTasks: true, nameParam: "name" }]
  ]),
  paramHeaders: (tool) => tool === "deploy" ? [region, count, dry] : []
}

type Headers = Record<string, string | undefined>
type Members = Record<string, Schema.Json | undefined>

export interface Draft {
  headers: Headers | undefined
  envelope: Members
  params: Members
  meta: Members
  cut: boolean
}

export const tasksCapabilities = { extensions: { [TasksExtension]: {} } }

export const draft = (method: string, params: Members, headers: Headers): Draft => ({
  headers: { "mcp-protocol-version": ProtocolVersion, "mcp-method": method, ...headers },
  envelope: { jsonrpc: "2.0", id: "req-1", method },
  params,
  meta: { [MetaKey.protocolVersion]: ProtocolVersion, [MetaKey.clientCapabilities]: tasksCapabilities },
  cut: false
})

export const call = (args: Schema.Json | undefined, headers: Headers = {}): Draft =>
  draft("tools/call", { name: "deploy", arguments: args }, { "mcp-name": "deploy", ...headers })

export const get = (taskId: Schema.Json | undefined, name: string | undefined): Draft =>
  draft("tasks/get", { taskId }, { "mcp-name": name })

export const edited = (base: Draft, edit: (draft: Draft) => void): Draft => {
  edit(base)
  return base
}

export const textOf = (message: Draft): string => {
  const text = JSON.stringify({ params: { ...message.params, _meta: message.meta }, ...message.envelope })
  return message.cut ? text.slice(0, -1) : text
}

export const admit = (message: Draft, on: McpRequest.Server = server) =>
  McpRequest.admit({ headers: message.headers, body: textOf(message) }, on)

export const admitted = (message: Draft): McpRequest.AdmittedRequest => {
  const outcome = admit(message)
  if (Result.isFailure(outcome)) return assert.fail(`refused: ${JSON.stringify(outcome.failure)}`)
  return outcome.success._tag === "Request" ? outcome.success : assert.fail("a notification")
}

export const refused = (message: Draft, on: McpRequest.Server = server): Refusal => {
  const outcome = admit(message, on)
  return Result.isFailure(outcome) ? outcome.failure : assert.fail("admitted")
}

export const expectRefusal = (message: Draft, code: number, httpStatus: number, text?: RegExp): Refusal => {
  const refusal = refused(message)
  assert.strictEqual(refusal.error.code, code, refusal.error.message)
  assert.strictEqual(refusal.httpStatus, httpStatus)
  if (text !== undefined) assert.match(refusal.error.message, text)
  return refusal
}

export const setHeader = (name: string, value: string | undefined) => (draft: Draft) => {
  if (draft.headers !== undefined) draft.headers[name] = value
}
