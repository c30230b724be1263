/**
 * Rules on honesty: no check is switched off, no test is skipped, nothing is left for later, no machine shows through.
 */
import type { Rule } from "./Rule.ts"
import { type Node, nodes } from "./Source.ts"

const suppressions: Rule = {
  name: "no-suppressions",
  because: "a check that is switched off checks nothing: repair the code, or change the rule for everyone",
  appliesTo: (file) => file.isCode,
  *check(file) {
    const marker = /@ts-(ignore|expect-error|nocheck)|(eslint|oxlint|biome|effect)-(disable|ignore)|@effect-diagnostics/
    for (const comment of file.comments) {
      const found = marker.exec(comment.value)
      if (found !== null) yield { at: comment.start, message: found[0] }
    }
  }
}

const anyCasts: Rule = {
  name: "no-any-cast",
  because: "`as any` tells the compiler to believe everything",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const [node] of nodes(file)) {
      const isCast = node.type === "TSAsExpression" || node.type === "TSTypeAssertion"
      if (isCast && node.typeAnnotation.type === "TSAnyKeyword") yield { at: node.start, message: "cast to any" }
    }
  }
}

const unfinished: Rule = {
  name: "no-unfinished",
  because: "what is not done is written in the changelog or an issue, where someone looks for it",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const comment of file.comments) {
      const found = /\b(TODO|FIXME|XXX|HACK)\b/.exec(comment.value)
      if (found !== null) yield { at: comment.start, message: found[0] }
    }
  }
}

/** `it` for `it.effect.skip`. */
const rootOf = (node: Node): string => {
  if (node.type === "MemberExpression") return rootOf(node.object)
  if (node.type === "CallExpression") return rootOf(node.callee)
  return node.type === "Identifier" ? node.name : ""
}

const skippedTests: Rule = {
  name: "no-skipped-tests",
  because: "a suite that selects nothing passes",
  appliesTo: (file) => file.area === "test",
  *check(file) {
    for (const [node] of nodes(file)) {
      if (node.type !== "MemberExpression" || node.property.type !== "Identifier") continue
      const isSwitch = ["only", "skip", "todo"].includes(node.property.name)
      if (isSwitch && ["it", "test", "describe", "suite"].includes(rootOf(node.object))) {
        yield { at: node.start, message: `.${node.property.name}` }
      }
    }
  }
}

const assertions: Rule = {
  name: "assert-not-expect",
  because: "`assert` narrows types and reads the same in every test",
  appliesTo: (file) => file.area === "test",
  *check(file) {
    for (const [node] of nodes(file)) {
      if (node.type === "ImportSpecifier" && node.local.name === "expect") {
        yield { at: node.start, message: "expect: use assert" }
      }
    }
  }
}

const machinePaths: Rule = {
  name: "no-machine-paths",
  because: "the repository works wherever it is cloned",
  appliesTo: (file) => file.path !== "package-lock.json",
  *check(file) {
    for (const found of file.text.matchAll(/(?<![\w.$}*/-])\/(?:work|root|home|Users)\/\w/g)) {
      yield { at: found.index, message: "absolute path of one machine" }
    }
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const lockFile: Rule = {
  name: "lock-file",
  because: "`npm ci` refuses a lock file that leaves a platform's package out, and a private host works for one person",
  appliesTo: (file) => file.path === "package-lock.json",
  *check(file) {
    const lock: unknown = JSON.parse(file.text)
    const packages = isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {}
    const names = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)))
    for (const [path, pkg] of Object.entries(packages)) {
      const optional = isRecord(pkg) && isRecord(pkg["optionalDependencies"]) ? pkg["optionalDependencies"] : {}
      for (const name of Object.keys(optional)) {
        if (!names.has(name)) yield { at: file.text.indexOf(`"${path}"`), message: `no entry for optional ${name}` }
      }
    }
    for (const found of file.text.matchAll(/"resolved": "https?:\/\/(?!registry\.npmjs\.org\/)[^"]+"/g)) {
      yield { at: found.index, message: "a package from another host than the public registry" }
    }
  }
}

/** The rules on honesty. */
export const honestyRules: ReadonlyArray<Rule> = [
  suppressions, anyCasts, unfinished, skippedTests, assertions, machinePaths, lockFile
]
