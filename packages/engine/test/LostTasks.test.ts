/** A store that has lost what it had: nobody waits for it without end, and the log says so. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { call } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Option, References, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inMemory } from "./FleetLayers.ts"

const { until } = FleetTime.of("test")
const question = { message: "Go on?", schema: Schema.Struct({}) }

/** Runs so many handlers, takes their tasks away, and gives back what the log says within a minute. */
const logged = Effect.fnUntraced(function*(
  count: number,
  handler: (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, CurrentTask.InputUnavailable>
) {
  const lines: Array<unknown> = []
  const logger = Logger.make(({ fiber, logLevel, message }) => {
    if (logLevel !== "Error") return
    const { tasks } = fiber.getRef(References.CurrentLogAnnotations)
    lines.push(Array.isArray(message) ? message[0] : message, tasks)
  })
  let left = 0
  const { store } = yield* Fleet.Fleet
  yield* Effect.gen(function*() {
    const resumable = () =>
      Effect.flatMap(CurrentTask.CurrentTask, handler).pipe(
        Effect.orDie,
        Effect.ensuring(Effect.sync(() => left++))
      )
    const process = yield* Fleet.start({ resumable }, { concurrency: 100 })
    const ids = yield* Effect.replicateEffect(call(process, "resumable", "", { elicitation: { form: {} } }), count)
    for (const id of ids) {
      const stored = Effect.map(store.read(id), Option.getOrThrow)
      yield* until("it runs", Effect.map(stored, ({ task }) => task.attempt === 1))
    }
    yield* TestClock.adjust("2 seconds")
    for (const id of ids) {
      const { task, version } = Option.getOrThrow(yield* store.read(id))
      yield* store.remove(task.taskId, version)
    }
    yield* TestClock.adjust("1 minute")
  }).pipe(Effect.provide(Logger.layer([logger])))
  return { left, lines }
})

const lost = "Tasks that ran here are gone from the store, and had not ended; their handlers are stopped"

describe("a store that has lost its tasks", () => {
  it.effect("is found out by those who wait for input, who end, and the log hears of all of them once", () =>
    Effect.gen(function*() {
      const found = logged(50, (task) => task.elicit("go on", question))
      assert.deepStrictEqual(yield* found, { left: 50, lines: [lost, 50] })
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("is found out by a handler that writes", () =>
    Effect.gen(function*() {
      const found = logged(1, (task) => Effect.andThen(Effect.sleep("5 seconds"), task.report("half")))
      assert.deepStrictEqual(yield* found, { left: 1, lines: [lost, 1] })
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("is found out by the first handler that writes, and the log hears of all of them once", () =>
    Effect.gen(function*() {
      let begun = 0
      const found = logged(4, (task) =>
        Effect.suspend(() => Effect.andThen(Effect.sleep(`${4 * ++begun} seconds`), task.report("half"))))
      assert.deepStrictEqual(yield* found, { left: 4, lines: [lost, 4] })
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("is found out by a handler that has come to its end", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* logged(1, () => Effect.sleep("5 seconds")), { left: 1, lines: [lost, 1] })
    }).pipe(Effect.provide(inMemory, { local: true })))
})
