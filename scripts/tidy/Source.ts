/**
 * One file of the repository, parsed once: what the rules look at, and how they say where.
 */
import { type ESTree, parseSync } from "vite"

export type Node = ESTree.Node

/** A comment with its offsets; `value` excludes the comment markers. */
export interface Comment {
  readonly type: "Line" | "Block"
  readonly value: string
  readonly start: number
  readonly end: number
}

/** A file with the parts of its path that rules select on. */
export interface Source {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
  /** `core` for `packages/core/...`, `undefined` outside packages. */
  readonly pkg: string | undefined
  readonly area: "src" | "test" | "scripts" | "other"
  readonly isCode: boolean
  readonly program: ESTree.Program | undefined
  readonly comments: ReadonlyArray<Comment>
}

/** Something a rule objects to: an offset into the text and what is wrong there. */
export interface Finding {
  readonly at: number
  readonly message: string
}

const areaOf = (path: string): Source["area"] => {
  const [top, , inner] = path.split("/")
  if (top === "scripts") return path.startsWith("scripts/test/") ? "test" : "scripts"
  if (top === "packages" && inner === "src") return "src"
  if (top === "packages" && inner === "test") return "test"
  return "other"
}

/** Parses a file. Text that is not TypeScript, or is broken, is an error: no rule could judge it. */
export const makeSource = (path: string, text: string): Source => {
  const isCode = /\.(ts|mts|mjs)$/.test(path)
  const parsed = isCode ? parseSync(path, text) : undefined
  const [error] = parsed?.errors ?? []
  if (error !== undefined) throw new SyntaxError(`${path}: ${error.message}`)
  return {
    path,
    text,
    pkg: /^packages\/([^/]+)\//.exec(path)?.[1],
    area: areaOf(path),
    isCode,
    program: parsed?.program,
    comments: parsed?.comments ?? []
  }
}

/** The line, counted from 1, of an offset. */
export const lineOf = (text: string, at: number): number => {
  let line = 1
  for (let i = text.indexOf("\n"); i !== -1 && i < at; i = text.indexOf("\n", i + 1)) line++
  return line
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

/** Every node below and including `root`, parents first, each with its parent. */
export function* walk(root: Node, parent?: Node): Generator<readonly [Node, Node | undefined]> {
  yield [root, parent]
  for (const value of Object.values(root)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield* walk(child, root)
    }
  }
}

/** Every node of a file, in the order of {@link walk}. Files that are not code have none. */
export const nodes = (source: Source): Iterable<readonly [Node, Node | undefined]> =>
  source.program === undefined ? [] : walk(source.program)

/** A module specifier that a file names, be it in an import, a re-export or a dynamic import. */
export interface Reference {
  readonly specifier: string
  readonly at: number
  readonly node: Node
}

/** What a file imports, wherever it says so. */
export function* references(source: Source): Generator<Reference> {
  for (const [node] of nodes(source)) {
    if (
      node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration" ||
      node.type === "ExportNamedDeclaration" || node.type === "ImportExpression" || node.type === "TSImportType"
    ) {
      const { source: from } = node
      if (from?.type === "Literal" && typeof from.value === "string") {
        yield { specifier: from.value, at: node.start, node }
      }
    }
  }
}
