/** What is told of tasks: spans, metrics and the record for audit. */
import { CurrentTask, TaskAudit, TaskMetrics, TaskTool } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { accept, asking, call, get, owner } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Metric, Option, Ref, Result, Schema, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { embedded, inMemory } from "./FleetLayers.ts"

const { start } = Fleet
const { becomes, until } = FleetTime.of("test")
const quick = { lease: "1 second", grace: "0 seconds" } as const
const idle = { ...quick, concurrency: 0 }

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const spanId = "00f067aa0ba902b7"

const tracing = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  yield* Effect.provideService(effect, Tracer.Tracer, tracer)
  return spans
})

const named = (spans: ReadonlyArray<Tracer.Span>, name: string): Tracer.Span =>
  Option.getOrThrow(Option.fromUndefinedOr(spans.find((span) => span.name === name)))

describe("spans", () => {
  for (const [name, fleet, options] of [["fibers", embedded, {}], ["replicas", inMemory, idle]] as const) {
    const run = (traceparent: string | undefined) =>
      tracing(
        Effect.gen(function*() {
          const once = () => Effect.as(Effect.withSpan(Effect.void, "inside"), "done")
          const taking = yield* start({ once }, options)
          if (name === "replicas") yield* start({ once }, quick)
          const tool = Option.getOrThrow(taking.tools.get("once"))
          const { task } = yield* taking.runner.submit({
            owner,
            tool,
            call: Result.getOrThrow(yield* tool.call({})),
            arguments: {},
            capabilities: {},
            traceparent
          })
          yield* becomes(taking, task.taskId, "completed")
        }).pipe(Effect.provide(fleet, { local: true }))
      )

    it.effect(`the handler joins the caller's trace, with ${name}`, () =>
      Effect.gen(function*() {
        const spans = yield* run(`00-${traceId}-${spanId}-01`)
        const handler = named(spans, "tools/call once")
        const inside = named(spans, "inside")
        assert.strictEqual(handler.traceId, traceId)
        assert.strictEqual(Option.getOrThrow(handler.parent).spanId, spanId)
        assert.strictEqual(handler.attributes.get("mcp.task.attempt"), 1)
        assert.strictEqual(inside.traceId, traceId)
        assert.strictEqual(Option.getOrThrow(inside.parent).spanId, handler.spanId)
      }))

    it.effect(`the handler begins a trace where the caller named none, with ${name}`, () =>
      Effect.gen(function*() {
        for (const traceparent of [undefined, "", "00-not-a-trace", `ff-${traceId}-${spanId}-01`, "x".repeat(10_000)]) {
          const spans = yield* run(traceparent)
          assert.isTrue(Option.isNone(named(spans, "tools/call once").parent))
        }
      }))
  }
})

/** The count of a metric by its attributes, without the names of tools. */
const counts = (metric: Metric.Counter<number>, ...attributes: ReadonlyArray<Record<string, string>>) =>
  Effect.forEach(attributes, (given) =>
    Effect.map(Metric.value(Metric.withAttributes(metric, given)), ({ count }) => count))

