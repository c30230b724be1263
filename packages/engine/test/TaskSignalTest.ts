/**
 * What every signal has to do: run `suite` on two ends, as two processes hold them. Signals may be lost and doubled, so
 * the tests say them again until they arrive.
 */
import { TaskSignal } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Context, Deferred, Effect, Exit, Layer, PubSub, Scope } from "effect"
import { hostileTexts } from "./StoredTasks.ts"

type Signal = TaskSignal.TaskSignal["Service"]

/** Two processes that should hear each other. */
export interface Ends {
  readonly here: Signal
  readonly there: Signal
}

/** One process of its own. */
export const end = <E, R>(layer: Layer.Layer<TaskSignal.TaskSignal, E, R>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), Context.get(TaskSignal.TaskSignal))

/** Collects what an end hears, until the scope closes. */
export const listener = Effect.fnUntraced(function*(signal: Signal) {
  const subscription = yield* signal.subscribe
  const heard = new Set<string>()
  yield* Effect.forkScoped(Effect.forever(Effect.map(PubSub.take(subscription), (taskId) => heard.add(taskId))))
  return heard
})

/** Says it at one end until it is heard at the other. */
export const reaches = Effect.fnUntraced(function*(from: Signal, heard: ReadonlySet<string>, taskId: string) {
  while (!heard.has(taskId)) {
    yield* from.publish(taskId)
    yield* Effect.sleep("20 millis")
  }
}, Effect.timeout("20 seconds"))

/** Declares the tests of one signal. */
export const suite = <E>(name: string, ends: Effect.Effect<Ends, E, Scope.Scope>): void => {
  const test = <A, E2>(title: string, body: (ends: Ends) => Effect.Effect<A, E2, Scope.Scope>) =>
    it.live(title, () => Effect.scoped(Effect.flatMap(ends, body)))

  describe(name, () => {
    test("is heard in its own process without waiting for anyone", ({ here }) =>
      Effect.gen(function*() {
        const subscription = yield* here.subscribe
        for (const taskId of ["a", "b", "c"]) yield* here.publish(taskId)
        assert.deepStrictEqual(yield* PubSub.takeUpTo(subscription, 10), ["a", "b", "c"])
      }))

    test("is heard by every other process, both ways", ({ here, there }) =>
      Effect.gen(function*() {
        const [heardHere, heardThere] = [yield* listener(here), yield* listener(there)]
        yield* reaches(here, heardThere, "to there")
        yield* reaches(there, heardHere, "to here")
      }))

    test("is heard by all subscribers, and no longer by one that has left", ({ here, there }) =>
      Effect.gen(function*() {
        const one = yield* listener(there)
        const leaving = yield* Scope.make()
        const two = yield* Scope.provide(listener(there), leaving)
        yield* Effect.all([reaches(here, one, "a"), reaches(here, two, "a")])
        yield* Scope.close(leaving, Exit.void)
        yield* reaches(here, one, "b")
        assert.isFalse(two.has("b"))
      }))

    test("loses none of a thousand in ordinary times", ({ here, there }) =>
      Effect.gen(function*() {
        const heard = yield* listener(there)
        yield* reaches(here, heard, "ready")
        const ids = Arr.range(1, 1_000).map((n) => `task-${n}`)
        yield* Effect.forEach(ids, here.publish, { discard: true })
        while (ids.some((taskId) => !heard.has(taskId))) yield* Effect.sleep("20 millis")
      }).pipe(Effect.timeout("20 seconds")))

    test("carries ids of any text", ({ here, there }) =>
      Effect.gen(function*() {
        const heard = yield* listener(there)
        const texts = hostileTexts.map(([, text]) => text).filter((text) => text.length <= 256)
        for (const text of [...texts, "", "null", "[1]", "x".repeat(256), "€".repeat(256)]) {
          yield* reaches(here, heard, text)
        }
      }))

    test("takes a hundred thousand that nobody listens to, and works on", ({ here, there }) =>
      Effect.gen(function*() {
        const heard = yield* listener(there)
        for (let n = 0; n < 100_000; n++) yield* here.publish(`task-${n}`)
        yield* reaches(here, heard, "last")
      }))

    test("publishes from anywhere, also while its scope closes", ({ here }) =>
      Effect.gen(function*() {
        const done = yield* Deferred.make<void>()
        const last = Effect.andThen(here.publish("a"), Deferred.succeed(done, undefined))
        yield* Effect.scoped(Effect.addFinalizer(() => last))
        yield* Deferred.await(done)
      }))
  })
}
