import { assert, describe, it } from "@effect/vitest"
import * as Report from "../src/suite/Report.ts"
import * as Scenarios from "../src/suite/Scenarios.ts"
import * as Verdict from "../src/suite/Verdict.ts"

const check = (id: string, status: Verdict.Check["status"]): Verdict.Check => ({
  id,
  name: id,
  description: `What ${id} is about`,
  status,
  ...(status === "FAILURE" ? { errorMessage: "said why" } : {})
})

const run = (...checks: ReadonlyArray<Verdict.Check>): Verdict.ScenarioRun => ({
  scenario: "s",
  checks,
  output: "boom"
})

const expected: Scenarios.Expectation = { scenario: "s", check: "a", status: "FAILURE", why: "not there yet" }

describe("Verdict", () => {
  it("is good when all succeed", () => {
    const verdict = Verdict.judge(run(check("a", "SUCCESS"), check("b", "INFO")), [])
    assert.deepStrictEqual(verdict.faults, [])
    assert.deepStrictEqual(verdict.counts, { SUCCESS: 1, FAILURE: 0, WARNING: 0, SKIPPED: 0, INFO: 1 })
    assert.match(Report.summary([verdict]), /^OK: 1 scenario runs, 1 passed, 0 failed/)
  })

  it("is good when a failure was expected, and names it with its message and reason", () => {
    const verdict = Verdict.judge(run(check("a", "FAILURE")), [expected])
    assert.deepStrictEqual(verdict.faults, [])
    assert.match(Report.details([verdict]), /FAILURE a\n {4}said why\n {4}expected: not there yet/)
  })

  it("faults whatever fails, is skipped or warns without being expected to", () => {
    for (const status of ["FAILURE", "SKIPPED", "WARNING"] as const) {
      const verdict = Verdict.judge(run(check("b", status)), [])
      assert.deepStrictEqual(verdict.faults, [`b: unexpected ${status}`])
      assert.match(Report.summary([verdict]), /^FAILED: .*; 1 not as expected$/)
    }
  })

  it("faults an expected failure that succeeds, or is skipped", () => {
    assert.lengthOf(Verdict.judge(run(check("a", "SUCCESS")), [expected]).faults, 1)
    assert.lengthOf(Verdict.judge(run(check("a", "SKIPPED")), [expected]).faults, 2)
  })

  it("faults a scenario without checks, with what was printed", () => {
    assert.deepStrictEqual(Verdict.judge(run(), []).faults, ["no check ran: boom"])
  })

  it("leaves the expectations of other scenarios alone", () => {
    assert.deepStrictEqual(Verdict.judge(run(check("b", "SUCCESS")), [{ ...expected, scenario: "t" }]).faults, [])
  })
})

describe("the scenarios", () => {
  const ran = [...Scenarios.tasks, ...Scenarios.tools].map(({ name }) => name)
  const omitted = Scenarios.notRun.flatMap(({ scenarios }) => scenarios)

  it("are the ten of the extension, none with a version", () => {
    assert.lengthOf(Scenarios.tasks, 10)
    assert.isTrue(Scenarios.tasks.every(({ specVersion }) => specVersion === undefined))
  })

  it("run or are said not to, never both", () => {
    const names = [...ran, ...omitted]
    assert.strictEqual(new Set(names).size, names.length)
  })

  it("are what the expectations are about", () => {
    for (const { scenario } of Scenarios.expectations) assert.include(ran, scenario)
  })
})
