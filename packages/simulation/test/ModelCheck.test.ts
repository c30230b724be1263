/** All interleavings of a small configuration, counted; and what the model misses when a part of it is left out. */
import { assert, describe, it } from "@effect/vitest"
import { usual } from "../src/model/configurations.ts"
import { explore } from "../src/model/explore.ts"
import { type Configuration, faults, type Flaw, flaws } from "../src/model/Model.ts"

const small: Configuration = {
  script: ["ask"],
  recovery: "resume",
  cancels: true,
  faults,
  maxFaults: 1,
  isCoarse: true
}

/** What each part of the model keeps from happening. */
const missed: Readonly<Record<Flaw, RegExp>> = {
  "no compare-and-set": /a terminal state never changes/,
  "no fencing": /two writers/,
  "any attempt may follow": /takes a task from one who is alive/,
  "acknowledged first": /a cancel was acknowledged, and the task goes on/,
  "created in memory": /an acknowledged task is not there/,
  "journal ignored": /does a step again/,
  "signals trusted": /only the deadline can end it/,
  "nobody scans": /only the deadline can end it/,
  "death unnoticed": /only the deadline can end it/,
  "forgets itself": /takes a task from one who is alive/,
  "removed on sight": /a task is removed that has not ended/
}

/** These two break what makes the coarse model as good as the fine one. */
const isOfFine = (flaw: Flaw): boolean => flaw === "no compare-and-set" || flaw === "any attempt may follow"

describe("the model", () => {
  it("keeps every promise in every history without faults", () => {
    const { counterexample, ...counts } = explore({ ...small, isCoarse: false, maxFaults: 0 })
    assert.isUndefined(counterexample)
    assert.deepStrictEqual(counts, { states: 5_701, transitions: 21_372, depth: 20, records: 24 })
  })

  it("keeps every promise in every history with one fault", () => {
    const { counterexample, ...counts } = explore(small)
    assert.isUndefined(counterexample)
    assert.deepStrictEqual(counts, { states: 24_660, transitions: 94_169, depth: 18, records: 207 })
  })

  it("stores the same, whether or not others come between a read and its write", () => {
    for (const fault of faults) {
      const configuration = { ...small, faults: [fault], cancels: false }
      const fine = explore({ ...configuration, isCoarse: false })
      const coarse = explore(configuration)
      assert.deepStrictEqual([fine.counterexample, coarse.counterexample], [undefined, undefined])
      assert.deepStrictEqual([fault, coarse.records], [fault, fine.records])
      assert.isBelow(coarse.states, fine.states)
    }
  })

  for (const flaw of Object.keys(flaws) as ReadonlyArray<Flaw>) {
    it(`misses what is left out: ${flaw}`, () => {
      // A cancel would wake whoever has missed the signal of an answer.
      const cancels = flaw !== "signals trusted"
      const built = { ...small, script: ["step", "ask"], cancels } as const
      const { counterexample } = explore({ ...built, isCoarse: !isOfFine(flaw), flaw })
      assert.match(counterexample?.breach ?? "nothing is broken", missed[flaw])
      assert.isAbove(counterexample?.history.length ?? 0, 0)
    })
  }

  it("is checked with every fault", () => {
    for (const { configuration } of usual.slice(1)) assert.deepStrictEqual(configuration.faults, faults)
  })
})
