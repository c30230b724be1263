/**
 * Holds what the official suite said against what was expected of it.
 *
 * A run is good only if every check succeeded or failed, was skipped or warned exactly as expected. An expected
 * failure that succeeds is a fault like an unexpected one that fails, and so is a scenario without any check: the
 * suite's own exit codes notice neither.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Expectation } from "./Scenarios.ts"

/**
 * A check as `checks.json` has it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Check = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  status: Schema.Literals(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: Schema.optionalKey(Schema.String)
})

/**
 * A check as `checks.json` has it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Check extends Schema.Schema.Type<typeof Check> {}

/**
 * What the suite said of one scenario.
 *
 * @category models
 * @since 0.1.0
 */
export interface ScenarioRun {
  readonly scenario: string
  readonly checks: ReadonlyArray<Check>
  /** What the suite printed, to explain a scenario without checks. */
  readonly output: string
}

/**
 * A check that did not succeed, with the expectation that covers it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Finding {
  readonly check: Check
  readonly expected: Expectation | undefined
}

/**
 * What is to be thought of one scenario's run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verdict {
  readonly scenario: string
  readonly counts: Readonly<Record<Check["status"], number>>
  readonly findings: ReadonlyArray<Finding>
  /** In words; none when all was as expected. */
  readonly faults: ReadonlyArray<string>
}

const isFinding = (check: Check): boolean => check.status !== "SUCCESS" && check.status !== "INFO"

/**
 * Judges one scenario's run by the expectations that are about it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const judge = (run: ScenarioRun, expectations: ReadonlyArray<Expectation>): Verdict => {
  const own = expectations.filter(({ scenario }) => scenario === run.scenario)
  const covers = (check: Check) => (expected: Expectation) =>
    expected.check === check.id && expected.status === check.status
  const counts = { SUCCESS: 0, FAILURE: 0, WARNING: 0, SKIPPED: 0, INFO: 0 }
  for (const { status } of run.checks) counts[status]++
  const findings = run.checks
    .filter(isFinding)
    .map((check): Finding => ({ check, expected: own.find(covers(check)) }))
  const faults = [
    ...(run.checks.length === 0 ? [`no check ran: ${run.output.trim().slice(-500)}`] : []),
    ...findings
      .filter(({ expected }) => expected === undefined)
      .map(({ check }) => `${check.id}: unexpected ${check.status}`),
    ...own
      .filter((expected) => !run.checks.some((check) => covers(check)(expected)))
      .map(({ check, status }) => `${check}: ${status} was expected and did not come; remove the expectation`)
  ]
  return { scenario: run.scenario, counts, findings, faults }
}
