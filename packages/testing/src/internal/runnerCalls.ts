/**
 * What belongs to one call and its caller: the task is theirs alone, an answer or a cancel is for one task, and what
 * the call brings along is there when its handler runs.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { Fleet, type Process, start } from "../Fleet.ts"
import { accept, asking, call, confirm, get, owner, submit } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing()

const eve = TaskOwner.principal({ issuer: "https://issuer.example", subject: "eve" })

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

/** Whatever somebody may ask of a task, and what they hear who may not: nothing that an unknown id would not tell. */
const isHidden = Effect.fnUntraced(function*({ engine }: Process, from: TaskOwner.TaskOwner, taskId: string) {
  for (const asked of [engine.view(from, taskId), engine.answer(from, taskId, accept), engine.cancel(from, taskId)]) {
    const refusal = yield* Effect.result(asked)
    assert.isTrue(refusal._tag === "Failure" && refusal.failure._tag === "TaskNotFound", "It is not hidden")
  }
})

const owners: ReadonlyArray<RunnerCase> = [
  test("shows a task to its owner alone, and takes its answer and its cancel from nobody else", ({ becomes, until }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const hers = yield* call(process, "once")
      const answered = yield* submit(process, "once", { owner: eve })
      const cancelled = yield* submit(process, "once", { owner: eve })
      yield* becomes(process, hers, "input_required")
      const parked = (taskId: string) => Effect.map(read(taskId), ({ status }) => status === "input_required")
      for (const taskId of [answered, cancelled]) yield* until("it asks", parked(taskId))
      yield* isHidden(process, eve, hers)
      for (const taskId of [answered, cancelled, "unknown"]) yield* isHidden(process, owner, taskId)
      assert.strictEqual((yield* get(process, hers)).status, "input_required")
      for (const taskId of [answered, cancelled]) assert.strictEqual((yield* read(taskId)).owner, TaskOwner.key(eve))
      yield* process.engine.cancel(eve, cancelled)
      yield* process.engine.answer(eve, answered, accept)
      yield* process.engine.answer(owner, hers, accept)
      yield* becomes(process, hers, "completed")
      yield* until("the other one ends, too", Effect.map(read(answered), ({ status }) => status === "completed"))
      assert.strictEqual((yield* read(cancelled)).status, "cancelled")
    })),

  test("counts the tasks of each owner as theirs", () =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => Effect.never })
      for (const whose of [owner, eve, eve]) yield* submit(process, "once", { owner: whose })
      const { store } = yield* Fleet
      const counts = yield* Effect.forEach([owner, eve], (whose) => store.countLive(TaskOwner.key(whose)))
      assert.deepStrictEqual(counts, [1, 2])
    }))
]

const targets: ReadonlyArray<RunnerCase> = [
  test("gives an answer to the task that it is for, and to no other", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const ids = [yield* call(process, "once"), yield* call(process, "once"), yield* call(process, "once")] as const
      for (const taskId of ids) yield* becomes(process, taskId, "input_required")
      const statuses = Effect.forEach(ids, (taskId) => Effect.map(get(process, taskId), ({ status }) => status))
      yield* process.engine.answer(owner, ids[1], { confirm: { action: "decline" } })
      assert.match((yield* becomes(process, ids[1], "completed")).result.content[0].text, /decline/)
      assert.deepStrictEqual(yield* statuses, ["input_required", "completed", "input_required"])
      yield* process.engine.answer(owner, ids[2], accept)
      assert.match((yield* becomes(process, ids[2], "completed")).result.content[0].text, /accept/)
      assert.deepStrictEqual(yield* statuses, ["input_required", "completed", "completed"])
    })),

  test("gives a cancel to the task that it is for, and to no other", ({ becomes, until }) =>
    Effect.gen(function*() {
      const [begun, ended] = [yield* Ref.make(0), yield* Ref.make<ReadonlyArray<string>>([])]
      const gate = yield* Deferred.make<void>()
      const process = yield* start({
        once: (text) =>
          Effect.andThen(Ref.update(begun, (count) => count + 1), Deferred.await(gate)).pipe(
            Effect.onInterrupt(() => Ref.update(ended, (before) => [...before, text]))
          )
      })
      const ids = [
        yield* call(process, "once", "a"),
        yield* call(process, "once", "b"),
        yield* call(process, "once", "c")
      ] as const
      for (const taskId of ids) yield* becomes(process, taskId, "working")
      yield* until("all run", Effect.map(Ref.get(begun), (count) => count === 3))
      yield* process.engine.cancel(owner, ids[1])
      yield* becomes(process, ids[1], "cancelled")
      assert.deepStrictEqual(yield* Ref.get(ended), ["b"])
      yield* Deferred.succeed(gate, undefined)
      for (const taskId of [ids[0], ids[2]]) yield* becomes(process, taskId, "completed")
    }))
]

const traceId = "0af7651916cd43dd8448eb211c80319c"

const bringings: ReadonlyArray<RunnerCase> = [
  test("runs a handler over what its call has asked and done before", ({ becomes }) =>
    Effect.gen(function*() {
      const steps = yield* Ref.make(0)
      const once = (text: string) =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          const counted = yield* task.step("count", Schema.Int, Ref.updateAndGet(steps, (count) => count + 1))
          return `${counted} ${yield* asking(text)}`
        })
      const process = yield* start({ once })
      const parked = yield* call(process, "once")
      yield* becomes(process, parked, "input_required")
      // The question as a handler puts it: an answer that is there beforehand is to this very question.
      const [question] = (yield* read(parked)).questions
      assert.isDefined(question, confirm.message)
      const { key, request } = question
      const journal = {
        answers: [{ key, request, state: "answered", response: accept.confirm } as const],
        steps: [{ name: "count", value: 7 }]
      }
      const done = yield* becomes(process, yield* submit(process, "once", { journal }), "completed")
      assert.match(done.result.content[0].text, /^7 attempt 1: .*"overwrite":true/)
      assert.strictEqual(yield* Ref.get(steps), 1)
    })),

  test("keeps the trace of the call with its task, and runs the handler in it", ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: () => Effect.map(Effect.orDie(Effect.currentSpan), (span) => span.traceId) })
      const traceparent = `00-${traceId}-b7ad6b7169203331-01`
      const taskId = yield* submit(process, "once", { traceparent })
      assert.strictEqual((yield* becomes(process, taskId, "completed")).result.content[0].text, traceId)
      assert.strictEqual((yield* read(taskId)).traceparent, traceparent)
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [...owners, ...targets, ...bringings]
