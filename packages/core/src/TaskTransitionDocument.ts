/**
 * The transition table as text for people: a diagram and a table.
 *
 * Pure functions of `TaskTransition.table`, so that a document that is made again says what the machine does.
 *
 * @since 0.1.0
 */
import type { Outcome, Phase, Row } from "./TaskTransition.ts"
import { commands, phases, table } from "./TaskTransition.ts"

const terminal: ReadonlyArray<string> = ["completed", "failed", "cancelled"]

const isPhase = (to: Outcome["to"]): to is Phase => (phases as ReadonlyArray<string>).includes(to)

const movesOf = (from: Phase): ReadonlyArray<readonly [Phase, string]> =>
  phases.flatMap((to) => {
    const named = commands.filter((command) => to !== from && table[from][command].some((outcome) => outcome.to === to))
    return named.length === 0 ? [] : [[to, named.join(", ")] as const]
  })

/**
 * Draws the phases as a mermaid state diagram: an edge for every pair of phases, with the commands that lead along it.
 *
 * @category rendering
 * @since 0.1.0
 */
export const diagram: string = [
  "stateDiagram-v2",
  "    [*] --> queued",
  ...phases.flatMap((from) => movesOf(from).map(([to, named]) => `    ${from} --> ${to}: ${named}`)),
  ...terminal.map((from) => `    ${from} --> [*]`)
].join("\n")

const describe = ({ to, when }: Outcome): string => {
  const result = isPhase(to) ? `**${to}**` : to === "unchanged" ? "unchanged" : `\`${to}\``
  return when === "always" ? result : `${when}: ${result}`
}

const rowOf = (command: keyof Row): string =>
  `| \`${command}\` | ${
    phases.filter((from) => !terminal.includes(from)).map((from) => table[from][command].map(describe).join("<br>"))
      .join(" | ")
  } |`

/**
 * Writes the live phases and all commands as a markdown table, each cell with its outcomes in order.
 *
 * @category rendering
 * @since 0.1.0
 */
export const markdownTable: string = [
  `| | ${phases.filter((from) => !terminal.includes(from)).join(" | ")} |`,
  `|---|${"---|".repeat(phases.length - terminal.length)}`,
  ...commands.map(rowOf)
].join("\n")
