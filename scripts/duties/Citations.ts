/**
 * Which tests cite which duties: every title in a test file that ends in ids in brackets, such as `[A14, E3]`.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { lineOf, makeSource, type Node, nodes, type Source } from "../tidy/Source.ts"

/** One title that cites duties. */
export interface Citation {
  /** From the root of the repository, with forward slashes. */
  readonly path: string
  readonly line: number
  /** The title without its ids; `…` stands for what is put in when the test runs. */
  readonly title: string
  readonly ids: ReadonlyArray<string>
}

const cited = /^(.*?)\s*\[([A-Z]\d+(?:, [A-Z]\d+)*)\]$/s

/** The text of a string or of a template, or nothing for any other node. */
const textOf = (node: Node | undefined): string | undefined => {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value
  return node?.type === "TemplateLiteral" ? node.quasis.map(({ value }) => value.raw).join("…") : undefined
}

/** The citations of one file: only the first argument of a call counts, which is where a title stands. */
export function* citationsOf(file: Source): Generator<Citation> {
  for (const [node] of nodes(file)) {
    const found = node.type === "CallExpression" ? cited.exec(textOf(node.arguments[0]) ?? "") : null
    if (found?.[1] === undefined || found[2] === undefined) continue
    yield { path: file.path, line: lineOf(file.text, node.start), title: found[1], ids: found[2].split(", ") }
  }
}

/** Every citation in the tests of the packages and in the published suites, by file and line. */
export const read = (root: string): ReadonlyArray<Citation> =>
  globSync(["packages/*/test/**/*.ts", "packages/testing/src/**/*.ts"], { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted()
    .flatMap((path) => [...citationsOf(makeSource(path, readFileSync(join(root, path), "utf8")))])
