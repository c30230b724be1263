/** Every situation comes to the transition that it is for, in some of the worlds that have nothing else in them. */
import { assert, describe, it } from "@effect/vitest"
import * as Coverage from "../src/Coverage.ts"
import { Dice } from "../src/Dice.ts"
import { runnerNames } from "../src/runners.ts"
import type { Scenario } from "../src/Scenario.ts"
import * as Simulation from "../src/Simulation.ts"
import * as situations from "../src/situations.ts"

const worlds = Array.from({ length: 40 }, (_, index) => index + 1)

type Draw = (dice: Dice, world: { readonly calmAtMs: number; readonly servers: number }) => situations.Situation

/** What each of many worlds comes to that has nothing else in it. */
const reachedBy = (drawn: typeof situations.drawOfClient): ReadonlyArray<ReadonlyArray<string>> =>
  worlds.map((seed) => {
    const { coverage: { counts }, violations } = Simulation.run(only(seed, (dice, world) => drawn(dice, 0, world)))
    assert.deepStrictEqual(violations, [], `seed ${seed}`)
    return [...counts.faults.keys(), ...counts.outcomes.keys()]
  })

const only = (seed: number, draw: Draw): Scenario => {
  const dice = new Dice(seed)
  const servers = Array.from({ length: dice.between(1, 3) }, () => ({ aheadMs: 0, pace: 1 }))
  const calmAtMs = 60_000
  const { call, library, troubles } = draw(dice, { calmAtMs, servers: servers.length })
  return {
    seed,
    runner: dice.pick(runnerNames),
    servers,
    clients: [{ owner: "zoe", snoops: false, library, calls: [call] }],
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
        const { coverage, violations } = Simulation.run(only(seed, (dice, world) => situations.draw(dice, aim, world)))
        assert.deepStrictEqual(violations, [], `seed ${seed}`)
        return coverage.counts.transitions.has(aim)
      })
      assert.isAtLeast(reached.length, 2)
    })
  }

  it("lets a client answer, again after its death, bear that no server takes it, and leave before it has an id", () => {
    const reached = reachedBy(situations.drawOfClient)
    for (const what of ["client-crash", "client-clock-jump", "user-gives-up", "library: Value"]) {
      assert.isAtLeast(reached.filter((names) => names.includes(what)).length, 5, what)
    }
  })

  it("lets a client call without the tasks extension, be refused where it cannot, and bear that its polls fail", () => {
    const reached = reachedBy(situations.drawOfDeclaration)
    for (const what of ["call answered directly", "call refused", "saw failed", "library: Value"]) {
      assert.isAtLeast(reached.filter((names) => names.includes(what)).length, 2, what)
    }
  })
})
