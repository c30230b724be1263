import { CurrentTask, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as FixtureServer from "../src/FixtureServer.ts"
import * as FixtureStore from "../src/FixtureStore.ts"
import * as Caller from "./Caller.ts"

const Work = Tool.make("work", { description: "Works until it is let go", success: Schema.String })
  .annotate(TaskTool.Policy, {})

const toolkit = Toolkit.make(Work)

/** What a test sees of the one call of `work`. */
interface Watch {
  readonly started: Deferred.Deferred<Option.Option<string>>
  readonly gate: Deferred.Deferred<string>
  readonly ended: Deferred.Deferred<Exit.Exit<string>>
}

const watch: Effect.Effect<Watch> = Effect.all({
  started: Deferred.make<Option.Option<string>>(),
  gate: Deferred.make<string>(),
  ended: Deferred.make<Exit.Exit<string>>()
})

const serving = ({ ended, gate, started }: Watch) => {
  const handlers = toolkit.toLayer({
    work: () =>
      Effect.gen(function*() {
        const task = yield* CurrentTask.CurrentTask
        yield* Deferred.succeed(started, task.taskId)
        return yield* Deferred.await(gate)
      }).pipe(Effect.onExit((exit) => Deferred.succeed(ended, exit)))
  })
  const tools = Layer.provide(TaskTools.layer(toolkit), handlers)
  const server = FixtureServer.layer(0).pipe(
    Layer.provide([tools, FixtureStore.layers.sqlite({ file: undefined })])
  )
  return Effect.map(Layer.build(server), (context) => Effect.runSync(Effect.provideContext(FixtureServer.url, context)))
}

const work = { method: "tools/call", params: { name: "work", arguments: {} } }
const within = Effect.timeout("1 minute")

describe("a call whose client goes away", () => {
  it.live("is interrupted when it is a plain call [A10]", () =>
    Effect.gen(function*() {
      const seen = yield* watch
      const url = yield* serving(seen)
      const client = yield* Effect.forkChild(Caller.send(url, work))
      assert.deepStrictEqual(yield* within(Deferred.await(seen.started)), Option.none())
      yield* Fiber.interrupt(client)
      const exit = yield* within(Deferred.await(seen.ended))
      assert.isTrue(Exit.hasInterrupts(exit))
      const next = yield* Caller.ask(url, { method: "tools/list", params: {} })
      assert.isDefined(next.result)
    }).pipe(Effect.scoped))

  it.live("works on as a task, after its answer was read and the socket closed [G2]", () =>
    Effect.gen(function*() {
      const seen = yield* watch
      const url = yield* serving(seen)
      const { taskId } = yield* Caller.create(url, "work", {})
      assert.deepStrictEqual(yield* within(Deferred.await(seen.started)), Option.some(taskId))
      yield* Caller.get(url, taskId)
      yield* Deferred.succeed(seen.gate, "done")
      const ended = yield* Caller.until(url, taskId, Caller.hasEnded)
      assert.strictEqual(ended.status, "completed")
      assert.deepStrictEqual(ended.result?.["content"], [{ type: "text", text: "done" }])
    }).pipe(Effect.scoped))

  it.live("works on as a task, when its answer is never read", () =>
    Effect.gen(function*() {
      const seen = yield* watch
      const url = yield* serving(seen)
      const client = yield* Effect.forkChild(Caller.send(url, { ...work, capabilities: Caller.tasks }))
      const taskId = Option.getOrThrow(yield* within(Deferred.await(seen.started)))
      yield* Fiber.interrupt(client)
      yield* Caller.get(url, taskId)
      yield* Deferred.succeed(seen.gate, "done")
      const ended = yield* Caller.until(url, taskId, Caller.hasEnded)
      assert.strictEqual(ended.status, "completed")
    }).pipe(Effect.scoped))
})
