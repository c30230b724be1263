/** Runs single cases of a suite on something that is broken, to see that they notice. */
import type { Suite } from "@effect-mcp-tasks/testing"
import { assert } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** Runs an effect to its end, while time goes on by so much whenever nothing else happens. */
const whileTimePasses = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>, step: number) {
  const fiber = yield* Effect.forkChild(effect)
  while (fiber.pollUnsafe() === undefined) {
    for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
    yield* TestClock.adjust(step)
  }
  return yield* Fiber.await(fiber)
})

/** Cases by their titles; dies when there is none of a title. */
export const named = <P, Capability extends string>(
  cases: ReadonlyArray<Suite.Case<P, Capability>>,
  titles: ReadonlyArray<string>
): ReadonlyArray<Suite.Case<P, Capability>> =>
  titles.map((title) => {
    const found = cases.find((each) => each.title === title)
    assert.isDefined(found, title)
    return found
  })

/** Which of the cases fail at a place. `step` is by how many milliseconds a case that waits lets time go on. */
export const failing = Effect.fnUntraced(function*<P, Capability extends string>(
  cases: ReadonlyArray<Suite.Case<P, Capability>>,
  place: P,
  step = 0
) {
  const titles: Array<string> = []
  for (const each of cases) {
    const run = each.run(place)
    const exit = yield* step === 0 ? Effect.exit(run) : whileTimePasses(run, step)
    if (Exit.isFailure(exit)) titles.push(each.title)
  }
  return titles
})
