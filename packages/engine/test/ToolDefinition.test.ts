import { TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const Route = Tool.make("route", {
  parameters: Schema.Struct({ region: Schema.String.annotate({ "x-mcp-header": "Region", internal: "no" }) })
})
const Read = Tool.make("read").annotate(Tool.Readonly, true)
const Write = Tool.make("write")
const Add = Tool.make("add")
  .annotate(Tool.Destructive, false)
  .annotate(Tool.Idempotent, true)
  .annotate(Tool.OpenWorld, false)

const toolkit = Toolkit.make(Route, Read, Write, Add)
const nothing = () => Effect.void
const handlers = toolkit.toLayer({ route: nothing, read: nothing, write: nothing, add: nothing })
const layer = Layer.provide(TaskTools.layer(toolkit), handlers)

describe("a tool's definition", () => {
  it.effect("keeps x-mcp-header, and no annotation that is not for the wire", () =>
    Effect.gen(function*() {
      const tools = yield* TaskTools.TaskTools
      const { definition } = Option.getOrThrow(tools.get("route"))
      assert.deepNestedInclude(definition, {
        "inputSchema.properties.region": { type: "string", "x-mcp-header": "Region" }
      })
    }).pipe(Effect.provide(layer)))

  it.effect("says whether a tool destroys or repeats anything only if it changes anything", () =>
    Effect.gen(function*() {
      const tools = yield* TaskTools.TaskTools
      const hints = (name: string) => Option.getOrThrow(tools.get(name)).definition["annotations"]
      assert.deepStrictEqual(hints("read"), { readOnlyHint: true, openWorldHint: true })
      assert.deepStrictEqual(hints("write"), {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true
      })
      assert.deepStrictEqual(hints("add"), {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false
      })
    }).pipe(Effect.provide(layer)))
})
