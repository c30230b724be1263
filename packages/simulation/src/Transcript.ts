/**
 * Transcripts: scenarios with a name, an explanation, and the history that they have.
 *
 * A transcript is a Markdown file. It says in words what is worth knowing, then holds the scenario in a block marked
 * `scenario` and its history in a block marked `trace`. The history is compared line by line: whoever changes how the
 * system behaves sees here what that means, and renews it by `npm run transcripts -- --rewrite`.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as ScenarioText from "./ScenarioText.ts"
import * as Simulation from "./Simulation.ts"

const Scenario = /```scenario\n([\s\S]*?)```/
const Trace = /(```trace\n)([\s\S]*?)(```)/

/**
 * What came of running a transcript.
 *
 * @since 0.1.0
 */
export interface Performance {
  readonly expected: string
  readonly actual: string
  /** The file with the history as it is now. */
  readonly renewed: string
  /** What rules were broken. */
  readonly violations: ReadonlyArray<string>
}

/**
 * Runs the scenario of a transcript, or says why it cannot.
 *
 * @since 0.1.0
 */
export const perform = (text: string): Result.Result<Performance, string> =>
  Result.gen(function*() {
    const scenario = Scenario.exec(text)?.[1]
    const expected = Trace.exec(text)?.[2]
    if (scenario === undefined || expected === undefined) {
      return yield* Result.fail("it needs a block marked scenario, and after it one marked trace")
    }
    const outcome = Simulation.run(yield* ScenarioText.parse(scenario), { isTold: true })
    const violations = outcome.violations.map(({ detail, rule }) => `${rule}: ${detail}`)
    const actual = outcome.history.map((line) => `${line.trimEnd()}\n`).join("")
    const renewed = text.replace(Trace, (_, open, __, end) => `${open}${actual}${end}`)
    return { expected, actual, violations, renewed }
  })

/** For every pair of ends, how many lines they have in common. */
const common = (before: ReadonlyArray<string>, after: ReadonlyArray<string>): ReadonlyArray<Int32Array> => {
  const table = Array.from({ length: before.length + 1 }, () => new Int32Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const [here, below] = [table[i] as Int32Array, table[i + 1] as Int32Array]
      here[j] = before[i] === after[j]
        ? (below[j + 1] ?? 0) + 1
        : Math.max(below[j] ?? 0, here[j + 1] ?? 0)
    }
  }
  return table
}

/**
 * The lines of two texts: those that only the first one has begin with `-`, those that only the second one has with
 * `+`, and those that are far from both are left out.
 *
 * @since 0.1.0
 */
export const diff = (expected: string, actual: string): string => {
  const [before, after] = [expected.split("\n"), actual.split("\n")]
  const table = common(before, after)
  const lines: Array<string> = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && before[i] === after[j]) {
      lines.push(`  ${before[i++]}`)
      j++
    } else if (j >= after.length || (i < before.length && (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0))) {
      lines.push(`- ${before[i++]}`)
    } else {
      lines.push(`+ ${after[j++]}`)
    }
  }
  const isNear = (index: number) => lines.slice(Math.max(0, index - 2), index + 3).some((line) => !line.startsWith(" "))
  return lines.filter((_, index) => isNear(index)).join("\n")
}
