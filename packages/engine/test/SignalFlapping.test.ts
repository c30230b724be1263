/** A connection between processes that breaks and works, again and again or once. */
import { Health, type TaskSignal } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Queue } from "effect"
import { TestClock } from "effect/testing"
import * as remoteSignal from "../src/internal/remoteSignal.ts"
import { settle } from "./TestTools.ts"

/** A signal over a wire that brings back what is sent, as long as that may be sent. */
const signal = Effect.gen(function*() {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(Array.isArray(message) ? message[0] : message)))
  const wire = { isAway: false, isDeaf: false, cut: Effect.void as Effect.Effect<unknown> }
  const health = Context.get(yield* Layer.build(Layer.fresh(Health.layer)), Health.Health)
  let arrived = yield* Queue.unbounded<string, "cut">()
  const send = (texts: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      if (wire.isAway) return Effect.fail("away" as const)
      return wire.isDeaf ? Effect.void : Effect.asVoid(Queue.offerAll(arrived, texts))
    })
  const listen = Effect.gen(function*() {
    const queue = yield* Queue.unbounded<string, "cut">()
    arrived = queue
    wire.isDeaf = false
    wire.cut = Queue.fail(queue, "cut")
    return Queue.takeAll(queue)
  })
  const beats = { heartbeat: Duration.seconds(30) }
  const made: TaskSignal.TaskSignal["Service"] = yield* remoteSignal.make({ send, listen }, beats).pipe(
    Effect.provideService(Health.Health, health),
    Effect.provide(Logger.layer([logger]))
  )
  yield* settle
  const isReady = Effect.map(health.ready, (readiness) => readiness.isReady)
  return { lines, wire, isReady, publish: made.publish }
})

describe("a connection that breaks again and again, and works in between", () => {
  it.effect("is news ever less often, and as soon as ever once it has lasted", () =>
    Effect.gen(function*() {
      const { isReady, lines, wire } = yield* signal
      for (let tenths = 0; tenths < 1_200; tenths++) {
        yield* wire.cut
        yield* TestClock.adjust("100 millis")
      }
      // Twice seven pauses that double up to ten seconds, and one of these every ten seconds from then on.
      assert.isBelow(lines.length, 45)
      yield* TestClock.adjust("20 seconds")
      assert.isTrue(yield* isReady)
      yield* wire.cut
      yield* settle
      assert.isFalse(yield* isReady)
      yield* TestClock.adjust("100 millis")
      assert.isTrue(yield* isReady)
    }).pipe(Effect.scoped))
})

describe("what could not be sent", () => {
  it.effect("is no reason not to be ready until somebody sends something again", () =>
    Effect.gen(function*() {
      const { isReady, publish, wire } = yield* signal
      yield* TestClock.adjust("1 second")
      wire.isAway = true
      yield* publish("one")
      yield* settle
      assert.isFalse(yield* isReady)
      wire.isAway = false
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isReady)
    }).pipe(Effect.scoped))
})

describe("a connection that brings nothing more, and does not end", () => {
  it.effect("is left within seconds where something could not be sent either, and not after a heartbeat", () =>
    Effect.gen(function*() {
      const { isReady, publish, wire } = yield* signal
      yield* TestClock.adjust("1 second")
      wire.isAway = true
      wire.isDeaf = true
      yield* publish("one")
      yield* TestClock.adjust("50 millis")
      wire.isAway = false
      assert.isFalse(yield* isReady)
      yield* TestClock.adjust("7 seconds")
      assert.isTrue(yield* isReady)
    }).pipe(Effect.scoped))
})
