import { Health } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Exit, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as loop from "../src/internal/loop.ts"
import { settle } from "./TestTools.ts"

/** Runs a loop in a scope of its own, beside a report on health, and listens to its log. */
const running = Effect.fnUntraced(function*(
  round: (turn: loop.Turn) => Effect.Effect<unknown, unknown>,
  options: Omit<loop.LoopOptions, "name"> = {}
) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(Array.isArray(message) ? message[0] : message)))
  const health = Context.get(yield* Layer.build(Layer.fresh(Health.layer)), Health.Health)
  const scope = yield* Scope.make()
  yield* loop.run({ name: "test", ...options }, round).pipe(
    Scope.provide(scope),
    Effect.provideService(Health.Health, health),
    Effect.provide(Logger.layer([logger]))
  )
  yield* settle
  const state = Effect.map(Effect.andThen(settle, health.ready), ({ loops }) => loops["test"])
  return { lines, state, end: Scope.close(scope, Exit.void) }
})

const fails = "A background loop fails; it tries on"
const works = "A background loop works again"

describe("a loop", () => {
  it.effect("turns until its scope closes", () =>
    Effect.gen(function*() {
      let rounds = 0
      const { end, lines, state } = yield* running(({ idle }) =>
        Effect.andThen(Effect.sync(() => rounds++), idle(Effect.sleep("1 second"))))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(rounds, 11)
      assert.strictEqual(yield* state, "turning")
      yield* end
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(rounds, 11)
      assert.isUndefined(yield* state)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.scoped))

  it.effect("goes on after whatever ends a round, and says so once, and once that it works again", () =>
    Effect.gen(function*() {
      const ends: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        Effect.fail("declared"),
        Effect.die(new Error("thrown")),
        Effect.interrupt,
        Effect.failCause(Cause.die(undefined)),
        Effect.suspend((): never => {
          throw new Error("thrown outside")
        })
      ]
      let rounds = 0
      const { lines, state } = yield* running(({ idle }) =>
        Effect.suspend(() => ends[rounds++] ?? idle(Effect.sleep("1 second"))))
      assert.deepStrictEqual([rounds, yield* state], [1, "failing"])
      // After 0.1, 0.2, 0.4, 0.8 and 1.6 seconds.
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual([rounds, yield* state], [5, "failing"])
      yield* TestClock.adjust("2 seconds")
      assert.isAbove(rounds, 5)
      assert.strictEqual(yield* state, "turning")
      assert.deepStrictEqual(lines, [fails, works])
    }).pipe(Effect.scoped))

  it.effect("pauses for five seconds at the most, and tries on for ever", () =>
    Effect.gen(function*() {
      let rounds = 0
      const { lines } = yield* running(() => Effect.andThen(Effect.sync(() => rounds++), Effect.fail("away")))
      yield* TestClock.adjust("10 seconds")
      const before = rounds
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(rounds - before, 720)
      assert.deepStrictEqual(lines, [fails])
    }).pipe(Effect.scoped))

  it.effect("pauses for less where it is told so", () =>
    Effect.gen(function*() {
      let rounds = 0
      yield* running(() => Effect.andThen(Effect.sync(() => rounds++), Effect.fail("away")), {
        pause: Duration.millis(500)
      })
      yield* TestClock.adjust("10 seconds")
      const before = rounds
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(rounds - before, 120)
    }).pipe(Effect.scoped))

  it.effect("fails until a round has ended well, whatever it rests and waits meanwhile", () =>
    Effect.gen(function*() {
      const rest = Duration.minutes(1)
      let isAway = false
      const { lines, state } = yield* running(
        ({ begin, idle }) =>
          Effect.andThen(
            idle(Effect.sleep("1 second")),
            Effect.andThen(begin, Effect.suspend(() => isAway ? Effect.fail("away") : Effect.void))
          ),
        { rest, restsFirst: true }
      )
      isAway = true
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* state, "turning")
      yield* TestClock.adjust("1 second")
      // Rounds come at least every six seconds now, and not once a minute.
      for (let tenths = 0; tenths < 600; tenths++) {
        assert.strictEqual(yield* state, "failing")
        yield* TestClock.adjust("100 millis")
      }
      isAway = false
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(yield* state, "turning")
      assert.deepStrictEqual(lines, [fails, works])
    }).pipe(Effect.scoped))

  it.effect("fails no more when it has waited in peace for five seconds", () =>
    Effect.gen(function*() {
      let rounds = 0
      const { state } = yield* running(({ idle }) =>
        rounds++ === 0 ? Effect.fail("away") : idle(Effect.sleep("1 hour")))
      const seen: Array<string | undefined> = []
      // It tries on after 0.1 seconds, and waits from then on.
      for (const pause of ["100 millis", "5 seconds", "1 millis", "1 minute"] as const) {
        yield* TestClock.adjust(pause)
        seen.push(yield* state)
      }
      assert.deepStrictEqual(seen, ["failing", "failing", "turning", "turning"])
    }).pipe(Effect.scoped))

  it.effect("is stuck when a round takes too long, but not while there is nothing to do", () =>
    Effect.gen(function*() {
      const { state } = yield* running(({ begin, idle }) =>
        Effect.gen(function*() {
          yield* idle(Effect.sleep("10 minutes"))
          yield* Effect.sleep("20 seconds")
          // It goes on: what counts is how long since it last said so.
          yield* begin
          yield* Effect.sleep("20 seconds")
          yield* begin
          return yield* Effect.never
        }))
      const seen: Array<string | undefined> = []
      for (const pause of ["9 minutes", "1 minute", "39 seconds", "30 seconds", "2 seconds"] as const) {
        yield* TestClock.adjust(pause)
        seen.push(yield* state)
      }
      assert.deepStrictEqual(seen, ["turning", "turning", "turning", "turning", "stuck"])
    }).pipe(Effect.scoped))

  it.effect("says that it is stuck, once, and once that it is so no more", () =>
    Effect.gen(function*() {
      let rounds = 0
      const { lines } = yield* running(() => Effect.sleep(rounds++ === 0 ? "10 minutes" : "1 second"))
      yield* TestClock.adjust("29 seconds")
      assert.deepStrictEqual(lines, [])
      yield* TestClock.adjust("9 minutes")
      assert.deepStrictEqual(lines, ["A background loop is stuck: it is at one round for more than 30s"])
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(lines.slice(1), ["A background loop is not stuck any more"])
    }).pipe(Effect.scoped))
})
