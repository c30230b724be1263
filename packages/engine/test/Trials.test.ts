/** A call that kills its process ends alone: those who were there at its first deaths go on without it. */
import { CurrentTask, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime, StoredTasks } from "@effect-mcp-tasks/testing"
import { get, owner, submit } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Duration, Effect, Layer, Option, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"
import { Slots } from "../src/internal/slots.ts"
import { Trials } from "../src/internal/trials.ts"
import { embedded, inMemory } from "./FleetLayers.ts"

const { settle } = FleetTime
const { until } = FleetTime.of("test")

const Job = Tool.make("job", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "1 day", recovery: "resume" })
const Kit = Toolkit.make(Job)

type Handler = (text: string) => Effect.Effect<string>

const tools = (job: Handler) =>
  Layer.provide(TaskTools.layer(Kit), Kit.toLayer({ job: ({ text }) => job(text) }))

const options = { lease: "3 seconds", scan: "15 seconds" } as const

const read = (taskId: string) =>
  Effect.flatMap(Fleet.Fleet, ({ store }) =>
    Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

/** Processes of which each is followed by another one when it dies. */
const supervised = Effect.fnUntraced(function*(
  job: (text: string, die: Effect.Effect<never>) => Effect.Effect<string>
) {
  const deaths = { count: 0 }
  const current = new Map<string, Fleet.Process>()
  const begin = Effect.fnUntraced(function*(name: string): Effect.fn.Return<void, never, Fleet.Fleet> {
    let ended = false
    const fleet = yield* Fleet.Fleet
    const die = Effect.gen(function*() {
      if (!ended) {
        ended = true
        deaths.count++
        current.get(name)?.link.cut()
        yield* Effect.forkDetach(Effect.provideService(begin(name), Fleet.Fleet, fleet))
      }
      return yield* Effect.never
    })
    current.set(name, yield* Fleet.start({}, { ...options, tools: tools((text) => job(text, die)) }))
  })
  yield* begin("a")
  yield* begin("b")
  const at = (name: string) => Option.getOrThrow(Option.fromUndefinedOr(current.get(name)))
  return { at, deaths }
})

/** Suspects: so many calls that were lost twice, the first started first. Gives back what runs in the third process. */
const suspects = Effect.fnUntraced(function*(count: number, job: Handler, settings: Fleet.ProcessOptions = options) {
  const started: Array<string> = []
  let process = yield* Fleet.start({}, { ...settings, tools: tools(() => Effect.never) })
  const names = Arr.makeBy(count, String)
  const ids = yield* Effect.forEach(names, (text) => submit(process, "job", { text }))
  for (const attempt of [1, 2]) {
    yield* until("all run", Effect.map(Effect.forEach(ids, read), Arr.every((task) => task.attempt === attempt)))
    yield* process.kill
    const next: Handler = attempt === 1 ? () => Effect.never : (text) => {
      started.push(text)
      return job(text)
    }
    process = yield* Fleet.start({}, { ...settings, tools: tools(next) })
  }
  yield* until("the first is on trial", Effect.sync(() => started.length > 0))
  yield* settle
  return { process, ids, started }
})

const statuses = (ids: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(ids, read), (tasks) => tasks.map(({ status }) => status))

describe("a call that kills its process", () => {
  it.effect("ends alone: nobody else loses more than two attempts to it", () =>
    Effect.gen(function*() {
      const job = Effect.fnUntraced(function*(text: string, die: Effect.Effect<never>) {
        const task = yield* Effect.serviceOption(CurrentTask.CurrentTask).pipe(Effect.map(Option.getOrThrow))
        if (text === "poison") {
          yield* Effect.orDie(task.step("first", Schema.Int, Effect.succeed(1)))
          return yield* Effect.andThen(Effect.sleep("300 millis"), die)
        }
        return yield* Effect.orDie(task.step("only", Schema.String, Effect.as(Effect.sleep("4 seconds"), "done")))
      })
      const { at, deaths } = yield* supervised(job)
      const innocent = yield* Effect.forEach(
        Arr.range(1, 8),
        (n) => submit(at(n % 2 === 0 ? "b" : "a"), "job", { text: "innocent" })
      )
      const poison = yield* submit(at("a"), "job", { text: "poison" })
      yield* TestClock.adjust("5 minutes")
      yield* settle
      assert.deepStrictEqual(yield* statuses(innocent), Arr.replicate("completed", 8))
      assert.match((yield* get(at("b"), poison)).error.message, /stopped too often/)
      assert.strictEqual(deaths.count, 6)
      for (const { attempt } of yield* Effect.forEach(innocent, read)) assert.isAtMost(attempt, 3)
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("ends alone where there is one process at a time", () =>
    Effect.gen(function*() {
      const { ids, process, started } = yield* suspects(3, () => Effect.never)
      assert.strictEqual(started.length, 1)
      const tasks = yield* Effect.forEach(ids, read)
      assert.deepStrictEqual(tasks.map(({ attempt }) => attempt).toSorted(), [2, 2, 3])
      const [poison] = started
      let current = process
      for (const _ of [4, 5, 6, 7]) {
        yield* current.kill
        current = yield* Fleet.start({}, {
          tools: tools((text) => text === poison ? Effect.never : Effect.succeed("done"))
        })
        yield* settle
      }
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(
        (yield* statuses(ids)).toSorted(),
        ["completed", "completed", "failed"]
      )
    }).pipe(Effect.provide(embedded, { local: true })))
})

/** One slot after the other, and whether a suspect may start there. */
const admitting = (trials: Trials, slots: Slots, taskId: string) =>
  Effect.gen(function*() {
    const seat = Option.getOrThrow(Option.fromUndefinedOr(slots.tryTake()))
    const command = { _tag: "Start", at: StoredTasks.createdAt, after: 1, worker: "me" } as const
    const task = StoredTasks.working({ taskId, lostAttempts: 1, worker: "other" })
    return { seat, isAdmitted: yield* trials.admit(task, command, seat) }
  })

describe("a trial", () => {
  it.effect("is over for good when its handler has waited for input", () =>
    Effect.gen(function*() {
      const [slots, trials] = [new Slots(5), new Trials()]
      const first = yield* admitting(trials, slots, "1")
      const early = yield* admitting(trials, slots, "2")
      slots.release(first.seat)
      yield* slots.retake(first.seat)
      const late = yield* admitting(trials, slots, "3")
      assert.deepStrictEqual([first, early, late].map(({ isAdmitted }) => isAdmitted), [true, false, true])
    }))

  it.effect("is not needed for a start that ends its task, nor after one loss", () =>
    Effect.gen(function*() {
      const [slots, trials] = [new Slots(5), new Trials()]
      const { seat } = yield* admitting(trials, slots, "1")
      const other = Option.getOrThrow(Option.fromUndefinedOr(slots.tryTake()))
      const command = { _tag: "Start", at: StoredTasks.createdAt, after: 1, worker: "me" } as const
      for (const given of [{ lostAttempts: 0 }, { lostAttempts: 3 }, { lostAttempts: 2, cancelRequested: true }]) {
        assert.isTrue(yield* trials.admit(StoredTasks.working({ worker: "other", ...given }), command, other))
      }
      assert.isFalse(yield* trials.admit(StoredTasks.working({ worker: "other", lostAttempts: 2 }), command, other))
      assert.isTrue(seat.isTaken)
    }))
})

const kinds = [["embedded", embedded], ["by queue", inMemory]] as const

for (const [name, layer] of kinds) {
  describe(`suspects, ${name},`, () => {
    it.effect("are tried one after the other, as soon as the one before has ended", () =>
      Effect.gen(function*() {
        const { ids, started } = yield* suspects(3, () => Effect.as(Effect.sleep("4 seconds"), "done"))
        assert.strictEqual(started.length, 1)
        yield* TestClock.adjust("4 seconds")
        yield* settle
        assert.strictEqual(started.length, 2)
        yield* TestClock.adjust("4 seconds")
        yield* settle
        assert.strictEqual(started.length, 3)
        yield* TestClock.adjust("4 seconds")
        yield* settle
        assert.deepStrictEqual(yield* statuses(ids), Arr.replicate("completed", 3))
      }).pipe(Effect.provide(layer, { local: true })))

    it.effect("are on trial for a minute at most, and while they do not wait for input", () =>
      Effect.gen(function*() {
        const asks = Effect.flatMap(Effect.serviceOption(CurrentTask.CurrentTask), (task) =>
          Effect.as(
            Effect.orDie(Option.getOrThrow(task).elicit("go on", { message: "?", schema: Schema.Struct({}) })),
            "done"
          ))
        const { started } = yield* suspects(4, (text) => text === "1" ? asks : Effect.never)
        yield* TestClock.adjust(Duration.seconds(55))
        yield* settle
        assert.strictEqual(started.length, started.includes("1") ? 2 : 1)
        yield* TestClock.adjust(Duration.minutes(3))
        yield* settle
        assert.strictEqual(started.length, 4)
      }).pipe(Effect.provide(layer, { local: true })))
  })
}

describe("a suspect that waits for its trial", () => {
  it.effect("holds no slot, has not been started, and can be cancelled", () =>
    Effect.gen(function*() {
      const job: Handler = (text) => text === "new" ? Effect.succeed("done") : Effect.never
      const { ids, process, started } = yield* suspects(3, job, { ...options, concurrency: 3 })
      assert.strictEqual(started.length, 1)
      const fresh = yield* Effect.forEach(["new", "new", "new"], (text) => submit(process, "job", { text }))
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* statuses(fresh), Arr.replicate("completed", 3))
      const waiting = (yield* Effect.forEach(ids, read)).filter(({ attempt }) => attempt === 2)
      assert.strictEqual(waiting.length, 2)
      for (const { taskId } of waiting) yield* process.engine.cancel(owner, taskId)
      yield* TestClock.adjust("40 seconds")
      yield* settle
      assert.deepStrictEqual(yield* statuses(waiting.map(({ taskId }) => taskId)), ["cancelled", "cancelled"])
    }).pipe(Effect.provide(inMemory, { local: true })))

  it.effect("is found by another process that is free to try it", () =>
    Effect.gen(function*() {
      const { ids, started } = yield* suspects(3, () => Effect.never)
      const others: Array<string> = []
      const taking: Handler = (text) => Effect.as(Effect.sync(() => others.push(text)), "done")
      yield* Fleet.start({}, { ...options, tools: tools(taking) })
      yield* TestClock.adjust("40 seconds")
      yield* settle
      assert.strictEqual(started.length, 1)
      assert.deepStrictEqual((yield* statuses(ids)).toSorted(), ["completed", "completed", "working"])
    }).pipe(Effect.provide(inMemory, { local: true })))
})
