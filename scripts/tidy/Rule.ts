/**
 * What a rule is: data that says what it wants and why, and one function that finds where a file differs.
 */
import { type Finding, lineOf, type Source } from "./Source.ts"

/** One checkable sentence of the style. */
export interface Rule {
  readonly name: string
  readonly because: string
  readonly appliesTo: (file: Source) => boolean
  readonly check: (file: Source) => Iterable<Finding>
}

/** A finding with everything a reader needs to act on it. */
export interface Report {
  readonly path: string
  readonly line: number
  readonly rule: Rule
  readonly message: string
}

/** Everything the rules object to in one file. */
export const judge = (file: Source, rules: ReadonlyArray<Rule>): ReadonlyArray<Report> =>
  rules.filter((rule) => rule.appliesTo(file)).flatMap((rule) =>
    Array.from(rule.check(file), ({ at, message }) => ({ path: file.path, line: lineOf(file.text, at), rule, message }))
  )
