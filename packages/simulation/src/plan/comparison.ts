/**
 * A plan beside a real run of the same lives.
 *
 * @since 0.2.0
 */
import { type Ledger, type LevelName, type Method, methods, type Operation, operations, type Rate } from "./Ledger.ts"
import { lost, type Plan, run } from "./Plan.ts"
import type { Run } from "./RealRun.ts"
import * as report from "./report.ts"

/** By how much a rate may be off. */
const tolerance = 0.1

/** Fewer of a kind than this are shown, and not judged: one more or less would be too much of them. */
const fewest = 20

/** Predicted and measured, of one thing. */
interface Pair {
  readonly name: string
  readonly predicted: number
  readonly measured: number
  readonly digits: number
}

const offBy = ({ measured, predicted }: Pair): number =>
  measured === 0 ? (predicted === 0 ? 0 : 1) : (predicted - measured) / measured

const isClose = (pair: Pair): boolean => Math.abs(offBy(pair)) <= tolerance

const line = (pair: Pair): string => {
  const [predicted, measured] = [pair.predicted, pair.measured].map((value) => value.toFixed(pair.digits).padStart(12))
  const off = `${offBy(pair) >= 0 ? "+" : ""}${(100 * offBy(pair)).toFixed(1)}%`
  return `  ${pair.name.padEnd(34)}${predicted}${measured}${off.padStart(10)}`
}

const heads = (title: string): string =>
  `  ${title.padEnd(34)}${"predicted".padStart(12)}${"measured".padStart(12)}${"off by".padStart(10)}`

/**
 * What is going to be compared.
 *
 * @since 0.2.0
 */
export const heading = (plan: Plan): string =>
  [
    ...report.heading(plan).slice(0, 2),
    `${plan.fates.tasks} tasks arrive in ${plan.settings.countedMs / 1_000} s`
  ].join("\n")

/** What would have been predicted by someone who knows how long requests take on this machine. */
const informed = ({ settings }: Plan, { roundTripMs }: Run): number =>
  run({ ...settings, roundTripMs }).ledger.requestRate().mean

/**
 * Writes the comparison, and says whether every request rate was predicted within a tenth.
 *
 * @since 0.2.0
 */
export const print = (plan: Plan, real: Run): { readonly text: string; readonly isClose: boolean } => {
  const rates = (name: string, rate: (ledger: Ledger) => Rate): Pair & { readonly count: number } => {
    const [predicted, measured] = [rate(plan.ledger), rate(real.ledger)]
    return { name, predicted: predicted.mean, measured: measured.mean, digits: 3, count: measured.count }
  }
  const requests = [
    ...methods.map((method) => rates(method, (ledger) => ledger.requestRate([method as Method]))),
    rates("all", (ledger) => ledger.requestRate())
  ]
  const store = [
    ...operations.map((operation) => rates(operation, (ledger) => ledger.operationRate([operation as Operation]))),
    rates("all", (ledger) => ledger.operationRate())
  ]
  const levels = (["live", "parked", "stored"] as const).map((name: LevelName): Pair => ({
    name,
    predicted: plan.ledger.levelOf(name).mean,
    measured: real.ledger.levelOf(name).mean,
    digits: 2
  }))
  const { cancelled, completed, failed } = plan.fates
  const ending = (...names: ReadonlyArray<string>) =>
    names.reduce((total, name) => total + (real.endings.get(name) ?? 0), 0)
  const fate = (name: string, predicted: number, measured: number): Pair => ({ name, predicted, measured, digits: 0 })
  const judged = requests.filter(({ count }) => count >= fewest)
  return {
    isClose: judged.every(isClose),
    text: [
      heads("Requests per second"),
      ...requests.map(line),
      heads("Store operations per second"),
      ...store.map(line),
      heads("Tasks at a time"),
      ...levels.map(line),
      heads("What became of them"),
      line(fate("completed", completed, ending("completed"))),
      line(fate("failed, or lost to the ttl", failed + lost(plan.fates), ending("TaskFailed", "TaskExpired"))),
      line(fate("cancelled", cancelled, ending("cancelled", "TaskCancelled"))),
      ...(real.open === 0 ? [] : [`  ${real.open} were still open when the run ended`]),
      "",
      `A request took ${real.roundTripMs.toFixed(1)} ms on average, ` +
      `where ${plan.settings.roundTripMs} were planned for.`,
      "Requests per second, had one known that:",
      line({ ...rates("all", (ledger) => ledger.requestRate()), predicted: informed(plan, real) }),
      "",
      judged.every(isClose)
        ? `Every request rate of at least ${fewest} requests was predicted within ${100 * tolerance} percent.`
        : `NOT within ${100 * tolerance} percent: ${
          judged.filter((pair) => !isClose(pair)).map(({ name }) => name).join(", ")
        }`
    ].join("\n")
  }
}
