/**
 * Verdicts as text for people: a table, then every check that did not succeed, by name and with its message.
 *
 * @since 0.1.0
 */
import type { NotRun } from "./Scenarios.ts"
import type { Finding, Verdict } from "./Verdict.ts"

const longestMessage = 600

const columns = ["passed", "failed", "skipped", "warnings"] as const

const cells = ({ counts }: Verdict): ReadonlyArray<number> => [
  counts.SUCCESS,
  counts.FAILURE,
  counts.SKIPPED,
  counts.WARNING
]

const line = (name: string, values: ReadonlyArray<string | number>, width: number): string =>
  `${name.padEnd(width)}${values.map((value) => String(value).padStart(10)).join("")}`

const oneLine = (message: string): string => {
  const flat = message.replaceAll(/\s*\n\s*/g, " ")
  return flat.length > longestMessage ? `${flat.slice(0, longestMessage)} ...` : flat
}

const describe = ({ check, expected }: Finding): ReadonlyArray<string> => [
  `  ${check.status} ${check.id}`,
  `    ${oneLine(check.errorMessage ?? check.description)}`,
  ...(expected === undefined ? [] : [`    expected: ${expected.why}`])
]

/**
 * One line for each scenario, with what its checks came to.
 *
 * @category rendering
 * @since 0.1.0
 */
export const table = (verdicts: ReadonlyArray<Verdict>): string => {
  const width = Math.max(...verdicts.map(({ scenario }) => scenario.length), "scenario".length) + 2
  return [
    line("scenario", columns, width),
    ...verdicts.map((verdict) =>
      line(verdict.scenario, cells(verdict), width) + (verdict.faults.length === 0 ? "" : "  FAULT")
    )
  ].join("\n")
}

/**
 * Every check that did not succeed, and everything that is not as expected.
 *
 * @category rendering
 * @since 0.1.0
 */
export const details = (verdicts: ReadonlyArray<Verdict>): string =>
  verdicts
    .filter(({ faults, findings }) => faults.length + findings.length > 0)
    .flatMap(({ faults, findings, scenario }) => [
      scenario,
      ...findings.flatMap(describe),
      ...faults.map((fault) => `  FAULT ${oneLine(fault)}`)
    ])
    .join("\n")

/**
 * What does not run, with the reason.
 *
 * @category rendering
 * @since 0.1.0
 */
export const omissions = (notRun: ReadonlyArray<NotRun>): string =>
  notRun.flatMap(({ scenarios, why }) => [`Not run, ${why}:`, ...scenarios.map((name) => `  ${name}`)]).join("\n")

/**
 * All of it in one line.
 *
 * @category rendering
 * @since 0.1.0
 */
export const summary = (verdicts: ReadonlyArray<Verdict>): string => {
  const sums = verdicts.map(cells).reduce((left, right) => left.map((value, index) => value + (right[index] ?? 0)))
  const faults = verdicts.reduce((sum, verdict) => sum + verdict.faults.length, 0)
  const counts = columns.map((column, index) => `${sums[index]} ${column}`).join(", ")
  return `${faults === 0 ? "OK" : "FAILED"}: ${verdicts.length} scenario runs, ${counts}; ` +
    (faults === 0 ? "all as expected" : `${faults} not as expected`)
}
