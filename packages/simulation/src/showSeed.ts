/**
 * One scenario with its history, as text; made smaller first when it breaks a rule.
 *
 * @since 0.1.0
 */
import { drawScenario } from "./drawScenario.ts"
import { type RunnerName, runners } from "./runners.ts"
import type { Scenario } from "./Scenario.ts"
import * as ScenarioText from "./ScenarioText.ts"
import { shrink } from "./shrink.ts"
import * as Simulation from "./Simulation.ts"

/**
 * What there is to show of a scenario.
 *
 * @since 0.1.0
 */
export interface Shown {
  readonly text: string
  readonly isBroken: boolean
}

/**
 * Runs a scenario, and shows it.
 *
 * @since 0.1.0
 */
export const showScenario = (scenario: Scenario, runner: RunnerName): Shown => {
  const options = { runner: runners[runner] }
  const first = Simulation.run(scenario, options)
  const isBroken = first.violations.length > 0
  const smallest = isBroken
    ? shrink(scenario, (smaller) => Simulation.run(smaller, options).violations[0]?.rule)
    : scenario
  const { history, violations } = isBroken ? Simulation.run(smallest, options) : first
  const text = [
    ScenarioText.print(smallest),
    "",
    ...history,
    "",
    ...violations.map(({ detail, rule }) => `${rule}: ${detail}`),
    `${first.steps} steps, ${first.violations.length} violations, fingerprint ${first.fingerprint}`
  ].join("\n")
  return { text, isBroken }
}

/**
 * Runs the scenario of a seed, and shows it.
 *
 * @since 0.1.0
 */
export const showSeed = (seed: number, size: number, runner: RunnerName): Shown =>
  showScenario(drawScenario(seed, size), runner)
