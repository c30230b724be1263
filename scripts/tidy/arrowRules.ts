/**
 * Rules on imports: the arrows between packages point one way, go by name, and stay out of each other's internals.
 */
import { dirname, join } from "node:path/posix"
import { builtinModules } from "node:module"
import { arrows, leaves, programs, sharedTests } from "./Layout.ts"
import type { Rule } from "./Rule.ts"
import { type Node, references } from "./Source.ts"

const scope = "@effect-mcp-tasks/"

/** `{ name: "core", subpath: "TaskMachine" }` for a specifier of one of our packages. */
const ourPackage = (specifier: string) => {
  if (!specifier.startsWith(scope)) return undefined
  const [name = "", ...rest] = specifier.slice(scope.length).split("/")
  return { name, subpath: rest.join("/") }
}

const isRelative = (specifier: string) => specifier.startsWith(".")

const packageName = (specifier: string) => specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")

const isBuiltin = (specifier: string) => specifier.startsWith("node:") || builtinModules.includes(specifier)

const packageArrows: Rule = {
  name: "package-arrows",
  because: "dependencies point one way: core <- engine <- server, client <- core; nothing imports a program",
  appliesTo: (file) => file.area === "src",
  *check(file) {
    const allowed = arrows.get(file.pkg ?? "")
    if (allowed === undefined) {
      yield { at: 0, message: `package "${file.pkg}" has no arrows in scripts/tidy/Layout.ts` }
      return
    }
    for (const { at, specifier } of references(file)) {
      const target = ourPackage(specifier)
      if (target === undefined || target.name === file.pkg) continue
      const isAllowed = allowed.packages === "any"
        ? !leaves.includes(target.name)
        : allowed.packages.includes(target.name)
      if (!isAllowed) yield { at, message: `${file.pkg} must not import ${target.name}` }
    }
  }
}

const packageByName: Rule = {
  name: "package-by-name",
  because: "a package is reached by its name and through its exports, never by path, never into internal/",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const { at, specifier } of references(file)) {
      const target = ourPackage(specifier)
      if (target !== undefined && /^(internal|src|dist)(\/|$)/.test(target.subpath)) {
        yield { at, message: `"${specifier}" is closed to other packages` }
      }
      if (!isRelative(specifier)) continue
      const path = join(dirname(file.path), specifier)
      const reached = /^packages\/([^/]+)/.exec(path)?.[1]
      const isShared = file.area === "test" && sharedTests.includes(path)
      if (reached !== undefined && reached !== file.pkg && !isShared) {
        yield { at, message: `"${specifier}" reaches into package ${reached}: import it by name` }
      }
    }
  }
}

const nodeBuiltins: Rule = {
  name: "node-builtins",
  because: "only the packages named in scripts/tidy/Layout.ts may depend on Node itself",
  appliesTo: (file) => file.area === "src",
  *check(file) {
    const allowed = arrows.get(file.pkg ?? "")?.node ?? []
    for (const { at, specifier } of references(file)) {
      if (!isBuiltin(specifier)) continue
      if (!specifier.startsWith("node:")) yield { at, message: `write "node:${specifier}"` }
      else if (allowed !== "any" && !allowed.includes(specifier)) {
        yield { at, message: `${file.pkg} must not import ${specifier}` }
      }
    }
  }
}

const pureCore: Rule = {
  name: "pure-core",
  because: "core runs anywhere and under any driver, so it imports data modules of effect and nothing else",
  appliesTo: (file) => file.area === "src" && arrows.get(file.pkg ?? "")?.effect !== undefined,
  *check(file) {
    const modules = arrows.get(file.pkg ?? "")?.effect ?? []
    for (const { at, specifier } of references(file)) {
      if (isRelative(specifier) || isBuiltin(specifier) || ourPackage(specifier) !== undefined) continue
      const [name, module = ""] = [packageName(specifier), specifier.slice(packageName(specifier).length + 1)]
      const isData = name === "effect" &&
        modules.some((allowed) => allowed === module || (allowed.endsWith("/") && module.startsWith(allowed)))
      if (!isData) yield { at, message: `${file.pkg} must not import "${specifier}"` }
    }
  }
}

const extensions: Rule = {
  name: "import-extensions",
  because: "Node runs the sources as they are, so a relative import names the file with its extension",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const { at, specifier } of references(file)) {
      if (isRelative(specifier) && !/\.(ts|mjs|json)$/.test(specifier)) {
        yield { at, message: `"${specifier}" lacks its .ts extension` }
      }
    }
  }
}

/** Modules of which single functions or types are the point. */
const namedModules = new Set(["effect/Function", "effect/Types"])

const isNamespaceOrType = (node: Node) =>
  node.type !== "ImportDeclaration" || node.importKind === "type" ||
  node.specifiers.every((it) =>
    it.type === "ImportNamespaceSpecifier" || (it.type === "ImportSpecifier" && it.importKind === "type")
  )

const namespaceImports: Rule = {
  name: "namespace-imports",
  because: "`import * as X from \"effect/X\"` reads as its documentation and loads one module, not the barrel",
  appliesTo: (file) => file.area === "src" && !programs.includes(file.pkg ?? ""),
  *check(file) {
    for (const { at, node, specifier } of references(file)) {
      const isOurs = ourPackage(specifier) !== undefined
      if (specifier === "effect" || (isOurs && ourPackage(specifier)?.subpath === "")) {
        yield { at, message: `"${specifier}" is a barrel: import the module, as "${specifier}/..."` }
      } else if (
        (isOurs || specifier.startsWith("effect/")) && !namedModules.has(specifier) && !isNamespaceOrType(node)
      ) {
        yield { at, message: `import "${specifier}" as a namespace` }
      }
    }
  }
}

/** The rules on imports. */
export const arrowRules: ReadonlyArray<Rule> = [
  packageArrows, packageByName, nodeBuiltins, pureCore, extensions, namespaceImports
]
