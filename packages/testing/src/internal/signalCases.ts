/**
 * The cases of the signal suite. Signals may be lost and doubled, so they are said again until they arrive.
 *
 * @since 0.1.0
 */
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import { assert } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import { hostileTexts } from "../StoredTasks.ts"
import type * as Suite from "../Suite.ts"
import { listener, reaches } from "../TaskSignalListener.ts"
import type { Capability, Place } from "../TaskSignalTest.ts"
import * as places from "./places.ts"

type Signal = TaskSignal.TaskSignal["Service"]
type SignalCase = Suite.Case<Place, Capability>
type Open = places.Open<Signal>

/** Two ends that should hear each other: what is said here is to be heard there. */
interface Ends {
  readonly here: Signal
  readonly there: Signal
}

const test = (
  title: string,
  needs: ReadonlyArray<Capability>,
  body: (open: Open) => Effect.Effect<unknown, unknown, Scope.Scope>
): SignalCase => ({
  title,
  needs,
  run: (place) => Effect.asVoid(Effect.scoped(Effect.flatMap(places.make(TaskSignal.TaskSignal, place), body)))
})

/** A case for the two ends of one process, and the same one for two processes. */
const both = (
  title: string,
  body: (ends: Ends) => Effect.Effect<unknown, unknown, Scope.Scope>
): ReadonlyArray<SignalCase> => [
  test(title, [], (open) => Effect.flatMap(open, (signal) => body({ here: signal, there: signal }))),
  test(`${title}, between processes`, ["processes"], (open) =>
    Effect.flatMap(Effect.all({ here: open, there: open }), body))
]

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<SignalCase> = [
  test("is heard in its own process without waiting for anyone", [], (open) =>
    Effect.gen(function*() {
      const here = yield* open
      const subscription = yield* here.subscribe
      for (const taskId of ["a", "b", "c"]) yield* here.publish(taskId)
      assert.deepStrictEqual(yield* PubSub.takeUpTo(subscription, 10), ["a", "b", "c"])
    }).pipe(Effect.timeout("20 seconds"))),

  test("is heard by every other process, both ways", ["processes"], (open) =>
    Effect.gen(function*() {
      const [here, there] = [yield* open, yield* open]
      const [heardHere, heardThere] = [yield* listener(here), yield* listener(there)]
      yield* reaches(here, heardThere, "to there")
      yield* reaches(there, heardHere, "to here")
    })),

  ...both("is heard by all subscribers, and no longer by one that has left", ({ here, there }) =>
    Effect.gen(function*() {
      const one = yield* listener(there)
      const leaving = yield* Scope.make()
      const two = yield* Scope.provide(listener(there), leaving)
      yield* Effect.all([reaches(here, one, "a"), reaches(here, two, "a")])
      yield* Scope.close(leaving, Exit.void)
      yield* reaches(here, one, "b")
      assert.isFalse(two.has("b"))
    })),

  ...both("loses none of a thousand in ordinary times", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      yield* reaches(here, heard, "ready")
      const ids = Arr.range(1, 1_000).map((n) => `task-${n}`)
      yield* Effect.forEach(ids, here.publish, { discard: true })
      while (ids.some((taskId) => !heard.has(taskId))) yield* Effect.sleep("20 millis")
    }).pipe(Effect.timeout("20 seconds"))),

  ...both("carries ids of any text, and no other", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      const texts = [...hostileTexts.map(([, text]) => text), "", "null", "[1]", "x".repeat(256), "€".repeat(256)]
      for (const text of texts) yield* reaches(here, heard, text)
      assert.deepStrictEqual([...heard].toSorted(), texts.toSorted())
    })),

  ...both("takes a hundred thousand in a row, and works on", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      for (let n = 0; n < 100_000; n++) yield* here.publish(`task-${n}`)
      yield* reaches(here, heard, "last")
    })),

  test("publishes while its scope closes, and after that", [], (open) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const here = yield* Scope.provide(open, scope)
      let isDone = false
      yield* Scope.addFinalizer(
        scope,
        Effect.andThen(here.publish("a"), Effect.sync(() => {
          isDone = true
        }))
      )
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(isDone)
      yield* here.publish("b")
    }).pipe(Effect.timeout("20 seconds")))
]
