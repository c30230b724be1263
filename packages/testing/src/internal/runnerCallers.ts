/**
 * The life of the work is that of its process, and not that of whoever called: what was taken is done though its caller
 * has gone, and ends with its process.
 *
 * @since 0.2.0
 */
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Ref from "effect/Ref"
import type * as FleetTime from "../FleetTime.ts"
import { Fleet, type Process, start } from "../Fleet.ts"
import { accept, asking, call, owner } from "../FleetTools.ts"
import { needing, quick, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const timed = needing("virtualTime")

/** How a caller goes away that has its answer. */
const goings: ReadonlyArray<readonly [how: string, goes: <A, E>(asked: Effect.Effect<A, E>) => Effect.Effect<A, E>]> = [
  ["ends", (asked) => Effect.flatMap(Effect.forkChild(asked), Fiber.join)],
  [
    "is interrupted",
    (asked) =>
      Effect.gen(function*() {
        const answer = yield* Deferred.make<Effect.Success<typeof asked>, Effect.Error<typeof asked>>()
        const caller = yield* Effect.forkChild(Effect.andThen(Deferred.into(asked, answer), Effect.never))
        const answered = yield* Deferred.await(answer)
        yield* Fiber.interrupt(caller)
        return answered
      })
  ]
]

/** A caller that is interrupted when its process has had something written, and has not heard of it. */
const interruptedAfter = Effect.fnUntraced(function*<A, E>(
  { link }: Process,
  operation: "create" | "replace",
  { asked, until }: { readonly asked: Effect.Effect<A, E>; readonly until: FleetTime.Waiting["until"] }
) {
  const written = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const undisturbed = link.disturb
  link.disturb = (name, effect) =>
    name === operation
      ? Effect.tap(effect, () => Effect.andThen(Deferred.succeed(written, undefined), Deferred.await(gate)))
      : effect
  const caller = yield* Effect.forkChild(asked)
  yield* until("it is written", Deferred.isDone(written))
  const leaving = yield* Effect.forkChild(Fiber.interrupt(caller), { startImmediately: true })
  link.disturb = undisturbed
  yield* Deferred.succeed(gate, undefined)
  yield* Fiber.join(leaving)
})

/** A handler that says that it runs and that it was interrupted, and otherwise does nothing. */
const endless = Effect.gen(function*() {
  const running = yield* Ref.make(0)
  const interrupted = yield* Ref.make(0)
  const once = () =>
    Effect.andThen(Ref.update(running, (count) => count + 1), Effect.never).pipe(
      Effect.onInterrupt(() => Ref.update(interrupted, (count) => count + 1))
    )
  return { running: Ref.get(running), interrupted: Ref.get(interrupted), once }
})

const is = (expected: number) => Effect.map((count: number) => count === expected)

const gone: ReadonlyArray<RunnerCase> = goings.flatMap(([how, goes]) => [
  test(`a task is run to its end though the caller that made it ${how}`, ({ becomes, until }) =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const running = yield* Ref.make(false)
      const process = yield* start({ once: () => Effect.andThen(Ref.set(running, true), Deferred.await(gate)) })
      const taskId = yield* goes(call(process, "once"))
      yield* until("it runs", Ref.get(running))
      yield* Deferred.succeed(gate, "done")
      assert.strictEqual((yield* becomes(process, taskId, "completed")).result.content[0].text, "done")
    })),

  test(`an answer reaches its handler though whoever gave it ${how}`, ({ becomes }) =>
    Effect.gen(function*() {
      const process = yield* start({ once: asking })
      const taskId = yield* call(process, "once")
      yield* becomes(process, taskId, "input_required")
      yield* goes(process.engine.answer(owner, taskId, accept))
      assert.match((yield* becomes(process, taskId, "completed")).result.content[0].text, /"overwrite":true/)
    })),

  test(`a cancel reaches its handler though whoever gave it ${how}`, ({ becomes, until }) =>
    Effect.gen(function*() {
      const { interrupted, once, running } = yield* endless
      const process = yield* start({ once })
      const taskId = yield* call(process, "once")
      yield* until("it runs", is(1)(running))
      yield* goes(process.engine.cancel(owner, taskId))
      yield* becomes(process, taskId, "cancelled")
      assert.strictEqual(yield* interrupted, 1)
    }))
])

const going: ReadonlyArray<RunnerCase> = [
  test("a task whose caller goes away before it hears of it is made and run, or is not there", ({ until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const process = yield* start({ once: () => Ref.update(runs, (count) => count + 1) }, quick)
      yield* interruptedAfter(process, "create", { asked: call(process, "once"), until })
      const { store } = yield* Fleet
      const tasks = Effect.map(store.list({ limit: 10 }), (all) => all.map(({ task }) => task))
      yield* until("it ends", Effect.map(tasks, (all) => all.every(({ status }) => status === "completed")))
      assert.strictEqual(yield* Ref.get(runs), (yield* tasks).length)
    })),

  timed("an answer and a cancel that were written are heeded though nobody hears of them", ({ becomes, until }) =>
    Effect.gen(function*() {
      const { interrupted, once, running } = yield* endless
      const process = yield* start({ once, resumable: asking }, quick)
      const asked = yield* call(process, "resumable")
      yield* becomes(process, asked, "input_required")
      yield* interruptedAfter(process, "replace", { asked: process.engine.answer(owner, asked, accept), until })
      yield* becomes(process, asked, "completed")
      const working = yield* call(process, "once")
      yield* until("it runs", is(1)(running))
      yield* interruptedAfter(process, "replace", { asked: process.engine.cancel(owner, working), until })
      yield* becomes(process, working, "cancelled")
      assert.strictEqual(yield* interrupted, 1)
    })),

  test("a handler ends with its process", ({ until }) =>
    Effect.gen(function*() {
      const { interrupted, once, running } = yield* endless
      const process = yield* start({ once }, { ...quick, grace: "0 seconds" })
      for (const text of ["a", "b"]) yield* call(process, "once", text)
      yield* until("both run", is(2)(running))
      yield* process.stop
      assert.strictEqual(yield* interrupted, 2)
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [...gone, ...going]
