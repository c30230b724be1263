/**
 * Rules on the shape of code: what is documented, and how long and wide things may grow.
 */
import { basename } from "node:path/posix"
import type { Rule } from "./Rule.ts"
import { type Comment, lineOf, type Node, nodes, type Source } from "./Source.ts"

const limits = { file: 400, function: 70, parameters: 4, line: 120 }

const isDoc = (comment: Comment | undefined) => comment?.type === "Block" && comment.value.startsWith("*")

/** The doc comment that belongs to a node: it ends on the line before. */
const docOf = (file: Source, node: Node) =>
  file.comments.find((it) =>
    isDoc(it) && it.end <= node.start && /^[ ]*\n?[ ]*$/.test(file.text.slice(it.end, node.start))
  )

/** The names a top-level statement exports itself, as opposed to handing on from elsewhere. */
const exportedNames = (node: Node): ReadonlyArray<string> => {
  if (node.type === "ExportDefaultDeclaration") return ["default"]
  if (node.type !== "ExportNamedDeclaration" || node.declaration === null) return []
  const { declaration } = node
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations.map((it) => it.id.type === "Identifier" ? it.id.name : "a pattern")
  }
  return declaration.id?.type === "Identifier" ? [declaration.id.name] : ["a declaration"]
}

const fileHeader: Rule = {
  name: "file-header",
  because: "the first thing a reader sees is what the file guarantees",
  appliesTo: (file) => file.isCode && (file.area === "src" || file.area === "scripts") && file.path.endsWith(".ts"),
  *check(file) {
    const [first] = file.comments
    const start = file.text.startsWith("#!") ? file.text.indexOf("\n") + 1 : 0
    if (first === undefined || !isDoc(first) || first.start !== start) {
      yield { at: 0, message: "the file does not begin with a doc comment" }
      return
    }
    const [statement] = file.program?.body ?? []
    if (statement !== undefined && exportedNames(statement).length > 0 && docOf(file, statement) === first) {
      yield { at: 0, message: "the first comment documents an export: the file has no header of its own" }
    }
  }
}

const exportDocs: Rule = {
  name: "export-docs",
  because: "every export says in one sentence what it is",
  appliesTo: (file) => file.area === "src",
  *check(file) {
    const statements = file.program?.body ?? []
    const documented = new Set(
      statements.filter((it) => docOf(file, it) !== undefined).flatMap((it) => exportedNames(it))
    )
    for (const statement of statements) {
      const missing = exportedNames(statement).filter((name) => !documented.has(name))
      if (missing.length > 0) yield { at: statement.start, message: `${missing.join(", ")} has no doc comment` }
    }
  }
}

const fileLength: Rule = {
  name: "file-length",
  because: "a file that does not fit in a head wants splitting",
  appliesTo: (file) => file.isCode,
  *check(file) {
    const { length } = file.text.trimEnd()
    const lines = lineOf(file.text, length)
    if (lines > limits.file) yield { at: length, message: `${lines} lines; at most ${limits.file}` }
  }
}

const paramsOf = (node: Node): ReadonlyArray<Node> | undefined => {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return node.params
    default:
      return undefined
  }
}

const functionLength: Rule = {
  name: "function-length",
  because: "a function over 70 lines does more than its name says",
  appliesTo: (file) => file.area === "src" || file.area === "scripts",
  *check(file) {
    for (const [node] of nodes(file)) {
      if (paramsOf(node) === undefined) continue
      const lines = lineOf(file.text, node.end) - lineOf(file.text, node.start) + 1
      if (lines > limits.function) yield { at: node.start, message: `${lines} lines; at most ${limits.function}` }
    }
  }
}

const parameters: Rule = {
  name: "parameters",
  because: "beyond four, the caller needs names: take an options object",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const [node] of nodes(file)) {
      const count = (paramsOf(node) ?? []).filter((it) => it.type !== "Identifier" || it.name !== "this").length
      if (count > limits.parameters) {
        yield { at: node.start, message: `${count} parameters; at most ${limits.parameters}` }
      }
    }
  }
}

/** Every line with its offset. */
function* linesOf(text: string): Generator<readonly [string, number]> {
  let at = 0
  for (const line of text.split("\n")) {
    yield [line, at]
    at += line.length + 1
  }
}

const lineLength: Rule = {
  name: "line-length",
  because: "two files fit side by side; only a word that cannot be broken may be longer",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const [line, at] of linesOf(file.text)) {
      const isOneWord = !/\s/.test(line.replace(/^[\s/*-]*/, ""))
      if (line.length > limits.line && !isOneWord) {
        yield { at, message: `${line.length} columns; at most ${limits.line}` }
      }
    }
  }
}

const whitespace: Rule = {
  name: "whitespace",
  because: "differences that nobody sees still show up in every diff",
  appliesTo: () => true,
  *check(file) {
    for (const [line, at] of linesOf(file.text)) {
      if (line.includes("\r")) yield { at, message: "carriage return" }
      if (file.isCode && line.includes("\t")) yield { at, message: "tab" }
      if (file.isCode && line !== line.trimEnd()) yield { at, message: "white space at the end of the line" }
    }
    if (file.text !== "" && !file.text.endsWith("\n")) yield { at: file.text.length, message: "no final newline" }
  }
}

const punctuation: Rule = {
  name: "punctuation",
  because: "double quotes and no semicolons, so that nobody has to choose",
  appliesTo: (file) => file.isCode,
  *check(file) {
    for (const [node] of nodes(file)) {
      const isStatement = /(Statement|Declaration|PropertyDefinition)$/.test(node.type)
      if (isStatement && /\S;$/.test(file.text.slice(node.start, node.end)) && node.type !== "EmptyStatement") {
        yield { at: node.end - 1, message: "semicolon" }
      }
      if (node.type === "Literal" && node.raw?.startsWith("'") && !node.raw.includes("\"")) {
        yield { at: node.start, message: `${node.raw} in single quotes` }
      }
    }
  }
}

const fileNames: Rule = {
  name: "file-names",
  because: "a file is named after what it holds; utils and helpers hold anything",
  appliesTo: (file) => file.isCode,
  *check(file) {
    const name = basename(file.path).split(".")[0]?.toLowerCase() ?? ""
    if (/^(utils?|common|helpers?|types|misc|shared)$/.test(name)) {
      yield { at: 0, message: `"${name}" names nothing: name the noun` }
    }
  }
}

/** The rules on the shape of code. */
export const shapeRules: ReadonlyArray<Rule> = [
  fileHeader, exportDocs, fileLength, functionLength, parameters, lineLength, whitespace, punctuation, fileNames
]
