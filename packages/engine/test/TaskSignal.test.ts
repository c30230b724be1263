import { TaskSignal } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { suite } from "@effect-mcp-tasks/testing/TaskSignalTest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as remoteSignal from "../src/internal/remoteSignal.ts"
import * as TaskDatabase from "./TaskDatabase.ts"

suite("TaskSignal.layerMemory", TaskSignal.layerMemory, {
  lacks: { processes: "it carries signals within one process" }
})

suite(
  "TaskSignal.layerPoll on SQLite",
  Effect.map(TaskDatabase.file, (filename) =>
    Layer.provide(
      TaskSignal.layerPollWith({ interval: "50 millis" }),
      SqliteClient.layer({ filename, synchronous: "NORMAL" })
    ))
)

describe("the texts of a signal", () => {
  it("name each task once, and are never longer than Postgres carries", () => {
    const ids = Array.from({ length: 500 }, (_, n) => `${n % 400}-${"€".repeat(n % 300)}`)
    const texts = remoteSignal.texts("origin", ids)
    for (const text of texts) assert.isBelow(Buffer.byteLength(text), 8_000)
    const named = texts.flatMap((text) => {
      const [origin, ...taskIds] = JSON.parse(text)
      assert.strictEqual(origin, "origin")
      return taskIds
    })
    assert.deepStrictEqual(named, [...new Set(ids)])
  })

  it("leave out an id that fits in none, and keep its neighbours", () => {
    const texts = remoteSignal.texts("origin", ["a", "x".repeat(3_000), "b"])
    assert.deepStrictEqual(texts, [`["origin","a","b"]`])
    assert.deepStrictEqual(remoteSignal.texts("origin", []), [])
  })
})
