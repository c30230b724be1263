import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { InputWire } from "../src/index.ts"

const fits = (schema: Schema.Constraint) => {
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)
  return (value: unknown) => Result.isSuccess(decode(value))
}

const text = { type: "text", text: "Hello" }
const use = (id: string) => ({ type: "tool_use", id, name: "clock", input: {} })
const outcome = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [text] })
const user = (...content: ReadonlyArray<unknown>) => ({ role: "user", content })
const model = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })

describe("a conversation for a model (client/sampling, Message Content Constraints)", () => {
  const isRequest = fits(InputWire.CreateMessageParams)
  const talk = (...messages: ReadonlyArray<unknown>) => isRequest({ messages, maxTokens: 1 })
  it("may use tools, if the next message has their results and nothing else", () => {
    assert.isTrue(talk({ role: "user", content: text }))
    assert.isTrue(talk(user(text), model(text, use("a"), use("b")), user(outcome("b"), outcome("a"))))
    assert.isTrue(talk(user(text), model(use("a")), { role: "user", content: outcome("a") }, model(text), user(text)))
  })
  const bad: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    "no message": [],
    "a result missing": [user(text), model(use("a"), use("b")), user(outcome("a"))],
    "a result too many": [user(text), model(use("a")), user(outcome("a"), outcome("b"))],
    "a result of nothing": [user(outcome("a"))],
    "a result later": [user(text), model(use("a")), user(text), user(outcome("a"))],
    "a result never": [user(text), model(use("a"))],
    "a result beside text": [user(text), model(use("a")), user(outcome("a"), text)],
    "a result from the assistant": [user(text), model(use("a")), model(outcome("a"))],
    "a tool used by the user": [user(use("a")), user(outcome("a"))],
    "two results for one": [user(text), model(use("a")), user(outcome("a"), outcome("a"))],
    "ids that only look alike": [user(text), model(use("a\nb")), user(outcome("a"), outcome("b"))],
    "a role that is none": [{ role: "system", content: text }],
    "a block that is none": [user({ type: "video", data: "" })]
  }
  for (const [name, messages] of Object.entries(bad)) it(`has not ${name}`, () => assert.isFalse(talk(...messages)))
  it("is bounded, and prefers within bounds", () => {
    const one = { messages: [user(text)] }
    for (const rest of [{}, { maxTokens: 0 }, { maxTokens: 1.5 }, { maxTokens: 1, toolChoice: { mode: "maybe" } }]) {
      assert.isFalse(isRequest({ ...one, ...rest }), JSON.stringify(rest))
    }
    assert.isTrue(isRequest({ ...one, maxTokens: 1, modelPreferences: { speedPriority: 1 }, more: true }))
    assert.isFalse(isRequest({ ...one, maxTokens: 1, modelPreferences: { speedPriority: 1.1 } }))
  })
})

describe("replies", () => {
  it("of a model, one block or several, with members that nobody knows yet", () => {
    const isReply = fits(InputWire.CreateMessageResult)
    for (const content of [text, [], [text, use("a")], { ...text, more: 1 }]) {
      assert.isTrue(isReply({ role: "assistant", content, model: "m", stopReason: "toolUse", more: 1 }))
    }
    for (const content of ["Hello", null, {}, { type: "text" }, [{ type: "tool_use" }]]) {
      assert.isFalse(isReply({ role: "assistant", content, model: "m" }), JSON.stringify(content))
    }
    assert.isFalse(isReply({ role: "assistant", content: text }))
  })
  it("of roots, each a file", () => {
    const isRoots = fits(InputWire.ListRootsResult)
    for (const uri of ["file:///a", "file:///C:/a", "FILE:///a"]) assert.isTrue(isRoots({ roots: [{ uri }] }), uri)
    for (const uri of ["", "/a", "http://a", "xfile:///a", 1]) assert.isFalse(isRoots({ roots: [{ uri }] }), `${uri}`)
  })
  it("of a form hold texts, numbers, truth values and lists of texts", () => {
    const isContent = fits(InputWire.ElicitContent)
    assert.isTrue(isContent({ a: "", b: 0.5, c: false, d: ["x"], e: [] }))
    for (const value of [null, {}, [1], [["x"]], Number.NaN]) assert.isFalse(isContent({ value }), String(value))
  })
})

describe("inputRequiredResult", () => {
  it("is one line, has the questions in order, and any key and state", () => {
    const request = { method: "roots/list" } as const
    const questions = [{ key: "2", request }, { key: "__proto__", request }, { key: "1", request }]
    const json = InputWire.inputRequiredResult(questions, "a\"b")
    assert.strictEqual(
      json,
      `{"resultType":"input_required","inputRequests":{"2":{"method":"roots/list"},` +
        `"__proto__":{"method":"roots/list"},"1":{"method":"roots/list"}},"requestState":"a\\"b"}`
    )
  })
})
