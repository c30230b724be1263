/** A client that is killed and resumed: no result is lost, and no two answers are ever given to one question. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Exit, Schema } from "effect"
import * as Crash from "./Crash.ts"

const finalAnswer = (world: Crash.World) =>
  ["first", "second"].map((key) => world.answers.get(key)?.[0]).join(" and ")

/** What must hold of the world, whatever died when. */
const checkAnswers = (world: Crash.World) => {
  for (const [key, sent] of world.sent) {
    assert.strictEqual(new Set(sent).size, 1, `two answers were sent for ${key}: ${sent.join(", ")}`)
  }
  assert.isAtMost(world.tasks(), 1, "the call was made twice")
}

/** Only a call whose answer never reached the store leaves nothing to resume. */
const isIdLost = (death: string | undefined) =>
  death === "after request" || death?.startsWith("before save {\"server\"") === true

describe("a client that dies once, at each of its moments", () => {
  it.effect("is resumed to the result, and asks nobody twice who has answered", () =>
    Effect.gen(function*() {
      let survived = false
      let repeated = 0
      let lost = 0
      for (let moments = 1; !survived; moments++) {
        const world = Crash.makeWorld()
        const store = yield* Crash.values
        const first = yield* Crash.run(world, store, moments)
        survived = first.death === undefined
        const known = yield* store.keys
        if (!survived) {
          const second = yield* Crash.run(world, store, Infinity)
          assert.isTrue(second.exit !== undefined && Exit.isSuccess(second.exit), `resumed after ${first.death}`)
        }
        checkAnswers(world)
        assert.isEmpty(yield* store.keys, "what is over is forgotten")
        if (world.results.length === 0) {
          assert.isTrue(isIdLost(first.death) && known.length === 0, `a result is lost after ${first.death}`)
          lost += 1
          continue
        }
        for (const value of world.results) assert.strictEqual(value, finalAnswer(world))
        for (const [key, times] of world.decided) {
          // A user who has answered is asked again only if the answer died before it was written down.
          const unsent = `"decision":"${key} 1"}},"isSent":false}]}`
          const isAnswerLost = first.death === `after ask ${key}` ||
            (first.death?.startsWith("before save") === true && first.death.endsWith(unsent))
          assert.strictEqual(times, isAnswerLost ? 2 : 1, `${key} was asked ${times} times after ${first.death}`)
          if (isAnswerLost) repeated += 1
        }
      }
      assert.deepStrictEqual({ repeated, lost }, { repeated: 4, lost: 2 })
    }))
})

describe("a client that dies again and again", () => {
  const lives = Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))))

  it.effect.prop("comes to the result in the end, with one answer for each question", [lives], ([deaths]) =>
    Effect.gen(function*() {
      const world = Crash.makeWorld()
      const store = yield* Crash.values
      let isIdLost = false
      for (const moments of deaths) {
        yield* Crash.run(world, store, moments)
        checkAnswers(world)
        isIdLost ||= world.tasks() === 1 && world.results.length === 0 && (yield* store.keys).length === 0
      }
      yield* Crash.run(world, store, Infinity)
      checkAnswers(world)
      if (isIdLost) return
      assert.isAtLeast(world.results.length, 1)
      for (const value of world.results) assert.strictEqual(value, finalAnswer(world))
    }), { arbitrary: { runs: 40 } })
})
