/** Every rule of the auditor, and every invariant of the machine, has a broken line that it finds. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
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

  it("breaks lines that are there, each once", () => {
    const counts = sabotages.map(({ file, name, was }) => {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
      return [name, source.split(was).length - 1] as const
    })
    assert.deepStrictEqual(counts.filter(([, count]) => count !== 1), [])
  })

  for (const { name, rule } of sabotages) {
    it.live(`finds within 1,000 seeds: ${name} (${rule})`, () =>
      Effect.gen(function*() {
        const job = { from: 1, count: 1_000, stride: 1, isStoppedByFailure: true } as const
        const { failures } = yield* threads.run({ sabotage: name, job: { ...job, rules: [rule] } })
        assert.deepStrictEqual(failures.map((failure) => failure.rule), [rule])
      }))
  }
})
