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
        [{ content: [], _meta: { at: new Date(0) } }, /_meta/],
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
