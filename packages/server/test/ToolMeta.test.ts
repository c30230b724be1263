/** What a tool says of its result in `_meta`, beside what the server says there. */
import { Embedded, TaskLimits, TaskOwner, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { message, read, settle } from "./TestServer.ts"

const parameters = Schema.Struct({})
const Plain = Tool.make("plain", { parameters, success: TaskTool.ToolResult })
const Job = Tool.make("job", { parameters, success: TaskTool.ToolResult }).annotate(TaskTool.Policy, {})
const Quick = Tool.make("quick", { parameters, success: TaskTool.ToolResult })
  .annotate(TaskTool.Policy, { inlineWithin: "1 minute" })
const Kit = Toolkit.make(Plain, Job, Quick)

const key = "io.modelcontextprotocol/serverInfo"
const result = { content: [], _meta: { "example.com/cost": 3, [key]: { name: "another", version: "1" } }, more: [1] }

const handler = () => Effect.succeed(result)

const served = Dispatcher.layer({ name: "test", version: "0" }).pipe(
  Layer.provide(Embedded.layer),
  Layer.provide(TaskTools.layer(Kit)),
  Layer.provide(Kit.toLayer({ plain: handler, job: handler, quick: handler })),
  Layer.provide(TaskStore.layerMemory),
  Layer.provide(TaskLimits.layer({}))
)

describe("the _meta of a result", () => {
  const asking = Effect.map(Layer.build(Layer.fresh(served)), (context) => {
    const { handle } = Context.get(context, Dispatcher.Dispatcher)
    return (method: string, params: Schema.JsonObject) =>
      handle({ headers: undefined, body: message(method, params) }).pipe(
        Effect.flatMap(Dispatcher.finalReply),
        Effect.map(({ body }) => read(body).result ?? {}),
        Effect.provideService(TaskOwner.CurrentOwner, TaskOwner.anonymous)
      )
  })
  const own = { [key]: { name: "test", version: "0" } }

  it.effect("is that of the tool, and the server says who it is, where it answers the call [D5]", () =>
    Effect.gen(function*() {
      const ask = yield* asking
      for (const name of ["plain", "quick"]) {
        assert.deepStrictEqual(yield* ask("tools/call", { name, arguments: {} }), {
          ...result,
          resultType: "complete",
          _meta: { "example.com/cost": 3, ...own }
        })
      }
    }))

  it.effect("stays as it is within a task [D5]", () =>
    Effect.gen(function*() {
      const ask = yield* asking
      const { taskId } = yield* ask("tools/call", { name: "job", arguments: {} })
      yield* settle
      const { _meta, result: kept } = yield* ask("tasks/get", { taskId: taskId ?? null })
      assert.deepStrictEqual(_meta, own)
      assert.deepStrictEqual(kept, { ...result, resultType: "complete" })
    }))
})
