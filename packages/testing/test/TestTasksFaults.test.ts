/** What a test hears of a server that does not answer, and of work that takes real time. */
import { TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Fault, FaultyStore, TestTasks } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import * as http from "node:http"

const Work = Tool.make("work", { parameters: Schema.Struct({}), success: Schema.Struct({ tookMs: Schema.Int }) })
  .annotate(TaskTool.Policy, { ttl: "10 minutes", recovery: "resume" })

const Endless = Tool.make("endless", { parameters: Schema.Struct({}), success: Schema.Int })
  .annotate(TaskTool.Policy, { ttl: "1 day", recovery: "resume" })

const Kit = Toolkit.make(Work, Endless)

/** A tool that does what it is given, and says how long that took by the clock of the test. */
const working = (work: Effect.Effect<unknown>) => {
  const runs = { count: 0 }
  const handlers = Kit.toLayer({
    work: () =>
      Effect.gen(function*() {
        runs.count += 1
        const began = yield* Clock.currentTimeMillis
        yield* work
        return { tookMs: (yield* Clock.currentTimeMillis) - began }
      }),
    endless: () => Effect.never
  })
  return { runs, layer: Layer.provide(TaskTools.layer(Kit), handlers) }
}

/** A server over a store that does as it is told; nobody else's. */
const faulty = (tools = working(Effect.void)) =>
  Effect.provide(
    TestTasks.layer(tools.layer).pipe(
      Layer.provideMerge(FaultyStore.layer),
      Layer.provide(Layer.fresh(TaskStore.layerMemory))
    )
  )

/** What somebody dies of. */
const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) =>
    Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : assert.fail("It did not die"))

const services = Effect.all({ tasks: TestTasks.TestTasks, faults: FaultyStore.FaultyStore })

describe("a test whose server does not answer", () => {
  it.effect("hears that the process has crashed, whatever it asks, until it starts another", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      yield* faults.next("replace", Fault.crashBefore)
      const task = yield* tasks.call("work", {})
      for (const asked of [task.until("completed"), task.ended, task.now, task.cancel, tasks.call("work", {})]) {
        assert.match(yield* defectOf(Effect.asVoid(asked)), /^NoReply: No reply to .*: the process has crashed/)
      }
      assert.match(yield* defectOf(tasks.restart("shutdown")), /cannot end in good order/)
      yield* tasks.restart("crash")
      yield* task.until("completed")
    }).pipe(faulty()))

  it.effect("ends all the same after a crash", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      yield* faults.next("replace", Fault.crashBefore)
      yield* tasks.call("work", {})
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* faults.hasCrashed)
    }).pipe(faulty()))

  it.effect("hears that a call was dropped: a view, a create, a change", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      yield* faults.next("create", Fault.drop)
      assert.match(yield* defectOf(tasks.call("work", {})), /No reply to tools\/call: .*dropped/)
      const task = yield* tasks.call("endless", {})
      yield* faults.next("view", Fault.drop)
      assert.match(yield* defectOf(task.until("completed")), /No reply to tasks\/get: .*dropped/)
      yield* faults.next("replace", Fault.drop)
      assert.match(yield* defectOf(task.cancel), /No reply to tasks\/cancel: .*dropped/)
    }).pipe(faulty()))

  it.effect("sees the task expire whose handler waits for a write that was dropped, and ends", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      yield* faults.next("replace", Fault.drop)
      const task = yield* tasks.call("work", {})
      assert.instanceOf(yield* Effect.flip(task.until("completed")), TestTasks.NeverReached)
    }).pipe(faulty()))

  it.effect("waits for a reply that is late", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      const task = yield* tasks.call("work", {})
      yield* faults.next("view", Fault.delay("3 minutes"), Fault.reorder)
      yield* task.until("completed")
      yield* task.ended
    }).pipe(faulty()))

  it.effect("hears of a store that does not answer for a reason of its own", () => {
    let isAway = false
    const store = Layer.effect(TaskStore.TaskStore, Effect.map(TaskStore.TaskStore, (store) =>
      FaultyStore.around(store, ({ operation }, effect) =>
        Effect.suspend(() => isAway && operation === "view" ? Effect.never : effect))))
    return Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("endless", {})
      isAway = true
      assert.match(yield* defectOf(task.until("completed")), /No reply to tasks\/get: it has not come/)
    }).pipe(Effect.provide(TestTasks.layer(working(Effect.void).layer).pipe(
      Layer.provide(store),
      Layer.provide(Layer.fresh(TaskStore.layerMemory))
    )))
  })

  const tools = working(Effect.void)
  it.effect("runs a task once whose create the store does twice", () =>
    Effect.gen(function*() {
      const { faults, tasks } = yield* services
      const store = yield* TaskStore.TaskStore
      yield* faults.next("create", Fault.duplicate)
      const task = yield* tasks.call("work", {})
      yield* task.until("completed")
      assert.strictEqual(tools.runs.count, 1)
      assert.strictEqual((yield* store.list({ limit: 10 })).length, 1)
    }).pipe(faulty(tools)))

  it.effect("lets the time of a direct call pass itself", () =>
    Effect.gen(function*() {
      const { tasks } = yield* services
      const direct = yield* Effect.forkChild(tasks.direct("work", {}))
      yield* TestClock.adjust("59 minutes")
      assert.isUndefined(direct.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* Fiber.join(direct))["structuredContent"], { tookMs: 3_600_000 })
    }).pipe(faulty(working(Effect.sleep("1 hour")))))

  it.live("is told that it needs the test clock", () =>
    Effect.gen(function*() {
      const built = Effect.scoped(Layer.build(TestTasks.layerMemory(working(Effect.void).layer)))
      assert.match(yield* defectOf(built), /^Error: TestTasks needs the test clock: run the test by it.effect/)
    }))
})

describe("a handler that does something real", () => {
  const file = Effect.promise(() => fs.readFile(import.meta.filename))

  const timer = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 40)))

  const request = Effect.gen(function*() {
    const server = http.createServer((_request, response) => {
      setTimeout(() => response.end("done"), 20)
    })
    const port = yield* Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" ? address?.port ?? 0 : 0))
      })
    })
    yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}`).then((response) => response.text()))
    server.closeAllConnections()
    yield* Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
    })
  })

  const works: ReadonlyArray<readonly [name: string, work: Effect.Effect<unknown>, tookMs: number]> = [
    ["a file", file, 0],
    ["a timer", timer, 0],
    ["a request", request, 0],
    ["a file, with a timeout", Effect.timeout(Effect.orDie(file), "1 second").pipe(Effect.orDie), 0],
    ["files, and sleeps between them", Effect.andThen(file, Effect.andThen(Effect.sleep(1_000), file)), 1_000],
    ["a timer while it sleeps", Effect.all([timer, Effect.sleep("2 minutes")], { concurrency: "unbounded" }), 120_000]
  ]
  for (const [name, work, tookMs] of works) {
    const tools = working(work)
    it.effect(`takes no time of the test: ${name}`, () =>
      Effect.gen(function*() {
        const tasks = yield* TestTasks.TestTasks
        const task = yield* tasks.call("work", {})
        const { result } = yield* task.until("completed")
        assert.deepStrictEqual(result["structuredContent"], { tookMs })
      }).pipe(Effect.provide(TestTasks.layerMemory(tools.layer))))
  }
})
