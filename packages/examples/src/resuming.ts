/**
 * The program of the guide docs/guides/resuming-after-a-crash.md: it goes on with what an earlier run has left, or
 * begins. Kill it whenever you like.
 *
 * @since 0.1.0
 */
import { InputHandler, TaskClient, TaskHandleStore } from "@effect-mcp-tasks/client"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Option, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { KeyValueStore } from "effect/persistence"

const [url = "http://127.0.0.1:3334/mcp", directory = ".data/open-tasks"] = process.argv.slice(2)

const onInput = InputHandler.make({
  elicit: ({ message }, { isRepeated }) =>
    Console.log(`Asked${isRepeated ? " again" : ""}: ${message} Yes.`).pipe(
      Effect.as({ action: "accept", content: { overwrite: true } })
    )
})

const program = Effect.scoped(Effect.gen(function*() {
  const { open, resume, start } = yield* TaskClient.TaskClient
  const options = { success: Schema.String, onInput }
  const ids = yield* open
  const tasks = ids.length > 0
    ? yield* Effect.forEach(ids, (id) => resume(id, options))
    : [yield* start("export_report", { rows: 48210 }, options)]
  for (const task of tasks) {
    yield* Console.log(`${ids.length > 0 ? "Resumed" : "Started"} ${Option.getOrElse(task.id, () => "no task")}`)
    yield* Console.log(yield* task.await)
  }
}))

const store = TaskHandleStore.layer.pipe(
  Layer.provide(KeyValueStore.layerFileSystem(directory)),
  Layer.provide(NodeServices.layer)
)

const client = TaskClient.layerHttp({ name: "resuming", version: "1.0.0", url, server: "reports" }).pipe(
  Layer.provide(store),
  Layer.provide(FetchHttpClient.layer)
)

program.pipe(Effect.provide(client), NodeRuntime.runMain)
