/**
 * What a call carries, and what its tool says, reaches the record of its task and its handler unchanged, in its first
 * attempt as in every later one.
 *
 * @since 0.2.0
 */
import type { Task } from "@effect-mcp-tasks/core/Task"
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as DeclaredCapabilities from "@effect-mcp-tasks/engine/DeclaredCapabilities"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import { assert } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Fleet, start } from "../Fleet.ts"
import { accept, confirm, get, owner, submit } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const quick = { lease: "1 second", grace: "0 seconds" } as const

const eve = TaskOwner.principal({ issuer: "https://issuer.example", subject: "eve", tenant: "north" })

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

/** What a task has of its call, its tool and the limits. Its life may become longer, all else stays. */
const carried = (task: Task) => ({
  owner: task.owner,
  tool: task.tool,
  arguments: task.arguments,
  capabilities: task.capabilities,
  traceparent: task.traceparent,
  policy: task.policy,
  pollIntervalMs: task.pollIntervalMs,
  questions: task.questions,
  steps: task.steps
})

const parameters = Schema.Struct({ given: Schema.Json })

const timed = (name: string, policy: TaskTool.TaskPolicy) =>
  Tool.make(name, { parameters, success: Schema.Unknown }).annotate(TaskTool.Policy, policy)

const Kit = Toolkit.make(
  timed("said", {
    ttl: "10 minutes",
    resultTtl: "20 seconds",
    pollInterval: "3 seconds",
    recovery: "resume",
    maxLostAttempts: 4
  }),
  timed("capped", { ttl: "9 days", resultTtl: "8 days", pollInterval: "750 millis", recovery: "fail" }),
  timed("unsaid", {})
)

const minute = 60_000

const limits = { maxTtl: Duration.minutes(90), maxQuestions: 7, maxSteps: 8 }

/** What the tools and the limits come to. */
const settings = [
  {
    tool: "said",
    ttlMs: 10 * minute,
    pollIntervalMs: 3_000,
    policy: { recovery: "resume", resultTtlMs: 20_000, maxLostAttempts: 4, maxQuestions: 7, maxSteps: 8 }
  },
  {
    tool: "capped",
    ttlMs: 90 * minute,
    pollIntervalMs: 750,
    policy: { recovery: "fail", resultTtlMs: 90 * minute, maxLostAttempts: 5, maxQuestions: 7, maxSteps: 8 }
  },
  {
    tool: "unsaid",
    ttlMs: 60 * minute,
    pollIntervalMs: 1_000,
    policy: { recovery: "fail", resultTtlMs: 60 * minute, maxLostAttempts: 5, maxQuestions: 7, maxSteps: 8 }
  }
] as const

const toolsOf = (handler: (given: Schema.Json) => Effect.Effect<unknown>) => {
  const handle = ({ given }: typeof parameters.Type) => handler(given)
  return Layer.provide(TaskTools.layer(Kit), Kit.toLayer({ said: handle, capped: handle, unsaid: handle }))
}

/** A later release of `said`, which says otherwise in everything. */
const later = (handler: Effect.Effect<unknown>) => {
  const kit = Toolkit.make(timed("said", { ttl: "1 minute", pollInterval: "9 seconds", recovery: "fail" }))
  return Layer.provide(TaskTools.layer(kit), kit.toLayer({ said: () => handler }))
}

const traceId = "0af7651916cd43dd8448eb211c80319c"

/** The question of `confirm`, as it is put to a client. */
const request = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: confirm.message,
    requestedSchema: { type: "object", properties: { overwrite: { type: "boolean" } }, required: ["overwrite"] }
  }
} as const

/** A call whose every part is one of its own. */
const call = {
  owner: eve,
  arguments: { given: { rows: [1, 2.5, null], "a b": "žluťoučký 🐎", deep: { deeper: [true, ""] } } },
  capabilities: { elicitation: { form: {} }, sampling: {}, "x.example/own": { level: 3 } },
  traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  journal: {
    answers: [{ key: "confirm", request, state: "answered", response: accept.confirm }],
    steps: [{ name: "before", value: 7 }]
  }
} as const

/** Something of its caller's that a handler must not see: it would be gone after a restart. */
const Held = Context.Reference<string>("@effect-mcp-tasks/testing/internal/runnerRequests/Held", {
  defaultValue: () => "nothing"
})

