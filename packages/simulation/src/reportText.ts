/**
 * What a run of many seeds has reached, as text.
 *
 * @since 0.1.0
 */
import { type Counts, Coverage, expected, type Section } from "./Coverage.ts"
import type { Failure, Report } from "./seeds.ts"

const wrap = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of words) {
    if (line.length + word.length > 110) {
      lines.push(line)
      line = ""
    }
    line += line === "" ? `    ${word}` : `, ${word}`
  }
  return line === "" ? lines : [...lines, line]
}

const listed = (counts: Counts): ReadonlyArray<string> =>
  wrap([...counts].toSorted(([self], [that]) => self < that ? -1 : 1).map(([name, count]) => `${name} ${count}`))

/** What was reached of what there is to reach, and what was not. */
const section = (coverage: Coverage, name: Section, what: string): ReadonlyArray<string> => {
  const missing = coverage.missing(name)
  const all = expected[name]?.length ?? 0
  return [
    `  ${what}: ${all - missing.length} of ${all}`,
    ...missing.length === 0 ? [] : [`    not reached: ${missing.join(", ")}`]
  ]
}

/**
 * How a report is written, and what was run besides its seeds.
 *
 * @since 0.2.0
 */
export interface Options {
  /** Whether it names what was reached how often. */
  readonly isLong: boolean
  readonly size: number
  readonly sabotage: string | undefined
}

/** What of a failure is shown: a defect brings the whole trace of its cause. */
const shownLength = 1_000

const failed = ({ sabotage, size }: Options) => ({ detail, rule, seed }: Failure): ReadonlyArray<string> => {
  const again = [
    `npm run simulate -- --seed ${seed}`,
    ...size === 1 ? [] : [`--size ${size}`],
    ...sabotage === undefined ? [] : [`--sabotage "${sabotage}"`]
  ]
  return [
    `  seed ${seed}: ${rule}: ${detail.slice(0, shownLength).replaceAll("\n", "\n    ")}`,
    `    again, smaller, with its history: ${again.join(" ")}`
  ]
}

/**
 * Writes a report.
 *
 * @since 0.1.0
 */
export const print = (report: Report, options: Options): string => {
  const { isLong } = options
  const coverage = new Coverage(report.counts)
  const { counts } = coverage
  return [
    `${report.ran} seeds, ${report.failures.length} with violations, fingerprint ${report.fingerprint}`,
    ...listed(counts.totals),
    ...section(coverage, "states", "phases of a task"),
    ...isLong ? listed(counts.states) : [],
    ...section(coverage, "transitions", "transitions of the machine"),
    ...isLong ? listed(counts.transitions) : [],
    ...section(coverage, "faults", "kinds of faults"),
    ...isLong ? listed(counts.faults) : [],
    `  refusals and commands without effect: ${counts.refusals.size} of ${expected.refusals?.length ?? 0} in the table`,
    ...isLong ? listed(counts.refusals) : [],
    "  how calls went on for their clients:",
    ...listed(counts.outcomes),
    ...report.failures.slice(0, 10).flatMap(failed(options))
  ].join("\n")
}
