/**
 * The configurations that `npm run modelcheck` explores, by name.
 *
 * @since 0.1.0
 */
import { type Configuration, faults } from "./Model.ts"

const all: Configuration = {
  script: ["ask"],
  recovery: "resume",
  cancels: true,
  faults,
  maxFaults: 1,
  isCoarse: false
}

/**
 * A configuration with what it is for.
 *
 * @since 0.1.0
 */
export interface Named {
  readonly name: string
  readonly configuration: Configuration
}

/**
 * What is explored in a minute.
 *
 * @since 0.1.0
 */
export const usual: ReadonlyArray<Named> = [
  {
    name: "nothing goes wrong, the handler does a step, reports and asks",
    configuration: { ...all, script: ["step", "report", "ask"], maxFaults: 0 }
  },
  { name: "one fault, everybody may come between a read and its write", configuration: all },
  { name: "two faults", configuration: { ...all, isCoarse: true, maxFaults: 2 } },
  { name: "one fault, over a journal", configuration: { ...all, isCoarse: true, script: ["step", "report", "ask"] } },
  {
    name: "two faults, the tool must not be repeated",
    configuration: { ...all, isCoarse: true, recovery: "fail", cancels: false, maxFaults: 2 }
  }
]

/**
 * What takes long: every fault in one history where nobody asks, and four of them where the handler does.
 *
 * @since 0.1.0
 */
export const deep: ReadonlyArray<Named> = [
  {
    name: "all faults, nobody asks or cancels",
    configuration: { ...all, isCoarse: true, script: [], cancels: false, maxFaults: faults.length }
  },
  {
    // All of them lead to more states than a `Map` has room for.
    name: "four faults, the handler asks",
    configuration: { ...all, isCoarse: true, cancels: false, maxFaults: 4 }
  }
]
