/**
 * Rules on the outside world: time, chance, output, promises and exceptions come in at the edges only.
 */
import { edges, programs } from "./Layout.ts"
import type { Rule } from "./Rule.ts"
import { type Finding, type Node, nodes, type Source } from "./Source.ts"

/** What each banned global is replaced by. A name with a dot is one member; a bare name is any use of it. */
const globals: ReadonlyMap<string, string> = new Map([
  ["Date.now", "take `at` from the command, or ask Clock"],
  ["Date", "take `at` from the command, or ask Clock"],
  ["performance", "ask Clock"],
  ["Math.random", "ask Random"],
  ["crypto", "ask Random, or effect/crypto"],
  ["setTimeout", "Effect.sleep or Schedule"],
  ["setInterval", "Effect.sleep or Schedule"],
  ["setImmediate", "Effect.yieldNow"],
  ["queueMicrotask", "Effect.yieldNow"],
  ["console", "Effect.log"],
  ["process", "Config, Stdio or Runtime"],
  ["fetch", "HttpClient"],
  ["Promise", "Effect"]
])

const allowedIn = (file: Source) => (what: string) =>
  edges.some((edge) => file.path.startsWith(edge.path) && (edge.allows === "any" || edge.allows.includes(what)))

const isFunction = (node: Node) =>
  node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression"

const notInPrograms = (file: Source) => file.area === "src" && !programs.includes(file.pkg ?? "")

const asyncFunctions: Rule = {
  name: "no-async",
  because: "an Effect can be interrupted, timed and retried; a promise cannot",
  appliesTo: notInPrograms,
  *check(file) {
    if (allowedIn(file)("async")) return
    for (const [node] of nodes(file)) {
      if (isFunction(node) && "async" in node && node.async) {
        yield { at: node.start, message: "async function: return an Effect" }
      } else if (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await)) {
        yield { at: node.start, message: "await: yield* an Effect" }
      }
    }
  }
}

const tryStatements: Rule = {
  name: "no-try",
  because: "an error that is caught by `try` has no type; Result and Effect keep it",
  appliesTo: notInPrograms,
  *check(file) {
    if (allowedIn(file)("try")) return
    for (const [node] of nodes(file)) {
      if (node.type === "TryStatement") yield { at: node.start, message: "try: use Result.try, Effect.try or Schema" }
    }
  }
}

/** Names the file binds itself: a parameter called `process` is not the global. */
const boundNames = (file: Source): ReadonlySet<string> => {
  const bound = new Set<string>()
  const bind = (node: Node | null): void => {
    for (const inner of node === null ? [] : [node]) if (inner.type === "Identifier") bound.add(inner.name)
  }
  for (const [node] of nodes(file)) {
    if (node.type === "VariableDeclarator") bind(node.id)
    if (node.type === "ImportSpecifier" || node.type === "ImportNamespaceSpecifier") bind(node.local)
    if (node.type === "Property" && node.value.type === "Identifier") bind(node.shorthand ? node.value : null)
    if (isFunction(node) && "params" in node && Array.isArray(node.params)) node.params.forEach(bind)
  }
  return bound
}

/** `x`, `x.y` or `globalThis.x.y` as text, for an expression that names a global; otherwise undefined. */
const pathOf = (node: Node): string | undefined => {
  if (node.type === "Identifier") return node.name
  if (node.type !== "MemberExpression" || node.property.type !== "Identifier" || node.computed) return undefined
  const object = pathOf(node.object)
  return object === "globalThis" ? node.property.name : object && `${object}.${node.property.name}`
}

/** The used part of an expression: what is called, constructed, or has a member read. */
const usedPath = (node: Node) => {
  if (node.type === "CallExpression" || node.type === "NewExpression") return pathOf(node.callee)
  return node.type === "MemberExpression" ? pathOf(node) : undefined
}

const outside: Rule = {
  name: "no-outside",
  because: "time, chance and output come from a service, so that a test can supply them",
  appliesTo: notInPrograms,
  *check(file) {
    const bound = boundNames(file)
    const allowed = allowedIn(file)
    const seen = new Set<number>()
    for (const [node] of nodes(file)) {
      const path = usedPath(node)
      const [root = "", member] = path?.split(".") ?? []
      if (bound.has(root) || seen.has(node.start)) continue
      const isCall = node.type === "CallExpression" || node.type === "NewExpression"
      const banned = [`${root}.${member}`, root].find((name) =>
        globals.has(name) && (name !== "Date" || (isCall && member === undefined))
      )
      if (banned === undefined || allowed(banned)) continue
      seen.add(node.start)
      yield { at: node.start, message: `${banned}: ${globals.get(banned)}` }
    }
  }
}

const openKeys: Rule = {
  name: "no-in-on-open-keys",
  because: "`in` finds `__proto__` and `constructor` in every object; Object.hasOwn finds what was put there",
  appliesTo: (file) => file.area === "src",
  *check(file): Generator<Finding> {
    for (const [node] of nodes(file)) {
      if (node.type !== "BinaryExpression" || node.operator !== "in") continue
      const isFixed = node.left.type === "Literal" || node.left.type === "PrivateIdentifier"
      if (!isFixed) yield { at: node.start, message: "`key in record`: use Object.hasOwn(record, key)" }
    }
  }
}

/** The rules on the outside world. */
export const outsideRules: ReadonlyArray<Rule> = [asyncFunctions, tryStatements, outside, openKeys]
