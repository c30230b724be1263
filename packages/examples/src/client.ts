/**
 * `npm run example:client`: calls a long tool of the server that `npm start` serves, and asks its question here.
 *
 * @since 0.1.0
 */
import { InputHandler, TaskClient } from "@effect-mcp-tasks/client"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import { FetchHttpClient } from "effect/http"

const program = Effect.gen(function*() {
  const { call } = yield* TaskClient.TaskClient
  const said = yield* call("export_report", { rows: 48210 }, {
    success: Schema.String,
    onInput: InputHandler.terminal
  })
  yield* Console.log(said)
})

const client = TaskClient.layerHttp({
  name: "example-client",
  version: "1.0.0",
  url: process.argv[2] ?? "http://127.0.0.1:3334/mcp"
}).pipe(Layer.provide(FetchHttpClient.layer))

program.pipe(
  Effect.provide(Layer.merge(client, NodeServices.layer)),
  NodeRuntime.runMain
)
