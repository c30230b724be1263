import { TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const Route = Tool.make("route", {
  parameters: Schema.Struct({ region: Schema.String.annotate({ "x-mcp-header": "Region", internal: "no" }) })
})
const toolkit = Toolkit.make(Route)
const layer = Layer.provide(TaskTools.layer(toolkit), toolkit.toLayer({ route: () => Effect.void }))

describe("a tool's definition", () => {
  it.effect("keeps x-mcp-header, and no annotation that is not for the wire", () =>
    Effect.gen(function*() {
      const tools = yield* TaskTools.TaskTools
      const { definition } = Option.getOrThrow(tools.get("route"))
      assert.deepNestedInclude(definition, {
        "inputSchema.properties.region": { type: "string", "x-mcp-header": "Region" }
      })
    }).pipe(Effect.provide(layer)))
})
