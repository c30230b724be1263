/**
 * What simulations have reached: states, transitions, faults, endings. Adds up over many of them.
 *
 * @since 0.1.0
 */
import * as TaskTransition from "@effect-mcp-tasks/core/TaskTransition"
import { faultNames } from "./Faults.ts"

/**
 * Counts by name.
 *
 * @since 0.1.0
 */
export type Counts = Map<string, number>

/**
 * What can be reached, in the order of the report.
 *
 * @since 0.1.0
 */
export const sections = ["states", "transitions", "refusals", "faults", "outcomes", "totals"] as const

/**
 * What can be reached.
 *
 * @since 0.1.0
 */
export type Section = (typeof sections)[number]

const phases: ReadonlyArray<string> = TaskTransition.phases

const outcomes = TaskTransition.phases.flatMap((phase) =>
  TaskTransition.commands.flatMap((tag) =>
    TaskTransition.table[phase][tag].map(({ to }) => ({ name: `${phase} ${tag} ${to}`, isChange: phases.includes(to) }))
  )
)

/**
 * Everything that there is to reach, where that is known beforehand: the transition table of the machine among it.
 *
 * @since 0.1.0
 */
export const expected: Readonly<Partial<Record<Section, ReadonlyArray<string>>>> = {
  states: phases,
  transitions: outcomes.filter(({ isChange }) => isChange).map(({ name }) => name),
  refusals: outcomes.filter(({ isChange }) => !isChange).map(({ name }) => name),
  faults: faultNames
}

/** What has to be reached all: of refusals, the table has such as a correct engine never asks for. */
const required = ["states", "transitions", "faults"] as const satisfies ReadonlyArray<Section>

/**
 * What simulations have reached.
 *
 * @since 0.1.0
 */
export class Coverage {
  readonly counts: Readonly<Record<Section, Counts>>

  constructor(counts?: Readonly<Record<Section, Counts>>) {
    this.counts = counts ?? {
      states: new Map(),
      transitions: new Map(),
      refusals: new Map(),
      faults: new Map(),
      outcomes: new Map(),
      totals: new Map()
    }
  }

  /** Counts one more, or so many more. */
  add(section: Section, name: string, count = 1): void {
    const counts = this.counts[section]
    counts.set(name, (counts.get(name) ?? 0) + count)
  }

  /** Adds what another one has counted. */
  merge(other: Coverage): void {
    for (const section of sections) {
      for (const [name, count] of other.counts[section]) this.add(section, name, count)
    }
  }

  /** Whether every phase, transition and kind of fault was reached. */
  get isComplete(): boolean {
    return required.every((section) => this.missing(section).length === 0)
  }

  /** What was expected and not reached. */
  missing(section: Section): ReadonlyArray<string> {
    return (expected[section] ?? []).filter((name) => !this.counts[section].has(name))
  }
}
