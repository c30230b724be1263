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

  it("has a sabotage for every line of the invariants", () => {
    const source = readFileSync(new URL("../../testing/src/TaskInvariants.ts", import.meta.url), "utf8")
    const lines = Array.from(source.matchAll(/"(\d: [^"]+)"/g), ([, line = ""]) => line)
    assert.isAtLeast(lines.length, 30)
    assert.deepStrictEqual(
      [...new Set(sabotages.flatMap(({ breach }) => breach ?? []))].toSorted(),
      [...new Set(lines)].toSorted()
    )
    assert.strictEqual(new Set(lines).size, lines.length)
  })

  it("breaks lines that are there, each once", () => {
    const counts = sabotages.map(({ file, name, was }) => {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
      return [name, source.split(was).length - 1] as const
    })
    assert.deepStrictEqual(counts.filter(([, count]) => count !== 1), [])
  })

  for (const { breach, name, rule } of sabotages) {
    it.live(`finds within 1,000 seeds: ${name} (${breach ?? rule})`, () =>
      Effect.gen(function*() {
        const job = { from: 1, count: 1_000, stride: 1, isStoppedByFailure: true } as const
        const { failures } = yield* threads.run({ sabotage: name, job: { ...job, rules: [rule], about: breach } })
        assert.deepStrictEqual(failures.map((failure) => failure.rule), [rule])
        assert.include(failures[0]?.detail, breach ?? "")
      }))
  }
})