const records: ReadonlyArray<RunnerCase> = [
  test("keeps with a task, to its end, what its call brought, and what its tool and the limits say", ({ until }) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const process = yield* start({}, { tools: toolsOf(() => Deferred.await(gate)), limits })
      const { arguments: args, capabilities, journal, traceparent } = call
      const brought = { arguments: args, capabilities, owner: TaskOwner.key(eve), traceparent, ...journal }
      const made: Array<Task> = []
      for (const { ttlMs, ...said } of settings) {
        const task = yield* Effect.flatMap(submit(process, said.tool, call), read)
        const { answers: questions, ...others } = brought
        assert.deepStrictEqual(carried(task), { ...others, questions, ...said })
        assert.strictEqual(task.ttlMs, ttlMs)
        made.push(task)
      }
      yield* Deferred.succeed(gate, "done")
      for (const before of made) {
        yield* until("it ends", Effect.map(read(before.taskId), ({ status }) => status === "completed"))
        assert.deepStrictEqual(carried(yield* read(before.taskId)), carried(before))
      }
    })),

  test("answers a call with the task as everyone can read it then, and shows how often to poll it", () =>
    Effect.gen(function*() {
      const process = yield* start({}, { tools: toolsOf(() => Effect.never), limits })
      for (const { pollIntervalMs, tool: name, ttlMs } of settings) {
        const tool = Option.getOrThrow(process.tools.get(name))
        const args = { given: 1 }
        const request = { ...call, owner, arguments: args, tool, call: Result.getOrThrow(yield* tool.call(args)) }
        const { task: answered } = yield* process.runner.submit(request)
        const kept = yield* read(answered.taskId)
        assert.deepStrictEqual(carried(answered), carried(kept))
        assert.strictEqual(answered.createdAt, kept.createdAt)
        const shown = yield* get(process, answered.taskId)
        assert.deepStrictEqual([shown.ttlMs, shown.pollIntervalMs], [ttlMs, pollIntervalMs])
      }
    })),

  test("a task keeps the rules that it was created under when the next process has others", ({ until }) =>
    Effect.gen(function*() {
      const attempts = yield* Ref.make(0)
      const handler = Effect.gen(function*() {
        const task = yield* CurrentTask.CurrentTask
        if ((yield* Ref.updateAndGet(attempts, (count) => count + 1)) === 1) return yield* Effect.never
        for (const name of Arr.range(1, 9)) yield* task.step(`step ${name}`, Schema.Int, Effect.succeed(name))
        return "done"
      })
      const first = yield* start({}, { ...quick, tools: toolsOf(() => handler), limits })
      const taskId = yield* submit(first, "said", { arguments: { given: 1 } })
      const before = yield* read(taskId)
      yield* until("it runs", Effect.map(Ref.get(attempts), (count) => count === 1))
      yield* first.kill
      yield* start({}, { ...quick, tools: later(handler), limits: { maxSteps: 1_000 } })
      yield* until("it ends", Effect.map(read(taskId), ({ status }) => status === "failed"))
      const { steps, ...rules } = carried(yield* read(taskId))
      assert.deepStrictEqual({ ...rules, steps: [] }, carried(before))
      assert.strictEqual(yield* Ref.get(attempts), 2)
      assert.isAtMost(steps.length, limits.maxSteps)
    }))
]

/** All that a handler can see of its call, but for the attempt. */
const look = (given: Schema.Json) =>
  Effect.gen(function*() {
    const task = yield* CurrentTask.CurrentTask
    const { traceId } = yield* Effect.orDie(Effect.currentSpan)
    const declared = yield* DeclaredCapabilities.DeclaredCapabilities
    const step = yield* task.step("before", Schema.Int, Effect.succeed(-1))
    const answer = yield* Effect.orDie(task.elicit("confirm", confirm))
    return { given, declared, traceId, step, answer, held: yield* Held, taskId: Option.getOrUndefined(task.taskId) }
  })

const handlers: ReadonlyArray<RunnerCase> = [
  test("a handler sees the same of its call in its first attempt, after a kill and after a stop", ({ until }) =>
    Effect.gen(function*() {
      const seen = yield* Ref.make<ReadonlyArray<unknown>>([])
      const tools = toolsOf((given) =>
        Effect.gen(function*() {
          const saw = yield* look(given)
          const { length } = yield* Ref.updateAndGet(seen, (before) => [...before, saw])
          return yield* length === 3 ? Effect.succeed("done") : Effect.never
        })
      )
      let process = yield* start({}, { ...quick, tools })
      const taskId = yield* Effect.provideService(submit(process, "said", call), Held, "a socket of its caller")
      for (const [index, how] of (["kill", "stop"] as const).entries()) {
        yield* until("it has seen its call", Effect.map(Ref.get(seen), ({ length }) => length === index + 1))
        yield* process[how]
        process = yield* start({}, { ...quick, tools })
      }
      yield* until("it ends", Effect.map(read(taskId), ({ status }) => status === "completed"))
      const { arguments: { given }, capabilities: declared } = call
      const saw = { given, declared, traceId, step: 7, answer: accept.confirm, held: "nothing", taskId }
      assert.deepStrictEqual(yield* Ref.get(seen), [saw, saw, saw])
    })),

  test("keeps apart what calls bring that come at a time", ({ until }) =>
    Effect.gen(function*() {
      const seen = yield* Ref.make<Record<string, unknown>>({})
      const tools = toolsOf((given) =>
        Effect.gen(function*() {
          const { taskId } = yield* CurrentTask.CurrentTask
          const saw = [given, yield* DeclaredCapabilities.DeclaredCapabilities]
          yield* Ref.update(seen, (before) => ({ ...before, [Option.getOrThrow(taskId)]: saw }))
        })
      )
      const process = yield* start({}, { tools })
      const calls = Arr.range(1, 12).map((given) => ({
        tool: settings[given % 3]?.tool ?? "said",
        owner: given % 2 === 0 ? eve : owner,
        arguments: { given },
        capabilities: { "x.example/own": { given } }
      }))
      const ids = yield* Effect.forEach(calls, ({ tool, ...options }) => submit(process, tool, options), {
        concurrency: "unbounded"
      })
      yield* until("all have run", Effect.map(Ref.get(seen), (all) => Object.keys(all).length === calls.length))
      for (const [index, { arguments: args, capabilities, owner, tool }] of calls.entries()) {
        const taskId = ids[index] ?? ""
        assert.deepStrictEqual((yield* Ref.get(seen))[taskId], [args.given, capabilities])
        const task = yield* read(taskId)
        assert.deepStrictEqual([task.tool, task.owner, task.arguments], [tool, TaskOwner.key(owner), args])
      }
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [...records, ...handlers]
