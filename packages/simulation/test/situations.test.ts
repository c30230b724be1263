/** Every situation comes to the transition that it is for, in some of the worlds that have nothing else in them. */
import { assert, describe, it } from "@effect/vitest"
import * as Coverage from "../src/Coverage.ts"
import { Dice } from "../src/Dice.ts"
import { runnerNames } from "../src/runners.ts"
import type { Scenario } from "../src/Scenario.ts"
import * as Simulation from "../src/Simulation.ts"
import * as situations from "../src/situations.ts"

const worlds = Array.from({ length: 40 }, (_, index) => index + 1)

const only = (seed: number, aim: situations.Aim): Scenario => {
  const dice = new Dice(seed)
  const servers = Array.from({ length: dice.between(1, 3) }, () => ({ aheadMs: 0, pace: 1 }))
  const calmAtMs = 60_000
  const { call, troubles } = situations.draw(dice, aim, { calmAtMs, servers: servers.length })
  return {
    seed,
    runner: dice.pick(runnerNames),
    servers,
    clients: [{ owner: "zoe", snoops: false, calls: [call] }],
    troubles,
    rates: {},
    calmAtMs,
    maxTurn: 64,
    isSteady: false
  }
}

describe("a rare situation", () => {
  for (const aim of situations.aims) {
    it(`leads to: ${aim}`, () => {
      assert.include(Coverage.expected.transitions ?? [], aim)
      const reached = worlds.filter((seed) => {
        const { coverage, violations } = Simulation.run(only(seed, aim))
        assert.deepStrictEqual(violations, [], `seed ${seed}`)
        return coverage.counts.transitions.has(aim)
      })
      assert.isAtLeast(reached.length, 2)
    })
  }
})
