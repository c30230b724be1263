/**
 * Runs one scenario from its beginning until everything has ended, with an auditor beside it.
 *
 * @since 0.1.0
 */
import { createHash } from "node:crypto"
import type { Violation } from "./Audit.ts"
import { Cluster, type Options } from "./Cluster.ts"
import type { Coverage } from "./Coverage.ts"
import * as calmRules from "./calmRules.ts"
import type { Scenario } from "./Scenario.ts"

/**
 * How a scenario went.
 *
 * @since 0.1.0
 */
export interface Outcome {
  readonly violations: ReadonlyArray<Violation>
  readonly coverage: Coverage
  readonly history: ReadonlyArray<string>
  /** Equal for equal histories, on every machine. */
  readonly fingerprint: string
  readonly steps: number
}

/** How many steps a scenario of one client's call may take at the most; usual are a few hundred. */
const stepsForEach = 40_000

/** How long after the calm everything has ended: the longest life of a task, on the slowest clock. */
const endMs = 400_000

/** How long it is between two looks after the calm. */
const lookMs = 15_000

/**
 * Runs a scenario. The same scenario and options give the same outcome.
 *
 * @since 0.1.0
 */
export const run = (scenario: Scenario, options: Options = {}): Outcome => {
  const { calmAtMs } = scenario
  const maxSteps = stepsForEach * (scenario.clients.flatMap(({ calls }) => calls).length + scenario.servers.length)
  const { auditor, clients, world, ...cluster } = new Cluster(scenario, options)
  world.run({ untilMs: calmAtMs, maxSteps })
  cluster.heal()
  let untilMs = calmAtMs
  while (!world.isStopped && world.steps < maxSteps && untilMs < calmAtMs + endMs) {
    untilMs += lookMs
    world.run({ untilMs, maxSteps })
    if (!world.isStopped && untilMs >= calmAtMs + calmRules.patienceMs) {
      cluster.look()
    }
    if (auditor.hasEverythingEnded && clients.active === 0) break
  }
  if (!world.isStopped && world.steps >= maxSteps) auditor.object("restless", `${world.steps} steps`)
  else if (!world.isStopped && !auditor.hasEverythingEnded) auditor.object("never-ended", `after ${world.now} ms`)
  else if (!world.isStopped && clients.active > 0) auditor.object("call-endless", `${clients.active} clients go on`)
  auditor.coverage.add("totals", "steps", world.steps)
  auditor.coverage.add("totals", "tasks", auditor.files.size)
  auditor.coverage.add("totals", "seconds of virtual time", Math.round(world.now / 1000))
  return {
    violations: auditor.violations,
    coverage: auditor.coverage,
    history: world.history,
    fingerprint: createHash("sha256").update(`${world.history.join("\n")}\n${world.steps}`).digest("hex").slice(0, 16),
    steps: world.steps
  }
}
