/** What goes wrong with tasks is in the log, once, and without anything that belongs to a client. */
import { TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { call, submit } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Layer, Logger, Option, References, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"
import { embedded, inMemory } from "./FleetLayers.ts"

const { settle } = FleetTime
const { until } = FleetTime.of("test")
const lease = { lease: "3 seconds" } as const
const secret = "for nobody else"

interface Line {
  readonly level: string
  readonly message: unknown
  readonly fields: Record<string, unknown>
}

/** What the log has at level Info and above when a program has run. */
const logged = Effect.fnUntraced(function*<E, R>(program: Effect.Effect<unknown, E, R>) {
  const lines: Array<Line> = []
  const logger = Logger.make(({ fiber, logLevel, message }) => {
    const fields = fiber.getRef(References.CurrentLogAnnotations)
    lines.push({ level: logLevel, message: Array.isArray(message) ? message[0] : message, fields: { ...fields } })
  })
  yield* Effect.provide(program, Logger.layer([logger]))
  assert.notInclude(JSON.stringify(lines), secret)
  return lines
})

const pass = (time: "10 seconds" | "1 minute") => Effect.andThen(TestClock.adjust(time), settle)

const calls = (process: Fleet.Process, count: number) =>
  Effect.gen(function*() {
    const { store } = yield* Fleet.Fleet
    const ids = yield* Effect.replicateEffect(call(process, "resumable", secret), count)
    for (const id of ids) {
      yield* until("it runs", Effect.map(store.read(id), (stored) => Option.getOrThrow(stored).task.attempt > 0))
    }
    return ids
  })

const never = { resumable: () => Effect.never }

describe("the log hears", () => {
  it.effect("of each worker that is found dead, and of how many tasks it had", () =>
    Effect.gen(function*() {
      const lines = yield* logged(Effect.gen(function*() {
        const first = yield* Fleet.start(never, lease)
        yield* calls(first, 3)
        yield* Fleet.start(never, lease)
        yield* Fleet.start(never, lease)
        yield* pass("10 seconds")
        yield* first.kill
        yield* pass("1 minute")
      }))
      // Whoever is killed here is only cut off, and notices that in time.
      const [line, ...more] = lines.filter(({ message }) => !String(message).startsWith("A background loop is stuck"))
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual([line?.level, line?.message, line?.fields["tasks"]], [
        "Warn",
        "A worker is dead; its tasks are offered to others",
        3
      ])
      assert.isString(line?.fields["worker"])
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("of a process that stood still, and whose tasks others have", () =>
    Effect.gen(function*() {
      const found = yield* logged(Effect.gen(function*() {
        const frozen = yield* Fleet.start(never, lease)
        yield* calls(frozen, 3)
        yield* Fleet.start(never, lease)
        frozen.link.cut()
        yield* pass("1 minute")
        frozen.link.mend()
        yield* pass("1 minute")
      }))
      const lines = found.filter(({ message }) => String(message).startsWith("Others have taken up"))
      assert.deepStrictEqual(lines.map(({ fields, level }) => [level, fields["tasks"]]), [["Warn", 3]])
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("of a task that is given up, since processes stop with it", () =>
    Effect.gen(function*() {
      let taskId = ""
      const found = yield* logged(Effect.gen(function*() {
        let process = yield* Fleet.start(never)
        const ids = yield* calls(process, 1)
        taskId = ids.join("")
        for (const _ of Arr.range(1, 3)) {
          yield* process.kill
          process = yield* Fleet.start(never)
          yield* settle
        }
      }))
      assert.deepStrictEqual(found.filter(({ level }) => level !== "Info"), [{
        level: "Error",
        message: "A task has failed: too many processes that ran it in a row stopped, and it may be the cause",
        fields: { taskId, tool: "resumable", attempts: 3 }
      }])
      assert.deepStrictEqual(
        found.filter(({ level }) => level === "Info"),
        Arr.replicate({ level: "Info", message: "What an earlier process left is taken up", fields: { tasks: 1 } }, 3)
      )
    }).pipe(Effect.provide(embedded, { local: true })))

  it.effect("of a tool that is gone, and of one that takes other arguments, once", () =>
    Effect.gen(function*() {
      const Other = Tool.make("resumable", { parameters: Schema.Struct({ text: Schema.Literal("x") }) })
        .annotate(TaskTool.Policy, { recovery: "resume" })
      const changed = Toolkit.make(Other)
      const nothing = Toolkit.make(Tool.make("new", { parameters: Schema.Struct({}) }))
      const served = {
        changed: Layer.provide(TaskTools.layer(changed), changed.toLayer({ resumable: () => Effect.void })),
        nothing: Layer.provide(TaskTools.layer(nothing), nothing.toLayer({ new: () => Effect.void }))
      }
      const after = Effect.fnUntraced(function*(tools: Layer.Layer<TaskTools.TaskTools>) {
        const before = yield* Fleet.start(never)
        yield* calls(before, 5)
        yield* before.kill
        const next = yield* Fleet.start({}, { tools })
        yield* settle
        yield* next.stop
      })
      for (const [tools, message] of [
        [served.changed, "The stored arguments of a task do not fit its tool's parameters"],
        [served.nothing, "A stored task is of a tool that no longer exists"]
      ] as const) {
        const errors = (yield* logged(after(tools))).filter(({ level }) => level === "Error")
        assert.deepStrictEqual(errors.map(({ fields, message }) => [message, fields["tool"]]), [
          [`${message}; such tasks fail here, and of this tool that is said once`, "resumable"]
        ])
        assert.isString(errors[0]?.fields["taskId"])
      }
    }).pipe(Effect.provide(embedded, { local: true })))

  it.effect("of how many tasks a process hands back that goes away", () =>
    Effect.gen(function*() {
      const lines = yield* logged(Effect.gen(function*() {
        const leaving = yield* Fleet.start(never, { ...lease, grace: "1 second" })
        yield* calls(leaving, 3)
        const stopping = yield* Effect.forkChild(leaving.stop)
        yield* until("it has stopped", Effect.sync(() => stopping.pollUnsafe() !== undefined))
      }))
      assert.deepStrictEqual(lines, [{
        level: "Info",
        message: "Tasks that ran here are handed back",
        fields: { tasks: 3 }
      }])
    }).pipe(Effect.provide(inMemory, { local: true })))
})

describe("a call with other arguments", () => {
  it.effect("is none of the operator's business", () =>
    Effect.gen(function*() {
      const lines = yield* logged(Effect.gen(function*() {
        const process = yield* Fleet.start({ resumable: () => Effect.succeed("done") })
        yield* submit(process, "resumable", { text: secret })
        yield* settle
      }))
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(embedded, { local: true })))
})
