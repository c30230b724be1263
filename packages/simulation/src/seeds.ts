/**
 * Runs the scenarios of many seeds, one after the other, and adds up what they reached.
 *
 * @since 0.1.0
 */
import type { RuleName } from "./Audit.ts"
import { type Counts, Coverage, type Section } from "./Coverage.ts"
import { drawScenario } from "./drawScenario.ts"
import * as Simulation from "./Simulation.ts"

/**
 * Which seeds to run, and how. It can be sent to another thread.
 *
 * @since 0.1.0
 */
export interface Job {
  readonly from: number
  readonly count: number
  /** Every how many seeds one is run: what several threads share. */
  readonly stride: number
  /** How many times as large and long each world is; once unless given. */
  readonly size?: number | undefined
  /** Whether to end with the first seed that fails. */
  readonly isStoppedByFailure: boolean
  /** The rules of the auditor; all unless given. */
  readonly rules?: ReadonlyArray<RuleName> | undefined
  /** What must stand in what the auditor has to say; anything unless given. */
  readonly about?: string | undefined
}

/**
 * A seed whose history breaks a rule.
 *
 * @since 0.1.0
 */
export interface Failure {
  readonly seed: number
  readonly rule: RuleName
  readonly detail: string
}

/**
 * What came of many seeds. It can be sent to another thread.
 *
 * @since 0.1.0
 */
export interface Report {
  readonly ran: number
  readonly failures: ReadonlyArray<Failure>
  readonly counts: Readonly<Record<Section, Counts>>
  /** Equal for equal histories of equal seeds, in whatever order and however many threads. */
  readonly fingerprint: string
}

const bits = 64n

/** Adds fingerprints so that their order does not matter. */
const add = (self: string, that: string): string =>
  BigInt.asUintN(Number(bits), BigInt(`0x${self}`) + BigInt(`0x${that}`)).toString(16).padStart(16, "0")

/**
 * Runs seeds.
 *
 * @since 0.1.0
 */
export const run = (job: Job): Report => {
  const coverage = new Coverage()
  const failures: Array<Failure> = []
  const rules = job.rules === undefined ? undefined : new Set(job.rules)
  let fingerprint = "0"
  let ran = 0
  for (let seed = job.from; seed < job.from + job.count; seed += job.stride) {
    const outcome = Simulation.run(drawScenario(seed, job.size), { rules, about: job.about })
    ran++
    coverage.merge(outcome.coverage)
    fingerprint = add(fingerprint, outcome.fingerprint)
    const [violation] = outcome.violations
    if (violation !== undefined) failures.push({ seed, ...violation })
    if (violation !== undefined && job.isStoppedByFailure) break
  }
  return { ran, failures, counts: coverage.counts, fingerprint }
}

/**
 * Adds up what several threads report.
 *
 * @since 0.1.0
 */
export const sum = (reports: ReadonlyArray<Report>): Report => {
  const coverage = new Coverage()
  for (const { counts } of reports) coverage.merge(new Coverage(counts))
  return {
    ran: reports.reduce((total, { ran }) => total + ran, 0),
    failures: reports.flatMap(({ failures }) => failures).toSorted((self, that) => self.seed - that.seed),
    counts: coverage.counts,
    fingerprint: reports.reduce((total, report) => add(total, report.fingerprint), "0")
  }
}
