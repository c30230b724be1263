/** What a failure suggests, and how its reason is put. */
import { TaskClientError } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import * as CliFailure from "../src/CliFailure.ts"

const transport = (more: Partial<TaskClientError.TransportError>) =>
  new TaskClientError.TransportError({ method: "tasks/get", reason: "HttpStatus", detail: "no", ...more })

const refused = (more: Partial<TaskClientError.InputRefused>) =>
  new TaskClientError.InputRefused({ key: "k", method: "elicitation/create", detail: "no", ...more })

const may = /The task may go on: look again with `mcp-tasks watch http:\/\/server\/mcp t1`/
const taskId = "t1"

const hints: ReadonlyArray<readonly [TaskClientError.TaskClientError, RegExp | undefined, RegExp | undefined]> = [
  [transport({ reason: "Unreachable", taskId }), /Is the server running/, undefined],
  [transport({ reason: "Unreachable", taskId }), may, undefined],
  [transport({ reason: "Timeout" }), /Is the server running/, /task/],
  [transport({ status: 401, taskId }), /MCP_TASKS_TOKEN/, may],
  [transport({ status: 403, taskId }), /MCP_TASKS_TOKEN/, may],
  [transport({ status: 404, taskId }), /address of an MCP server/, may],
  [transport({ status: 302 }), /address of an MCP server/, undefined],
  [transport({ status: 503, taskId }), may, /address/],
  [transport({ reason: "NotJson", status: 200 }), /address of an MCP server/, undefined],
  [refused({ fields: ["a"] }), /--answer FIELD=VALUE/, /answer http/],
  [refused({ fields: ["a"], taskId }), /mcp-tasks answer http:\/\/server\/mcp t1 FIELD=VALUE/, undefined],
  [refused({ taskId }), /mcp-tasks cancel http:\/\/server\/mcp t1/, /FIELD/],
  [refused({}), undefined, /./]
]

describe("a hint", () => {
  it.each(hints)("suits %s", (error, has, hasNot) => {
    const { hint = "" } = CliFailure.fromClient(error, "http://server/mcp")
    if (has !== undefined) assert.match(hint, has)
    if (hasNot !== undefined) assert.notMatch(hint, hasNot)
  })
})

describe("a word for the shell", () => {
  it("is one word, that neither runs anything nor is a flag", () => {
    assert.strictEqual(CliFailure.shellWord("786512e2-9e0d.a:b"), "786512e2-9e0d.a:b")
    assert.strictEqual(CliFailure.shellWord("http://127.0.0.1:3334/mcp"), "http://127.0.0.1:3334/mcp")
    assert.strictEqual(CliFailure.shellWord("$(id)"), "'$(id)'")
    assert.strictEqual(CliFailure.shellWord("a';id;'b"), `'a'\\'';id;'\\''b'`)
    for (const id of ["--token=x", "a\nb", "a\u001b[2J", "a\u202eb", ""]) assert.strictEqual(CliFailure.shellWord(id), "TASK")
    const { hint = "" } = CliFailure.fromClient(transport({ status: 503, taskId: "`id`;$(id)" }), "http://server/mcp")
    assert.include(hint, "mcp-tasks watch http://server/mcp '`id`;$(id)'`")
  })
})

describe("the failure of a tool", () => {
  it("has its whole result, and so has one that does not fit", () => {
    const result = { content: [{ type: "text", text: "no" }], structuredContent: { a: 1 }, isError: true }
    assert.deepStrictEqual(CliFailure.fromClient(new TaskClientError.ToolError({ result }), "s").result, result)
    const misfit = new TaskClientError.InvalidOutput({ detail: "no", result })
    assert.deepStrictEqual(CliFailure.fromClient(misfit, "s").result, result)
  })
})

describe("a reason", () => {
  it("has the words of what caused it, each once, and a code where there are none", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED ::1:1"), { code: "ECONNREFUSED" })
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [new Error("out", { cause: new Error("in") }), "out: in"],
      [new Error("out: in", { cause: new Error("in") }), "out: in"],
      [new Error("", { cause: new AggregateError([refused]) }), "connect ECONNREFUSED ::1:1"],
      [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
      ["words", "words"],
      [undefined, ""]
    ]
    for (const [error, reason] of cases) assert.strictEqual(CliFailure.reasonOf(error), reason)
  })
})
