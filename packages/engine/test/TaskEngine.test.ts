import { TaskEngine, TaskLimits, TaskOwner, TaskSignal, TaskStore, TaskSweeper } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Duration, Effect, Fiber, Layer, Option, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { settle } from "./TestTools.ts"

const live = (limits: Partial<TaskLimits.Limits> = {}) =>
  Effect.provide(
    Layer.fresh(
      TaskEngine.layer.pipe(
        Layer.provideMerge(Layer.mergeAll(TaskStore.layerMemory, TaskSignal.layerMemory)),
        Layer.provide([SecureRandom.layerWebCrypto, TaskLimits.layer(limits)])
      )
    )
  )

const ada = TaskOwner.principal({ issuer: "https://a.example", subject: "ada" })

const newTask = (owner: TaskOwner.TaskOwner = ada, ttlMs = 60_000) => ({
  owner: TaskOwner.key(owner),
  tool: "tool",
  arguments: {},
  capabilities: {},
  ttlMs,
  pollIntervalMs: 1_000,
  policy: { recovery: "resume", resultTtlMs: 10_000, maxLostAttempts: 5, maxQuestions: 10, maxSteps: 10 } as const
})

const create = (owner?: TaskOwner.TaskOwner, ttlMs?: number) =>
  Effect.flatMap(TaskEngine.TaskEngine, (engine) => engine.create(newTask(owner, ttlMs), { started: true }))

const ask = (taskId: string) =>
  Effect.flatMap(TaskEngine.TaskEngine, (engine) =>
    engine.apply(taskId, {
      _tag: "Ask",
      at: 0,
      attempt: 1,
      key: "ok",
      request: {
        method: "elicitation/create",
        params: {
          mode: "form",
          message: "?",
          requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }
        }
      }
    }))

const strangers: ReadonlyArray<TaskOwner.TaskOwner> = [
  TaskOwner.anonymous,
  TaskOwner.principal({ issuer: "https://b.example", subject: "ada" }),
  TaskOwner.principal({ issuer: "https://a.example", subject: "ada", tenant: "t" }),
  TaskOwner.principal({ issuer: "https://a.example", subject: "eve" }),
  TaskOwner.principal({ issuer: "https://a.example\",\"ada", subject: "" })
]

describe("owners", () => {
  it.effect("nobody else sees, answers or stops a task, nor learns that it exists [E15, I2]", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const { task: { taskId } } = yield* create()
      yield* ask(taskId)
      const before = yield* engine.view(ada, taskId)
      for (const stranger of strangers) {
        for (const id of [taskId, "unknown", "", "x".repeat(10_000), "a\0b", "\ud800", "__proto__"]) {
          for (
            const attempt of [
              engine.view(stranger, id),
              engine.answer(stranger, id, { ok: { action: "accept", content: { ok: true } } }),
              engine.answer(stranger, id, { ok: "nonsense" }),
              engine.cancel(stranger, id)
            ]
          ) assert.deepStrictEqual(yield* Effect.flip<unknown, unknown, never>(attempt), new TaskEngine.TaskNotFound())
        }
      }
      assert.deepStrictEqual(yield* engine.view(ada, taskId), before)
    }).pipe(live()))

  it.effect("a refreshed token is the same owner, and anonymous callers are one", () =>
    Effect.sync(() => {
      assert.strictEqual(
        TaskOwner.key(TaskOwner.principal({ issuer: "i", subject: "s" })),
        TaskOwner.key(TaskOwner.principal({ issuer: "i", subject: "s", tenant: undefined }))
      )
      assert.strictEqual(new Set([ada, ...strangers].map(TaskOwner.key)).size, strangers.length + 1)
    }))

  it.effect("one owner's limit does not touch another's, and an ended task makes room [I2]", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const first = yield* create()
      yield* create()
      assert.strictEqual((yield* Effect.flip(create()))._tag, "TooManyTasks")
      yield* create(TaskOwner.anonymous)
      yield* engine.cancel(ada, first.task.taskId)
      assert.strictEqual((yield* Effect.flip(create()))._tag, "TooManyTasks")
      yield* engine.apply(first.task.taskId, { _tag: "Stop", at: 0, attempt: 1 })
      yield* create()
    }).pipe(live({ maxLiveTasks: 2 })))
})

