/** What thousands of handlers cost that wait for input: no slot, and nothing of the store until somebody answers. */
import { TaskLimits, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime, FleetTools } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Latch, Layer, Ref, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"
import { inMemory } from "./FleetLayers.ts"

const { accept, asking, call, owner } = FleetTools

const count = 5_000
const concurrency = 4
const options: Fleet.ProcessOptions = {
  concurrency,
  lease: "15 seconds",
  heartbeat: "1 day",
  scan: "1 day",
  limits: { maxLiveTasks: 2 * count }
}

const parameters = Schema.Struct({ text: Schema.String })

const kit = Toolkit.make(
  Tool.make("once", { parameters }).annotate(TaskTool.Policy, { ttl: "1 day" }),
  Tool.make("resumable", { parameters }).annotate(TaskTool.Policy, { ttl: "1 day" })
)

const { becomes, until } = FleetTime.of("test")

describe("handlers that wait for input", () => {
  it.effect(`are ${count} in ${concurrency} slots, are left alone, and go on as they are answered`, () =>
    Effect.gen(function*() {
      const working = yield* Ref.make(0)
      const most = yield* Ref.make(0)
      const parked = yield* Ref.make(0)
      const woken = yield* Ref.make(0)
      const work = Ref.updateAndGet(working, (n) => n + 1).pipe(
        Effect.tap((n) => Ref.update(most, (before) => Math.max(before, n))),
        Effect.andThen(Effect.yieldNow),
        Effect.ensuring(Ref.update(working, (n) => n - 1))
      )
      const handlers = kit.toLayer({
        once: () =>
          Effect.gen(function*() {
            yield* work
            yield* Ref.update(parked, (n) => n + 1)
            yield* asking("")
            yield* Ref.update(woken, (n) => n + 1)
            yield* work
          }),
        resumable: () => Effect.asVoid(work)
      })
      const process = yield* Fleet.start({}, { ...options, tools: Layer.provide(TaskTools.layer(kit), handlers) })
      const store = (yield* Fleet.Fleet).store
      const ids = yield* Effect.forEach(Arr.range(1, count), () => call(process, "once"))
      yield* until("all wait", Effect.map(Ref.get(parked), (n) => n === count))
      assert.strictEqual(yield* Ref.get(most), concurrency)

      const calls = new Map<string, number>()
      process.link.disturb = (operation, effect) => {
        calls.set(operation, (calls.get(operation) ?? 0) + 1)
        return effect
      }
      // Each of their own writes was signalled, and is still being looked at.
      let before = -1
      yield* until("all signals are heard", Effect.sync(() => {
        const isQuiet = before === (calls.get("read") ?? 0)
        before = calls.get("read") ?? 0
        return isQuiet
      }))
      calls.clear()
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Ref.get(woken), 0)
      for (const operation of ["read", "view", "replace", "create", "list"]) {
        assert.strictEqual(calls.get(operation) ?? 0, 0, operation)
      }

      // None of them holds a slot.
      for (const taskId of yield* Effect.forEach(Arr.range(1, 10), () => call(process, "resumable"))) {
        yield* becomes(process, taskId, "completed")
      }
      const answered = ids.slice(0, 50)
      for (const taskId of answered) yield* process.engine.answer(owner, taskId, accept)
      for (const taskId of answered) yield* becomes(process, taskId, "completed")
      assert.strictEqual(yield* Ref.get(woken), answered.length)
      assert.strictEqual(yield* Ref.get(most), concurrency)
      assert.strictEqual((yield* store.list({ live: true, limit: 2 * count })).length, count - answered.length)
    }).pipe(
      Effect.provide(inMemory, { local: true }),
      Effect.provide(TaskLimits.layer({ maxLiveTasks: 2 * count }))
    ), 120_000)

  it.effect("have no slot once the handler has ended that left them", () =>
    Effect.gen(function*() {
      const isAsked = yield* Latch.make()
      const handlers = kit.toLayer({
        once: () =>
          Effect.gen(function*() {
            yield* Effect.forkChild(Effect.ignore(asking("")), { startImmediately: true })
            yield* isAsked.await
          }),
        resumable: () => Effect.void
      })
      const process = yield* Fleet.start({}, {
        ...options,
        concurrency: 1,
        tools: Layer.provide(TaskTools.layer(kit), handlers)
      })
      const left = yield* call(process, "once")
      yield* becomes(process, left, "input_required")
      yield* isAsked.open
      yield* becomes(process, left, "completed")
      yield* becomes(process, yield* call(process, "resumable"), "completed")
    }).pipe(Effect.provide(inMemory, { local: true })))
})
