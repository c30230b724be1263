/** What a server of plain tools says of itself. */
import { Embedded, TaskOwner, TaskStore, TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ada, message, read, tasks } from "./TestServer.ts"

const Kit = Toolkit.make(Tool.make("plain", { success: Schema.String }))

const plainServer = Dispatcher.layer({ name: "test", version: "0" }).pipe(
  Layer.provide(Embedded.layer),
  Layer.provide(TaskTools.layer(Kit)),
  Layer.provide(Kit.toLayer({ plain: () => Effect.succeed("plain") })),
  Layer.provide(TaskStore.layerMemory)
)

describe("a server of plain tools", () => {
  it.effect("offers no tasks, even to a client that knows them [C14]", () =>
    Effect.gen(function*() {
      const { handle } = yield* Dispatcher.Dispatcher
      const discover = message("server/discover", {}, { capabilities: tasks })
      const { body } = yield* Effect.flatMap(handle({ headers: undefined, body: discover }), Dispatcher.finalReply)
      assert.deepStrictEqual(read(body).result?.["capabilities"], { tools: {} })
      assert.isUndefined(read(body).result?.["instructions"])
    }).pipe(Effect.provideService(TaskOwner.CurrentOwner, ada), Effect.provide(plainServer)))
})
