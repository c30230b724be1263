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
import * as Fiber from "effect/Fiber"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import { hostileTexts } from "../StoredTasks.ts"
import type * as Suite from "../Suite.ts"
import { comes, listener, reaches } from "../TaskSignalListener.ts"
import type { Capability, Place } from "../TaskSignalTest.ts"
import { answered, everywhere } from "./interruption.ts"
import * as interruption from "./interruption.ts"
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

/** Whether an effect ends within some turns of the scheduler, in which no timer and no server can take part. */
const endsAtOnce = Effect.fnUntraced(function*<E, R>(effect: Effect.Effect<unknown, E, R>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
  for (let turn = 0; turn < 10 && fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
  const hasEnded = fiber.pollUnsafe() !== undefined
  yield* Fiber.interrupt(fiber)
  return hasEnded
})

/** Waits until nothing arrives for so many looks, and forgets what did. */
const quiet = Effect.fnUntraced(function*(heard: Set<string>, looks: number) {
  let calm = 0
  const isCalm = () => {
    calm = heard.size === 0 ? calm + 1 : 0
    heard.clear()
    return calm > looks
  }
  yield* comes("nothing more", isCalm, Effect.void)
})

/**
 * Whoever waits for signals, and goes on at the very moment at which one arrives: to look now and then would give the
 * signal time. `before` is done at each look.
 */
const waiting = Effect.fnUntraced(function*(signal: Signal) {
  const subscription = yield* signal.subscribe
  return (what: string, before: Effect.Effect<void>, taskId = what) =>
    Effect.raceFirst(
      Effect.repeat(PubSub.take(subscription), { until: (heard) => heard === taskId }),
      comes(what, () => false, before)
    )
})

/** One task again and again, alone and in turn with another one. */
const again: ReadonlyArray<string> = ["a", "a", "a", "b", "a", "b", "b", "a", "a", "b"]

const numbered = (count: number) => Arr.range(1, count).map((n) => `task-${n}`)

/** Ids of two tasks that are easily taken for each other: by how they begin, or by what a pattern makes of them. */
const alike: ReadonlyArray<readonly [said: string, other: string]> = [
  ["task-1", "task-10"],
  ["task-20", "task-2"],
  ["Task-3", "task-3"],
  ["task-4", "task-4 "],
  ["task-*", "task-5"],
  ["task-_", "task-6"],
  ["task-%", "task-77"]
]

/** Says so many things once each, and waits until all listeners have heard each of them. */
const everyoneHears = Effect.fnUntraced(function*(
  from: Signal,
  listening: ReadonlyArray<ReadonlySet<string>>,
  count: number
) {
  for (const heard of listening) yield* reaches(from, heard, "ready")
  const ids = numbered(count)
  yield* Effect.forEach(ids, from.publish, { discard: true })
  const isHeard = () => listening.every((heard) => ids.every((taskId) => heard.has(taskId)))
  yield* comes("each of them, by everyone", isHeard, Effect.void)
})

const ordinary: ReadonlyArray<SignalCase> = [
  test("is heard in its own process without waiting for anyone", [], (open) =>
    Effect.gen(function*() {
      const here = yield* open
      const subscriptions = yield* Effect.all(Arr.replicate(here.subscribe, 3))
      const ids = numbered(100)
      assert.isTrue(yield* endsAtOnce(Effect.forEach(ids, here.publish, { discard: true })), "To publish takes time")
      for (const subscription of subscriptions) {
        assert.deepStrictEqual(yield* PubSub.takeUpTo(subscription, 1_000), ids)
      }
    })),

  test("is heard by every other process, each way", ["processes"], (open) =>
    Effect.gen(function*() {
      const processes = [yield* open, yield* open, yield* open]
      const listening = yield* Effect.forEach(processes, listener)
      for (const [index, from] of processes.entries()) {
        for (const heard of listening) yield* reaches(from, heard, `from ${index}`)
      }
    })),

  ...both("brings each of a hundred to all subscribers, and not to one of them", ({ here, there }) =>
    Effect.gen(function*() {
      const listening = yield* Effect.all(Arr.replicate(listener(there), 3))
      yield* everyoneHears(here, listening, 100)
    })),

  test("brings each of a hundred to all processes, and not to one of them", ["processes"], (open) =>
    Effect.gen(function*() {
      const [from, ...others] = [yield* open, yield* open, yield* open]
      yield* everyoneHears(from, yield* Effect.forEach([from, ...others], listener), 100)
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

  ...both("is heard each time that it is said, once, as soon as it was heard before", ({ here, there }) =>
    Effect.gen(function*() {
      // Another one, who never reads, is nobody's concern.
      yield* there.subscribe
      const hears = yield* waiting(there)
      yield* hears("ready", here.publish("ready"))
      for (const taskId of again) {
        yield* here.publish(taskId)
        yield* hears(`${taskId}, said once more`, Effect.void, taskId)
      }
    })),

  ...both("loses none of four thousand in ordinary times, and mistakes none", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      yield* reaches(here, heard, "ready")
      const ids = numbered(4_000)
      yield* Effect.forEach(ids, here.publish, { discard: true })
      yield* comes("each of them", () => ids.every((taskId) => heard.has(taskId)), Effect.void)
      assert.deepStrictEqual(heard, new Set(["ready", ...ids]))
    }))
]

/** Two words around each character of ASCII that might stand between two ids of a list. */
const separated: ReadonlyArray<string> = Arr.range(0, 127)
  .map((code) => String.fromCharCode(code))
  .filter((character) => !/[a-z0-9]/i.test(character))
  .map((character) => `one${character}two`)

const ids: ReadonlyArray<SignalCase> = [
  ...both("carries ids of any text, and no other", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      const texts = [...hostileTexts.map(([, text]) => text), "", "null", "[1]", "x".repeat(256), "€".repeat(256)]
      // Side by side, as they go together where several are sent at once; and each alone.
      yield* Effect.forEach(separated, (text) => reaches(here, heard, text), { concurrency: "unbounded" })
      for (const text of texts) yield* reaches(here, heard, text)
      assert.deepStrictEqual([...heard].toSorted(), [...texts, ...separated].toSorted())
    })),

  ...both("names the task that has changed, and none whose id is like its own", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      const say = Effect.fnUntraced(function*(taskIds: ReadonlyArray<string>) {
        let most = 0
        for (const taskId of taskIds) most = Math.max(most, yield* reaches(here, heard, taskId))
        return most
      })
      yield* say(["ready"])
      // Whatever goes by ids that it knows has to know them all.
      const slowest = yield* say(alike.flat())
      // What was said more than once still arrives.
      yield* quiet(heard, 10 + 3 * slowest)
      const said = alike.map(([taskId]) => taskId)
      yield* say(said)
      // By then those that were said by mistake have come, too.
      yield* Effect.repeat(Effect.sleep("20 millis"), { times: 10 + slowest })
      assert.deepStrictEqual(heard, new Set(said))
    }))
]

