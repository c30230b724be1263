/**
 * The tests that `docs/guides/writing-a-store.md` shows of its store.
 */
import { CurrentTask, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { StoredTasks, TestTasks } from "@effect-mcp-tasks/testing"
import * as TaskStoreTest from "@effect-mcp-tasks/testing/TaskStoreTest"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, Result, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as LogTaskStore from "../src/LogTaskStore.ts"

const newFile = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return `${yield* fs.makeTempDirectoryScoped()}/tasks.log`
}).pipe(Effect.provide(NodeFileSystem.layer))

const store = (path: string) => Layer.provide(LogTaskStore.layer(path), NodeFileSystem.layer)

TaskStoreTest.suite("LogTaskStore", Effect.map(newFile, store), {
  lacks: { processes: "a process reads the file only when it opens it" }
})

const Brew = Tool.make("brew", {
  parameters: Schema.Struct({ cups: Schema.Int }),
  success: Schema.Struct({ cups: Schema.Int, sugar: Schema.Boolean })
}).annotate(TaskTool.Policy, { ttl: "1 hour", recovery: "resume" })

const Tools = Toolkit.make(Brew)

/** A tool that asks, and works for minutes. */
const brew = TaskTools.layer(Tools).pipe(Layer.provide(Tools.toLayer({
  brew: Effect.fn(function*({ cups }) {
    const task = yield* CurrentTask.CurrentTask
    const form = { message: "With sugar?", schema: Schema.Struct({ sugar: Schema.Boolean }) }
    const answer = yield* Effect.orDie(task.elicit("sugar", form))
    for (let cup = 1; cup <= cups; cup++) {
      yield* task.step(`cup ${cup}`, Schema.Int, Effect.as(Effect.sleep("3 minutes"), cup))
    }
    return { cups, sugar: answer.action === "accept" && answer.content.sugar }
  })
})))

describe("a file of tasks", () => {
  const append = (path: string, text: string) =>
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, text, { flag: "a" })).pipe(
      Effect.provide(NodeFileSystem.layer)
    )
  const list = Effect.flatMap(TaskStore.TaskStore, ({ list }) => list({ limit: 9 }))
  const create = Effect.flatMap(TaskStore.TaskStore, ({ create }) =>
    create(StoredTasks.working(), { maxLive: 1 }))

  it.effect("opens without the line that a crash has cut", () =>
    Effect.gen(function*() {
      const path = yield* newFile
      const kept = yield* Effect.provide(create, store(path), { local: true })
      yield* append(path, `{"taskId":"task-1","row":nu`)
      for (let turn = 0; turn < 2; turn++) {
        assert.deepStrictEqual(yield* Effect.provide(list, store(path), { local: true }), [kept])
      }
    }))

  it.effect("does not open with a line that is damaged", () =>
    Effect.gen(function*() {
      const path = yield* newFile
      yield* Effect.provide(create, store(path), { local: true })
      yield* append(path, "damaged\n")
      const opened = yield* Effect.result(Effect.provide(list, store(path), { local: true }))
      assert.isTrue(Result.isFailure(opened))
    }))

  it.effect("passes over a record that cannot be decoded, and fills the page with others", () =>
    Effect.gen(function*() {
      const path = yield* newFile
      const kept = yield* Effect.provide(create, store(path), { local: true })
      const row = { taskId: "a", owner: "ada", live: true, dueAt: null, head: "{}", body: "{", result: null }
      yield* append(path, `${JSON.stringify({ taskId: "a", row: { ...row, version: 1 } })}\n`)
      yield* Effect.gen(function*() {
        const { list, read } = yield* TaskStore.TaskStore
        assert.deepStrictEqual(yield* list({ limit: 1 }), [kept])
        assert.strictEqual((yield* Effect.flip(read("a"))).reason, "Corrupt")
      }).pipe(Effect.provide(store(path)))
    }))

  it.effect("says of the first write that fails that it may have happened, and writes nothing more", () =>
    Effect.gen(function*() {
      const path = yield* newFile
      const kept = yield* Effect.provide(create, store(path), { local: true })
      const readOnly = Layer.effect(FileSystem.FileSystem, Effect.map(FileSystem.FileSystem, (fs) => ({
        ...fs,
        open: (path: string, options?: { readonly flag?: FileSystem.OpenFlag | undefined }) =>
          fs.open(path, options?.flag === "a" ? { flag: "r" } : options)
      }))).pipe(Layer.provide(NodeFileSystem.layer))
      yield* Effect.gen(function*() {
        const { read, remove } = yield* TaskStore.TaskStore
        for (const reason of ["Unavailable", "ReadOnly"]) {
          assert.strictEqual((yield* Effect.flip(remove("task-1", 1))).reason, reason)
          assert.deepStrictEqual(yield* read("task-1"), Option.some(kept))
        }
      }).pipe(Effect.provide(Layer.provide(LogTaskStore.layer(path), readOnly)))
    }))

  it.effect("carries a tool over a crash of its server", () =>
    Effect.gen(function*() {
      const path = yield* newFile
      yield* Effect.gen(function*() {
        const tasks = yield* TestTasks.TestTasks
        const task = yield* tasks.call("brew", { cups: 3 })
        yield* task.until("input_required")
        yield* tasks.restart("crash")
        yield* task.accept("sugar", { sugar: true })
        const { result } = yield* task.until("completed")
        assert.deepStrictEqual(result["structuredContent"], { cups: 3, sugar: true })
      }).pipe(Effect.provide(Layer.provide(TestTasks.layer(brew), store(path))))
    }))
})
