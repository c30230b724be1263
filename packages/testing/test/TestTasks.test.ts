import { CurrentTask, TaskOwner, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Fault, FaultyStore, TestTasks } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"

const Export = Tool.make("export", {
  parameters: Schema.Struct({ rows: Schema.Int }),
  success: Schema.Struct({ rows: Schema.Int, attempt: Schema.Int })
}).annotate(TaskTool.Policy, { ttl: "1 day", pollInterval: "10 seconds", recovery: "resume" })

const Plain = Tool.make("plain", { parameters: Schema.Struct({}), success: Schema.String })

const Kit = Toolkit.make(Export, Plain)

/** How often rows were read, over all processes of a test. */
const makeTools = () => {
  const work = { reads: 0 }
  const handler = Effect.fnUntraced(function*({ rows }: { readonly rows: number }) {
    const task = yield* CurrentTask.CurrentTask
    const read = yield* task.step("read", Schema.Int, Effect.sync(() => {
      work.reads += 1
      return rows
    }))
    const form = { message: "Overwrite?", schema: Schema.Struct({ overwrite: Schema.Boolean }) }
    const answer = yield* Effect.orDie(task.elicit("overwrite", form))
    if (answer.action !== "accept") return yield* new TaskTool.ProtocolError({ code: -32000, message: "Not wanted" })
    yield* Effect.sleep("1 hour")
    return { rows: read, attempt: task.attempt }
  }, Effect.orDie)
  const handlers = Kit.toLayer({ export: handler, plain: () => Effect.succeed("at once") })
  return { work, layer: Layer.provide(TaskTools.layer(Kit), handlers) }
}

describe("TestTasks", () => {
  it.effect("tests an hour of work, a question in it, in milliseconds", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("export", { rows: 3 })
      const asked = yield* task.until("input_required")
      assert.deepStrictEqual(Object.keys(asked.inputRequests), ["overwrite"])
      yield* task.accept("overwrite", { overwrite: true })
      const ended = yield* task.until("completed")
      assert.deepStrictEqual(ended.result["structuredContent"], { rows: 3, attempt: 1 })
      assert.isAtLeast(ended.lastUpdatedAt - ended.createdAt, 3_600_000)
      assert.deepStrictEqual(yield* tasks.task(task.taskId).now, ended)
    }).pipe(Effect.provide(TestTasks.layerMemory(makeTools().layer))))

  it.effect("ends as the tool ends: declined, cancelled, expired", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const declined = yield* tasks.call("export", { rows: 1 })
      yield* declined.until("input_required")
      yield* declined.decline("overwrite")
      const failed = yield* declined.until("failed")
      assert.deepStrictEqual(failed.error, { code: -32000, message: "Not wanted" })
      const cancelled = yield* tasks.call("export", { rows: 1 })
      yield* cancelled.until("input_required")
      yield* cancelled.cancel
      assert.strictEqual((yield* cancelled.ended).status, "cancelled")
      const expired = yield* tasks.call("export", { rows: 1 })
      yield* TestClock.adjust("1 day")
      assert.strictEqual((yield* expired.ended).status, "failed")
    }).pipe(Effect.provide(TestTasks.layerMemory(makeTools().layer))))

  it.effect("says what there is instead of what was waited for", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("export", { rows: 3 })
      yield* task.until("input_required")
      yield* task.cancel
      const never = yield* Effect.flip(task.until("completed"))
      assert.instanceOf(never, TestTasks.NeverReached)
      assert.include(never.message, `"status":"cancelled"`)
      const direct = yield* Effect.flip(tasks.call("plain", {}))
      assert.instanceOf(direct, TestTasks.NeverReached)
      assert.include(direct.message, "at once")
    }).pipe(Effect.provide(TestTasks.layerMemory(makeTools().layer))))

  it.effect("answers directly, refuses, and tells owners apart", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      assert.deepStrictEqual((yield* tasks.direct("plain", {}))["content"], [{ type: "text", text: "at once" }])
      const unknown = yield* Effect.flip(tasks.send("tasks/get", { taskId: "unknown" }))
      assert.instanceOf(unknown, TestTasks.Refused)
      assert.strictEqual(unknown.code, -32602)
      const ada = tasks.as(TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" }))
      const task = yield* ada.call("export", { rows: 1 })
      assert.deepStrictEqual(yield* Effect.flip(tasks.task(task.taskId).now), unknown)
      assert.strictEqual((yield* task.until("input_required")).status, "input_required")
      const misfit = yield* Effect.flip(task.answer({ overwrite: { action: "accept", content: {} } }))
      assert.instanceOf(misfit, TestTasks.Refused)
      assert.strictEqual(misfit.code, -32602)
    }).pipe(Effect.provide(TestTasks.layerMemory(makeTools().layer))))

  for (const how of ["crash", "shutdown"] as const) {
    const tools = makeTools()
    it.effect(`takes tasks up again after a ${how}, over their journal`, () =>
      Effect.gen(function*() {
        const tasks = yield* TestTasks.TestTasks
        const task = yield* tasks.call("export", { rows: 3 })
        yield* task.until("input_required")
        yield* tasks.restart(how)
        yield* task.accept("overwrite", { overwrite: true })
        yield* TestClock.adjust("30 minutes")
        yield* tasks.restart(how)
        const ended = yield* task.until("completed")
        assert.deepStrictEqual(ended.result["structuredContent"], { rows: 3, attempt: 3 })
        assert.strictEqual(tools.work.reads, 1)
      }).pipe(Effect.provide(TestTasks.layerMemory(tools.layer))))
  }

  it.effect("crashes between doing a step and remembering it: the step is done again", () => {
    const tools = makeTools()
    const store = FaultyStore.layer.pipe(Layer.provide(TaskStore.layerMemory))
    return Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const faults = yield* FaultyStore.FaultyStore
      yield* faults.next("writes", Fault.none, Fault.crashBefore)
      const task = yield* tasks.call("export", { rows: 3 })
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* faults.hasCrashed)
      yield* tasks.restart("crash")
      yield* task.until("input_required")
      assert.strictEqual(tools.work.reads, 2)
    }).pipe(Effect.provide(TestTasks.layer(tools.layer).pipe(Layer.provideMerge(store))))
  })
})
