/** Results that a tool writes itself: what of them reaches the client. */
import { TaskLimits, TaskTool } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Logger, Result } from "effect"
import { Tool } from "effect/ai"
import * as registerTool from "../src/internal/registerTool.ts"

const Made = Tool.make("made", { success: TaskTool.ToolResult })

/** How a call of a tool ends that gives back this value, and what the log says. */
const ended = Effect.fnUntraced(function*(value: unknown, limits: Partial<TaskLimits.Limits> = {}) {
  const logs: Array<string> = []
  const logger = Logger.make(({ message }) => {
    logs.push(String(message))
  })
  const handler = { name: "made", handler: () => Effect.succeed(value), context: Context.empty() }
  const services = Context.makeUnsafe<never>(new Map([[Made.id, handler]]))
  const defaults = yield* TaskLimits.TaskLimits
  const registered = yield* registerTool.register(Made, services, { ...defaults, ...limits })
  const outcome = yield* Effect.provide(
    Result.getOrThrow(yield* registered.call({})).run,
    Logger.layer([logger])
  )
  return { outcome, logs }
})

const sent = Effect.fnUntraced(function*(value: unknown) {
  const { outcome } = yield* ended(value)
  assert(outcome._tag === "Result", JSON.stringify(outcome))
  return JSON.parse(outcome.result)
})

const refusal = { code: -32603, message: "The tool's result is not what the tool declares" }

describe("a complete result", () => {
  it.effect("is sent with its _meta, and with what MCP does not know [D5]", () =>
    Effect.gen(function*() {
      const results: ReadonlyArray<{}> = [
        { content: [], _meta: { "example.com/cost": 3 } },
        { content: [], isError: true, more: { rows: [1, null] }, "": 0 },
        JSON.parse(`{"content":[],"__proto__":{"isError":true},"_meta":{"__proto__":1}}`)
      ]
      for (const result of results) {
        assert.deepStrictEqual(Object.entries(yield* sent(result)).toSorted(), [
          ...Object.entries(result),
          ["resultType", "complete"]
        ].toSorted())
      }
    }))

  it.effect("may say that it is complete, and nothing else, and leave out what has no value", () =>
    Effect.gen(function*() {
      const complete = { resultType: "complete", content: [] }
      assert.deepStrictEqual(yield* sent({ ...complete, more: undefined }), complete)
      for (const resultType of ["task", "input_required", 1, null]) {
        const { outcome } = yield* ended({ content: [], resultType, taskId: "1" })
        assert.deepStrictEqual(outcome, { _tag: "Error", error: refusal })
      }
    }))

  it.effect("is refused where a member is no JSON, and the log says which", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [{}, RegExp]> = [
        [{ content: [], _meta: 1 }, /_meta/],
        [{ content: [], _meta: { at: new URL("a:b") } }, /_meta/],
        [{ content: [], more: { n: 1n } }, /more/]
      ]
      for (const [value, words] of wrong) {
        const { logs, outcome } = yield* ended(value)
        assert.deepStrictEqual(outcome, { _tag: "Error", error: refusal })
        assert.match(logs.join(), words)
      }
    }))

  it.effect("is as long as all of it", () =>
    Effect.gen(function*() {
      const limits = { maxResultLength: 1_000 }
      const room = { content: [{ type: "text", text: "x".repeat(800) }] }
      assert.strictEqual((yield* ended(room, limits)).outcome._tag, "Result")
      const holes = Object.assign([], { length: 4e9 })
      for (const more of [{ _meta: { a: "y".repeat(200) } }, { more: "y".repeat(200) }, { more: holes }]) {
        const { outcome } = yield* ended({ ...room, ...more }, limits)
        assert(outcome._tag === "Error")
        assert.match(outcome.error.message, /longer than 1000 characters/)
      }
    }))
})

describe("a block of content", () => {
  const common = { annotations: { audience: ["user"], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" }, _meta: {} }
  const media = { data: "QUI=", mimeType: "a/b" }
  const link = { type: "resource_link", uri: "a:b", name: "n" }
  const icons = [{ src: "a:b", sizes: ["any"], theme: "dark" }]
  const good: ReadonlyArray<{}> = [
    { type: "text", text: "", ...common },
    { type: "image", ...media, ...common },
    { type: "audio", ...media, data: "Q U\nI" },
    { ...link, title: "t", description: "d", mimeType: "a/b", size: 1, icons, ...common },
    { type: "resource", resource: { uri: "a:b", text: "", mimeType: "a/b", _meta: {} }, ...common },
    { type: "resource", resource: { uri: "a:b", blob: "" } },
    { type: "text", text: "", more: 1 }
  ]

  it.effect("is sent as it is, of each kind that MCP knows [D5]", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* sent({ content: good })).content, good)
    }))

  const bad: ReadonlyArray<readonly [block: unknown, words: string]> = [
    [{}, "type has to be one of text, image, audio, resource_link, resource"],
    [{ type: "video" }, "type has to be one of"],
    [{ type: "text" }, "text has to be a string"],
    [{ type: "text", text: 1 }, "text has to be a string"],
    [{ type: "text", text: "", _meta: [] }, "_meta has to be an object"],
    [{ type: "text", text: "", annotations: { audience: ["all"] } }, "annotations.audience has to be an array of"],
    [{ type: "text", text: "", annotations: { priority: 2 } }, "annotations.priority has to be a number from 0 to 1"],
    [{ type: "text", text: "", annotations: { lastModified: 1 } }, "annotations.lastModified has to be a string"],
    [{ type: "image" }, "data has to be text in base64"],
    [{ type: "image", data: "QUI=" }, "mimeType has to be a string"],
    [{ type: "audio", ...media, data: "a-b" }, "data has to be text in base64"],
    [{ type: "resource_link", uri: "a:b" }, "name has to be a string"],
    [{ ...link, size: 1.5 }, "size has to be an integer"],
    [{ ...link, icons: [{}] }, "icons has to be an array of icons"],
    [{ type: "resource" }, "resource has to be an object"],
    [{ type: "resource", resource: { uri: "a:b" } }, "resource.text has to be a string"],
    [{ type: "resource", resource: { text: "" } }, "resource.uri has to be a string"],
    [{ type: "resource", resource: { uri: "a:b", blob: "!" } }, "resource.blob has to be text in base64"]
  ]
  for (const [block, words] of bad) {
    it.effect(`is not sent: ${JSON.stringify(block)} [D5]`, () =>
      Effect.gen(function*() {
        const { logs, outcome } = yield* ended({ content: [{ type: "text", text: "" }, block] })
        assert.deepStrictEqual(outcome, { _tag: "Error", error: refusal })
        assert.include(logs.join(), `${words}`)
        assert.include(logs.join(), `["content"][1]`)
      }))
  }
})
