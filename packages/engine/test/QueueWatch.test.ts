/** What is said of a queue whose failures are heard in its log. */
import { Health } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as queueWatch from "../src/internal/queueWatch.ts"
import { settle } from "./TestTools.ts"

/** A queue that looks each second, says each failure in its log, and knows after five seconds that nobody answers. */
const watched = Effect.gen(function*() {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(Array.isArray(message) ? message[0] : message)))
  const database = { isAway: false }
  const look: Effect.Effect<void, string> = Effect.suspend(() =>
    database.isAway ? Effect.delay(Effect.fail("no answer"), "5 seconds") : Effect.void
  )
  const health = Context.get(yield* Layer.build(Layer.fresh(Health.layer)), Health.Health)
  const looking = look.pipe(
    Effect.catch((error) => Effect.logWarning(error)),
    Effect.andThen(Effect.sleep("1500 millis"))
  )
  const queue = Effect.forever(looking)
  yield* Effect.flatMap(queueWatch.make(look), (hearing) => Effect.forkScoped(hearing(() => queue))).pipe(
    Effect.provideService(Health.Health, health),
    Effect.provide(Logger.layer([logger]))
  )
  yield* settle
  const state = Effect.map(Effect.andThen(settle, health.ready), ({ loops }) => loops["queue"])
  return { database, lines, state }
})

describe("a queue whose database stands still", () => {
  it.effect("fails until it is answered again, and says each once", () =>
    Effect.gen(function*() {
      const { database, lines, state } = yield* watched
      database.isAway = true
      for (let seconds = 0; seconds < 20; seconds++) yield* TestClock.adjust("1 second")
      const seen = new Set<unknown>()
      for (let halves = 0; halves < 120; halves++) {
        yield* TestClock.adjust("500 millis")
        seen.add(yield* state)
      }
      assert.deepStrictEqual([...seen], ["failing"])
      database.isAway = false
      for (let seconds = 0; seconds < 20; seconds++) yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* state, "turning")
      assert.deepStrictEqual(lines, ["A background loop fails; it tries on", "A background loop works again"])
    }).pipe(Effect.scoped))
})