describe("races", () => {
  it.effect("cancel, complete, fail, answer and expire at once: one end, which stays [E13, G4]", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const endings = new Set<string>()
      for (let round = 0; round < 200; round++) {
        const { task: { taskId } } = yield* create()
        yield* ask(taskId)
        const late = 60_000 + round
        const racers = [
          engine.cancel(ada, taskId),
          engine.answer(ada, taskId, { ok: { action: "accept", content: { ok: true } } }),
          engine.apply(taskId, { _tag: "Complete", at: late, attempt: 1, result: "{}", isError: false }),
          engine.apply(taskId, { _tag: "Fail", at: late, attempt: 1, error: { code: -1, message: "no" } }),
          engine.apply(taskId, { _tag: "Expire", at: late })
        ]
        const order = [...racers.slice(round % racers.length), ...racers.slice(0, round % racers.length)]
        yield* Effect.forEach(order, (racer) => Effect.exit<unknown, unknown, never>(racer), {
          concurrency: "unbounded",
          discard: true
        })
        const ended = yield* engine.view(ada, taskId)
        assert.isFalse(ended.live)
        endings.add(JSON.parse(ended.head).status)
        yield* engine.cancel(ada, taskId)
        assert.deepStrictEqual(yield* engine.view(ada, taskId), ended)
      }
      assert.isAbove(endings.size, 1)
    }).pipe(live()))

  it.effect("a remembered task is not believed when it says that there is nothing to do", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const old = yield* create()
      yield* engine.apply(old, { _tag: "Extend", at: 0, attempt: 1, ttlMs: 90_000 })
      const expired = yield* Effect.flip(engine.apply(old, { _tag: "Expire", at: 70_000 }))
      assert.strictEqual(expired._tag === "TaskRejected" && expired.reason, "NotDue")
      const parked = yield* ask(old.task.taskId)
      yield* engine.answer(ada, old.task.taskId, { ok: { action: "decline" } })
      const { key, request } = Arr.getUnsafe(parked.task.questions, 0)
      const asked = yield* engine.apply(parked, { _tag: "Ask", at: 0, attempt: 1, key, request })
      assert.strictEqual(Arr.getUnsafe(asked.task.questions, 0).state, "answered")
    }).pipe(live()))
})

describe("awaitEnd", () => {
  it.effect("wakes a hundred waiters, early and late, with the end", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const { task: { taskId } } = yield* create()
      const wait = engine.awaitEnd(taskId, Duration.seconds(30))
      const early = yield* Effect.forEach(Array.from({ length: 99 }), () => Effect.forkChild(wait))
      yield* settle
      yield* engine.apply(taskId, { _tag: "Complete", at: 0, attempt: 1, result: "{}", isError: false })
      const late = yield* Effect.forkChild(wait)
      for (const fiber of [...early, late]) {
        assert.strictEqual(Option.getOrThrow(yield* Fiber.join(fiber)).task.status, "completed")
      }
    }).pipe(live()))

  it.effect("gives up in time, and says so when the task is gone", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const { task: { taskId } } = yield* create()
      const within = Duration.seconds(7)
      const waiting = yield* Effect.forkChild(engine.awaitEnd(taskId, within))
      yield* TestClock.adjust("7 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.join(waiting)))
      assert.strictEqual((yield* Effect.flip(engine.awaitEnd("unknown", within)))._tag, "TaskNotFound")
    }).pipe(live()))
})

describe("TaskSweeper", () => {
  it.effect("takes a bounded batch at a time, expires once and removes once", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const store = yield* TaskStore.TaskStore
      const tasks = yield* Effect.forEach(Array.from({ length: 25 }), () => create(ada, 1_000))
      assert.strictEqual(yield* TaskSweeper.sweep(10), 0)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        yield* Effect.forEach([1, 2, 3, 4], () => TaskSweeper.sweep(10)),
        [10, 10, 5, 0]
      )
      for (const { task } of tasks) {
        assert.strictEqual(JSON.parse((yield* engine.view(ada, task.taskId)).head).status, "failed")
      }
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* TaskSweeper.sweep(100), 25)
      assert.strictEqual((yield* store.list({ limit: 100 })).length, 0)
    }).pipe(live()))

  it.effect("leaves no trace while nothing is due", () =>
    Effect.gen(function*() {
      const spans: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          spans.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const store = yield* TaskStore.TaskStore
      const traced = TaskStore.TaskStore.of({
        ...store,
        due: (at, limit) => Effect.withSpan(store.due(at, limit), "due")
      })
      const sweep = TaskSweeper.sweep(10).pipe(
        Effect.provideService(TaskStore.TaskStore, traced),
        Effect.provideService(Tracer.Tracer, tracer)
      )
      yield* create(ada, 1_000)
      assert.strictEqual(yield* sweep, 0)
      assert.deepStrictEqual(spans, [])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* sweep, 1)
      assert.strictEqual(spans[0], "TaskSweeper.sweep")
      assert.notInclude(spans, "due")
    }).pipe(live()))

  it.effect("an overdue task is told as failed before any sweep, and forgotten in time without one [E14]", () =>
    Effect.gen(function*() {
      const engine = yield* TaskEngine.TaskEngine
      const { task: { taskId } } = yield* create(ada, 1_000)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(JSON.parse((yield* engine.view(ada, taskId)).head).status, "failed")
      yield* TestClock.adjust("10 seconds")
      for (const attempt of [engine.view(ada, taskId), engine.cancel(ada, taskId), engine.answer(ada, taskId, {})]) {
        assert.deepStrictEqual(yield* Effect.flip<unknown, unknown, never>(attempt), new TaskEngine.TaskNotFound())
      }
    }).pipe(live()))

  it.effect("goes on after the store failed, and says so once", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      let failures = 0
      const flaky = TaskStore.TaskStore.of({
        ...store,
        due: (now, limit) =>
          failures++ < 5
            ? Effect.fail(new TaskStore.TaskStoreError({ operation: "due", reason: "Unavailable", cause: "down" }))
            : store.due(now, limit)
      })
      yield* create(ada, 1_000)
      yield* Layer.build(Layer.fresh(TaskSweeper.layer).pipe(Layer.provide(Layer.succeed(TaskStore.TaskStore, flaky))))
      yield* TestClock.adjust("20 seconds")
      yield* settle
      assert.strictEqual(yield* store.countLive(TaskOwner.key(ada)), 0)
      assert.isAbove(failures, 6)
    }).pipe(live()))
})
