/**
 * The checks of a file, found in its syntax: every decision, and what is left in its place when it is gone.
 *
 * A condition of an `if` becomes `false`. Of a ternary each side is left in turn; so is each part of `a || b`, and of
 * `a && b` outside the condition of an `if`, where leaving one out would only refuse more.
 */
import type { Node } from "../tidy/Source.ts"
import { lineOf, makeSource, walk } from "../tidy/Source.ts"

/** One check, gone. */
export interface Removal {
  /** Counted from 1. */
  readonly line: number
  /** The decision as it is, and as it would be, on one line. */
  readonly was: string
  readonly now: string
}

/** Part of a file's text that is replaced. */
interface Site extends Removal {
  readonly start: number
  readonly end: number
  readonly by: string
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

interface Span {
  readonly start: number
  readonly end: number
}

/** What stands in the place of a decision once it is gone. */
const without = (node: Node, text: string, isCondition: boolean): ReadonlyArray<readonly [Span, string]> => {
  const at = ({ end, start }: Span) => text.slice(start, end)
  switch (node.type) {
    case "IfStatement":
      return [[node.test, "false"]]
    case "ConditionalExpression":
      return [node.consequent, node.alternate].map((side) => [node, at(side)] as const)
    case "LogicalExpression":
      return node.operator === "??" || (isCondition && node.operator === "&&")
        ? []
        : [node.left, node.right].map((side) => [node, at(side)] as const)
    default:
      return []
  }
}

const sitesOf = (path: string, text: string): ReadonlyArray<Site> => {
  const { program } = makeSource(path, text)
  if (program === undefined) return []
  const conditions = new Set<Node>()
  const found: Array<Site> = []
  for (const [node, parent] of walk(program)) {
    if (parent !== undefined && conditions.has(parent)) conditions.add(node)
    if (node.type === "IfStatement") conditions.add(node.test)
    for (const [{ end, start }, by] of without(node, text, conditions.has(node))) {
      found.push({ start, end, by, line: lineOf(text, start), was: oneLine(text.slice(start, end)), now: oneLine(by) })
    }
  }
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end)
}

/** The text between two offsets, with every site in it as a choice: without the one whose number is `__gone`. */
const choices = (text: string, sites: ReadonlyArray<readonly [Site, number]>, from: number, to: number): string => {
  let out = ""
  let at = from
  for (let next = 0; next < sites.length;) {
    const [site] = sites[next] ?? []
    if (site === undefined) break
    const inside = sites.slice(next).filter(([{ end }]) => end <= site.end)
    const same = inside.filter(([{ end, start }]) => start === site.start && end === site.end)
    const within = inside.filter((one) => !same.includes(one))
    const gone = same.map(([{ by }, number]) => `globalThis.__gone === ${number} ? (${by}) : `).join("")
    out += `${text.slice(at, site.start)}(${gone}(${choices(text, within, site.start, site.end)}))`
    at = site.end
    next += inside.length
  }
  return out + text.slice(at, to)
}

/** A file's checks, and its text with all of them, of which `globalThis.__gone` takes away the one of that index. */
export interface Switched {
  readonly removals: ReadonlyArray<Removal>
  readonly text: string
}

/** Finds the checks of a file. */
export const switched = (path: string, text: string): Switched => {
  const removals = sitesOf(path, text)
  return { removals, text: choices(text, removals.map((site, index) => [site, index] as const), 0, text.length) }
}

/** A check that is no decision, such as an option: a text that stands once in a file, and what is left of it. */
export const listed = (
  path: string,
  text: string,
  [was, now]: readonly [string, string]
): Removal & { readonly text: string } => {
  const start = text.indexOf(was)
  if (start === -1 || text.includes(was, start + 1)) throw new Error(`${path} has not exactly one: ${was}`)
  return {
    line: lineOf(text, start),
    was: oneLine(was),
    now: oneLine(now),
    text: text.slice(0, start) + now + text.slice(start + was.length)
  }
}