/** Whether all can be said, one after the other; not where so many turns go by in which nothing more is said. */
const goesOn = Effect.fnUntraced(function*(taskIds: ReadonlyArray<string>, publish: Signal["publish"]) {
  let said = 0
  const saying = Effect.forEach(taskIds, (taskId) => Effect.map(publish(taskId), () => void said++), { discard: true })
  const fiber = yield* Effect.forkDetach(saying, { startImmediately: true })
  for (let idle = 0; idle < 100 && fiber.pollUnsafe() === undefined;) {
    const before = said
    yield* Effect.yieldNow
    idle = said === before ? idle + 1 : 0
  }
  const hasEnded = fiber.pollUnsafe() !== undefined
  fiber.interruptUnsafe()
  return hasEnded
})

/** Waits for a signal, and leaves when interrupted. */
const waits = (signal: Signal) => Effect.scoped(Effect.flatMap(signal.subscribe, PubSub.takeAll))

const hard: ReadonlyArray<SignalCase> = [
  ...both("takes a hundred thousand in a row, and works on", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      const said = new Set(numbered(100_000))
      for (const taskId of said) yield* here.publish(taskId)
      yield* reaches(here, heard, "last")
      heard.delete("last")
      assert.isTrue(heard.isSubsetOf(said), "It has named tasks that have not changed")
    })),

  ...both("waits for no subscriber, and keeps little for one that never reads", ({ here, there }) =>
    Effect.gen(function*() {
      const [idle, other] = [yield* there.subscribe, yield* here.subscribe]
      const heard = yield* listener(there)
      assert.isTrue(yield* goesOn(numbered(100_000), here.publish), "To publish waits for whoever does not read")
      yield* reaches(here, heard, "last")
      for (const subscription of [idle, other]) {
        const kept = yield* PubSub.takeUpTo(subscription, Number.POSITIVE_INFINITY)
        assert.isBelow(kept.length, 50_000, "It keeps all for whoever does not read")
      }
      // Whoever reads again hears what comes.
      yield* Effect.forkScoped(Effect.forever(Effect.map(PubSub.takeAll(idle), (ids) => {
        for (const taskId of ids) heard.add(`${taskId}, again`)
      })))
      yield* comes("something, by who reads again", () => heard.has("news, again"), here.publish("news"))
    })),

  ...both("works on, whoever is interrupted", ({ here, there }) =>
    Effect.gen(function*() {
      const heard = yield* listener(there)
      yield* Effect.forEach(
        [here.publish("interrupted"), Effect.scoped(Effect.andThen(there.subscribe, Effect.yieldNow)), waits(there)],
        (each) =>
          everywhere(20, Effect.fnUntraced(function*(turns, time) {
            const outcome = yield* interruption.after("a signal", Math.min(turns, 20), each)
            yield* answered("publish, after an interruption", here.publish(`${time}`))
            return outcome
          })),
        { discard: true }
      )
      heard.clear()
      yield* reaches(here, heard, "last")
      const late = yield* Effect.flatMap(Effect.scope, (scope) =>
        answered("subscribe, after an interruption", Scope.provide(listener(there), scope)))
      yield* reaches(here, late, "later")
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

/**
 * The cases.
 *
 * @since 0.1.0
 */
export const cases: ReadonlyArray<SignalCase> = [...ordinary, ...ids, ...hard]