describe("metrics", () => {
  it.effect("count what is created, how it ends, what is run again and what is lost", () =>
    Effect.gen(function*() {
      const script = {
        once: (text: string) =>
          text === "ask"
            ? asking(text)
            : text === "error"
            ? Effect.fail("no")
            : text === "protocol"
            ? Effect.die(new TaskTool.ProtocolError({ code: -32603, message: "no" }))
            : text === "never" ? Effect.never : Effect.succeed("done"),
        resumable: () =>
          Effect.flatMap(CurrentTask.CurrentTask, ({ attempt }) => attempt === 1 ? Effect.never : Effect.succeed(2))
      }
      const process = yield* start(script, quick)
      const other = yield* start({}, idle)
      yield* becomes(other, yield* call(other, "once"), "completed")
      yield* becomes(other, yield* call(other, "once", "error"), "completed")
      yield* becomes(other, yield* call(other, "once", "protocol"), "failed")
      const parked = yield* call(other, "once", "ask")
      yield* becomes(other, parked, "input_required")
      yield* until("parked", Effect.map(Metric.value(TaskMetrics.parked), ({ value }) => value === 1))
      const cancelled = yield* call(other, "once", "never")
      yield* until("running", Effect.map(Metric.value(TaskMetrics.running), ({ value }) => value === 1))
      yield* other.engine.cancel(owner, cancelled)
      yield* becomes(other, cancelled, "cancelled")
      yield* other.engine.answer(owner, parked, accept)
      yield* becomes(other, parked, "completed")
      const lost = yield* call(other, "resumable")
      yield* until("running", Effect.map(Metric.value(TaskMetrics.running), ({ value }) => value === 1))
      yield* process.kill
      yield* start(script, quick)
      yield* becomes(other, lost, "completed")
      const expired = yield* call(other, "once", "never")
      yield* TestClock.adjust("1 minute")
      yield* becomes(other, expired, "failed")

      const once = { tool: "once" }
      assert.deepStrictEqual(yield* counts(TaskMetrics.created, once, { tool: "resumable" }), [6, 1])
      assert.deepStrictEqual(
        yield* counts(
          TaskMetrics.ended,
          { ...once, outcome: "completed" },
          { ...once, outcome: "tool_error" },
          { ...once, outcome: "failed" },
          { ...once, outcome: "cancelled" },
          { ...once, outcome: "expired" },
          { tool: "resumable", outcome: "completed" }
        ),
        [2, 1, 1, 1, 1, 1]
      )
      assert.deepStrictEqual(yield* counts(TaskMetrics.reruns, once, { tool: "resumable" }), [0, 1])
      assert.deepStrictEqual(yield* counts(TaskMetrics.lostAttempts, once, { tool: "resumable" }), [0, 1])
      assert.strictEqual((yield* Metric.value(TaskMetrics.queueTime)).count, 7)
      const reads = yield* Metric.value(Metric.withAttributes(TaskMetrics.storeTime, { operation: "read" }))
      assert.isAbove(reads.count, 0)
      assert.strictEqual((yield* Metric.value(TaskMetrics.parked)).value, 0)
    }).pipe(Effect.provide(inMemory, { local: true }), Effect.provideService(Metric.MetricRegistry, new Map())))
})

describe("the record for audit", () => {
  it.effect("names everything that happens, and nothing that was said", () =>
    Effect.gen(function*() {
      const entries = yield* Ref.make<ReadonlyArray<TaskAudit.AuditEntry>>([])
      const audit = Layer.succeed(TaskAudit.TaskAudit, (entry) => Ref.update(entries, (all) => [...all, entry]))
      yield* Effect.gen(function*() {
        const process = yield* start({
          once: (text) =>
            Effect.gen(function*() {
              const task = yield* CurrentTask.CurrentTask
              yield* task.step("secret-step", Schema.String, Effect.succeed("secret"))
              yield* task.report("secret message")
              yield* asking(text)
              return yield* new TaskTool.ProtocolError({ code: 4099, message: "secret", data: "secret" })
            }).pipe(Effect.catchTag("ProtocolError", Effect.die))
        }, quick)
        const taskId = yield* call(process, "once", "secret argument", { elicitation: {}, secret: {} })
        yield* becomes(process, taskId, "input_required")
        yield* process.engine.answer(owner, taskId, { confirm: { action: "accept", content: { overwrite: true } } })
        yield* becomes(process, taskId, "failed")
        assert.match(JSON.stringify(yield* get(process, taskId)), /secret/)
      }).pipe(Effect.provide(inMemory, { local: true }), Effect.provide(audit))
      const told = yield* Ref.get(entries)
      assert.deepStrictEqual(told.map(({ event }) => event), [
        "Created",
        "Started",
        "StepRecorded",
        "Reported",
        "InputRequested",
        "InputAnswered",
        "Failed"
      ])
      assert.notMatch(JSON.stringify(told), /secret|overwrite|accept/)
      const last = Option.getOrThrow(Option.fromUndefinedOr(told.at(-1)))
      assert.deepInclude(last, { tool: "once", status: "failed", attempt: 1, code: 4099 })
      assert.strictEqual(last.owner, JSON.stringify(["https://issuer.example", "ada", null]))
      assert.isString(last.worker)
    }))
})
