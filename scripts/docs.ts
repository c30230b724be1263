/**
 * Writes the documents that are made from the code: `npm run docs`. With `--check` it writes nothing, and fails when
 * one of them is stale. A document is an entry in the list below.
 */
import * as TaskTransitionDocument from "@effect-mcp-tasks/core/TaskTransitionDocument"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { sections } from "@effect-mcp-tasks/conformance/requirements.ts"
import * as Citations from "./duties/Citations.ts"
import * as Coverage from "./duties/Coverage.ts"

interface Document {
  /** Where it goes, from the root of the repository. */
  readonly path: string
  readonly source: string
  readonly text: () => string
}

const absolute = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const read = (path: string) => readFileSync(absolute(path), "utf8")

/** The lines of a doc comment between two texts, without its stars. */
const comment = (source: string, from: string, to: string): string => {
  const start = source.indexOf(from)
  const end = source.indexOf(to, start)
  if (start < 0 || end < 0) throw new Error(`No comment from ${from} to ${to}`)
  return source.slice(start + from.length, end).replaceAll(/^ ?\* ?/gm, "").trim()
}

const stateMachine = (): string => {
  const machine = read("packages/core/src/TaskMachine.ts")
  const transition = read("packages/core/src/TaskTransition.ts")
  const task = read("packages/core/src/Task.ts")
  return `# The task state machine

\`decide(task, command)\` grants a command as events or refuses it with a reason; \`evolve(task, event)\` applies them.
The machine has no clock: every command carries the instant \`at\` at which it is given.

## Phases

The wire shows five statuses. A phase refines them by what a worker is doing.

${comment(transition, "with what a worker is doing.\n *\n * **Details**", "@category")}

\`\`\`mermaid
${TaskTransitionDocument.diagram}
\`\`\`

## What comes of every command

The conditions of a cell are tested in order. A phase in bold is the one that follows, be it the same one; a
\`Reason\` is a refusal, and nothing changes. After the end
(completed, failed, cancelled) \`Answer\` and \`Cancel\` are acknowledged without effect, and every other command is
refused as \`Terminal\`.

${TaskTransitionDocument.markdownTable}

## Invariants

${comment(machine, "**Invariants**", "@since")}

## Refusals

${comment(machine, "Why a command was refused.\n *\n * **Details**", "@category")}

## The deadline

\`deadline(task)\` is \`createdAt + ttlMs\`, or never where \`ttlMs\` is null. ${
    comment(task, "is never.\n *\n * **Details**", "@category").replaceAll("\n", " ")
  } A handler
moves its deadline with \`Extend\`, which never shortens a life. The end of a task moves it too, where the outcome would
otherwise be readable for less than the policy's \`resultTtlMs\`.
`
}

const coverage = (): string => Coverage.document(sections, Citations.read(absolute("")))

const documents: ReadonlyArray<Document> = [
  { path: "docs/STATE-MACHINE.md", source: "packages/core/src/TaskTransition.ts", text: stateMachine },
  { path: "docs/SPEC-COVERAGE.md", source: "packages/conformance/requirements.ts and the tests", text: coverage }
]

const check = process.argv.includes("--check")
const made = documents.map(({ path, source, text }) => ({
  path,
  text: `<!-- Made from ${source} by \`npm run docs\`: edit that instead. -->\n\n${text()}`
}))
const stale = made.filter(({ path, text }) => !existsSync(absolute(path)) || read(path) !== text)

if (!check) for (const { path, text } of stale) writeFileSync(absolute(path), text)
for (const { path } of stale) console.log(check ? `${path} is stale: run \`npm run docs\`` : `${path} is written`)
if (check && stale.length > 0) process.exitCode = 1
