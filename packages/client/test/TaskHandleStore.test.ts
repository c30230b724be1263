import { TaskHandleStore } from "@effect-mcp-tasks/client"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option } from "effect"
import { KeyValueStore } from "effect/persistence"
import { suite } from "./TaskHandleStoreTest.ts"

suite("memory", TaskHandleStore.layerMemory)

const temporaryDirectory = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

suite(
  "files",
  Layer.unwrap(Effect.map(temporaryDirectory, (directory) =>
    Layer.provide(TaskHandleStore.layer, KeyValueStore.layerFileSystem(directory)))).pipe(
      Layer.provide(NodeServices.layer)
    )
)

describe("a record that a crash has cut off", () => {
  it.effect("keeps its task, since the id is in the key", () =>
    Effect.gen(function*() {
      const values = yield* KeyValueStore.KeyValueStore
      const store = yield* TaskHandleStore.TaskHandleStore
      yield* store.save({ server: "s", taskId: "t1", firstSeenAt: 7, answers: [] })
      const [key = ""] = yield* values.keys
      yield* values.set(key, `{"server":"s","tas`)
      const only: TaskHandleStore.RememberedTask = { server: "s", taskId: "t1", firstSeenAt: 0, answers: [] }
      assert.deepStrictEqual(yield* store.list("s"), [only])
      assert.deepStrictEqual(yield* store.read("s", "t1"), Option.some(only))
    }).pipe(Effect.provide(TaskHandleStore.layer.pipe(Layer.provideMerge(KeyValueStore.layerMemory)))))
})
