/** Every rule of the auditor, and every invariant of the machine, has a broken line that it finds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rules } from "../src/Audit.ts"
import { sabotages } from "../src/sabotages.ts"
import * as threads from "../src/threads.ts"

describe("the auditor", () => {
  it("has a sabotage for every rule", () => {
    assert.deepStrictEqual(
      [...new Set(sabotages.map(({ rule }) => rule))].toSorted(),
      Object.keys(rules).toSorted()
    )
  })

  for (const { name, rule } of sabotages) {
    it.live(`finds within 1,000 seeds: ${name} (${rule})`, () =>
      Effect.gen(function*() {
        const job = { from: 1, count: 1_000, stride: 1, isStoppedByFailure: true } as const
        const { failures } = yield* threads.run({ sabotage: name, job: { ...job, rules: [rule] } })
        assert.deepStrictEqual(failures.map((failure) => failure.rule), [rule])
      }), 300_000)
  }
})
