import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CurrentTask } from "../src/CurrentTask.ts"
import { call, get, owner, settle, start } from "./TestTools.ts"

/** Two processes on one store, each with a signal of its own: nothing that one says reaches the other. */
const deaf = Effect.fnUntraced(function*(script: Parameters<typeof start>[0]) {
  return [yield* start(script), yield* start(script)] as const
})

describe("with every signal between processes lost", () => {
  it.effect("a cancel reaches the handler within its heartbeat", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const [runs, other] = yield* deaf({
        resumable: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
      })
      const taskId = yield* call(runs, "resumable")
      yield* other.engine.cancel(owner, taskId)
      yield* settle
      assert.strictEqual((yield* get(other, taskId)).status, "working")
      yield* TestClock.adjust("30 seconds")
      yield* Deferred.await(interrupted)
      yield* settle
      assert.strictEqual((yield* get(other, taskId)).status, "cancelled")
    }).pipe(Effect.provide(TaskStore.layerMemory)))

  it.effect("an answer reaches the handler that waits for it", () =>
    Effect.gen(function*() {
      const [runs, other] = yield* deaf({
        resumable: () =>
          Effect.gen(function*() {
            const task = yield* CurrentTask
            const answer = yield* task.elicit("name", { message: "?", schema: Schema.Struct({ name: Schema.String }) })
            return answer.action
          }).pipe(Effect.mapError(String)) as Effect.Effect<unknown, string>
      })
      const taskId = yield* call(runs, "resumable")
      yield* settle
      assert.strictEqual((yield* get(other, taskId)).status, "input_required")
      yield* other.engine.answer(owner, taskId, { name: { action: "accept", content: { name: "Ada" } } })
      yield* settle
      assert.strictEqual((yield* get(other, taskId)).status, "working")
      yield* TestClock.adjust("30 seconds")
      yield* settle
      assert.strictEqual((yield* get(other, taskId)).status, "completed")
    }).pipe(Effect.provide(TaskStore.layerMemory)))

  it.effect("whoever waits for the end elsewhere sees it within five seconds", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const [runs, other] = yield* deaf({ resumable: () => Effect.as(Deferred.await(release), "done") })
      const taskId = yield* call(runs, "resumable")
      const waiting = yield* Effect.forkChild(other.engine.awaitEnd(taskId, Duration.seconds(50)))
      yield* settle
      yield* Deferred.succeed(release, undefined)
      yield* settle
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("5 seconds")
      const ended = Option.getOrThrow(yield* Fiber.join(waiting))
      assert.strictEqual(ended.task.status, "completed")
    }).pipe(Effect.provide(TaskStore.layerMemory)))
})
