/**
 * One scenario with its history, as text; made smaller first when it breaks a rule.
 *
 * @since 0.1.0
 */
import { drawScenario } from "./drawScenario.ts"
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
export const showScenario = (scenario: Scenario): Shown => {
  const first = Simulation.run(scenario)
  const isBroken = first.violations.length > 0
  const smallest = isBroken
    ? shrink(scenario, (smaller) => Simulation.run(smaller).violations[0]?.rule)
    : scenario
  const { history, violations } = isBroken ? Simulation.run(smallest) : first
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
export const showSeed = (seed: number, size: number): Shown => showScenario(drawScenario(seed, size))
