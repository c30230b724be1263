/** Every rule of `tidy` catches what it is for, and lets its good twin pass. */
import { assert, describe, it } from "vitest"
import { judge } from "../tidy/Rule.ts"
import { rules } from "../tidy/rules.ts"
import { makeSource } from "../tidy/Source.ts"

/** `bad` is caught by the rule, once per entry of `lines`; `good` is not, whatever other rules say. */
interface Case {
  readonly rule: string
  readonly path?: string
  readonly bad: string
  readonly good: string
  readonly goodPath?: string
  readonly lines?: ReadonlyArray<number>
}

const core = "packages/core/src/Task.ts"
const engine = "packages/engine/src/TaskStore.ts"
const spec = "packages/core/test/Task.test.ts"
const long = (n: number) => Array.from({ length: n }, (_, i) => `const v${i} = ${i}`).join("\n")
const at = (...parts: ReadonlyArray<string>) => ["", ...parts].join("/")
const word = (...parts: ReadonlyArray<string>) => parts.join("")

const cases: ReadonlyArray<Case> = [
  {
    rule: "package-arrows",
    path: core,
    bad: `import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"`,
    good: `import * as Task from "@effect-mcp-tasks/core/Task"`,
    goodPath: engine
  },
  {
    rule: "package-arrows",
    path: "packages/conformance/src/run.ts",
    bad: `import "@effect-mcp-tasks/examples/main"`,
    good: `import "@effect-mcp-tasks/server"`
  },
  { rule: "package-arrows", path: "packages/stray/src/A.ts", bad: "const a = 1", good: "const a = 1", goodPath: core },
  {
    rule: "package-by-name",
    path: engine,
    bad: `export * from "../../core/src/Task.ts"\nimport "@effect-mcp-tasks/core/internal/fold"`,
    good: `export * from "./internal/row.ts"\nimport "@effect-mcp-tasks/core/Task"`,
    lines: [1, 2]
  },
  {
    rule: "package-by-name",
    path: spec,
    bad: `const m = () => import("../../engine/src/TaskStore.ts")`,
    good: `import { step } from "../src/internal/step.ts"`
  },
  {
    rule: "package-by-name",
    path: engine.replace("engine", "server"),
    bad: `import * as services from "../../engine/test/services.ts"`,
    good: `import * as services from "../../engine/test/services.ts"`,
    goodPath: spec
  },
  {
    rule: "node-builtins",
    path: "packages/sqlite/src/SqliteClient.ts",
    bad: `import { createServer } from "node:http"\nimport { join } from "path"`,
    good: `import { DatabaseSync } from "node:sqlite"`,
    lines: [1, 2]
  },
  {
    rule: "pure-core",
    path: core,
    bad: `import type * as Effect from "effect/Effect"\nimport * as Clock from "effect/Clock"\n` +
      `import "zod"\nimport "effect"`,
    good: `import * as Schema from "effect/Schema"\nimport * as Base64 from "effect/encoding/Base64"`,
    lines: [1, 2, 3, 4]
  },
  { rule: "import-extensions", path: core, bad: `import "./TaskEvent"`, good: `import "./TaskEvent.ts"` },
  {
    rule: "namespace-imports",
    path: engine,
    bad: `import { Effect } from "effect"\nimport { map } from "effect/Effect"\nimport "@effect-mcp-tasks/core"`,
    good: `import * as Effect from "effect/Effect"\nimport { pipe } from "effect/Function"\n` +
      `import { type A } from "effect/B"`,
    lines: [1, 2, 3]
  },
  {
    rule: "no-async",
    path: engine,
    bad: "const f = async () => {\n  await g()\n}\nclass A { async m() {} }",
    good: "const f = () => g()",
    lines: [1, 2, 4]
  },
  { rule: "no-async", path: engine, bad: "const f = async () => 1", good: "const f = async () => 1", goodPath: spec },
  { rule: "no-try", path: engine, bad: "try { f() } catch {}", good: "const a = Result.try(f)" },
  {
    rule: "no-outside",
    path: engine,
    bad: "const a = Date.now()\nconst b = new Date()\nconst c = Math.random()\nglobalThis.setTimeout(f, 1)\n" +
      "const d = crypto.randomUUID()\nconsole.log(a)\nconst e = process.env.X\nconst g = new Promise(f)",
    good: "const f = (process: Worker) => process.start()\nconst d = Date.UTC(1)",
    lines: [1, 2, 3, 4, 5, 6, 7, 8]
  },
  {
    rule: "no-outside",
    path: engine,
    bad: "console.log(1)",
    good: "console.log(1)",
    goodPath: "packages/examples/src/main.ts"
  },
  { rule: "no-in-on-open-keys", path: core, bad: "const a = key in record", good: `const a = "status" in task` },
  {
    rule: "file-header",
    path: core,
    bad: "/** Adds. */\nexport const a = 1",
    good: "/** Sums. */\n\n/** One. */\nexport const a = 1"
  },
  { rule: "file-header", path: core, bad: "const a = 1", good: "/** Re-exports. */\nexport * from \"./A.ts\"" },
  {
    rule: "export-docs",
    path: core,
    bad: "/** Header. */\n\nexport const a = 1\nexport type B = 1\n// c\nexport function c() {}\nexport class D {}",
    good: "/** Header. */\n\n/** One. */\nexport const A = 1\nexport type A = typeof A\nexport * from \"./B.ts\"",
    lines: [3, 4, 6, 7]
  },
  { rule: "file-length", path: core, bad: long(401), good: long(400), lines: [401] },
  {
    rule: "function-length",
    path: core,
    bad: `const f = () => {\n${long(69)}\n}`,
    good: `const f = () => {\n${long(68)}\n}`
  },
  {
    rule: "parameters",
    path: core,
    bad: "const f = (a, b, c, d, e) => a\nclass A { m(a, b, c, d, e) {} }",
    good: "function f(this: T, a, b, c, d) {}",
    lines: [1, 2]
  },
  { rule: "line-length", path: core, bad: `// ${"ab ".repeat(40)}`, good: `// ${"a".repeat(130)}` },
  { rule: "whitespace", path: core, bad: "const a = 1 \nconst b =\t1", good: "const a = 1\n", lines: [1, 2] },
  {
    rule: "punctuation",
    path: core,
    bad: "const a = 'b'\nconst c = 1;\nf();",
    good: "const a = '\"'\nfor (const a of b) f(a)\ntype T = { a: 1; b: 2 }",
    lines: [1, 2, 3]
  },
  { rule: "file-names", path: "packages/core/src/utils.ts", bad: "f()", good: "f()", goodPath: core },
  {
    rule: "no-suppressions",
    path: spec,
    bad: `// ${word("@ts-", "ignore")}\n/* ${word("oxlint", "-disable")} */`,
    good: "// the type says so",
    lines: [1, 2]
  },
  {
    rule: "no-any-cast",
    path: spec,
    bad: "const a = b as any\nconst c = <any>d",
    good: "const a = b as B",
    lines: [1, 2]
  },
  { rule: "no-unfinished", path: core, bad: `// ${word("TO", "DO")}: later`, good: `const a = "${word("XX", "X")}"` },
  {
    rule: "no-skipped-tests",
    path: spec,
    bad: "it.effect.skip(\"a\", f)\ndescribe.only(\"b\", f)\nit.each(t).todo(\"c\")",
    good: "it.effect(\"a\", f)\nqueue.skip(1)",
    lines: [1, 2, 3]
  },
  {
    rule: "assert-not-expect",
    path: spec,
    bad: `import { expect } from "vitest"`,
    good: `import { assert } from "vitest"`
  },
  {
    rule: "no-machine-paths",
    path: "docs/guides/start.md",
    bad: `see ${at("home", "me", "project")}`,
    good: "see docs/home/index.md, https://example.org/work/x and $HOME/work"
  },
  {
    rule: "lock-file",
    path: "package-lock.json",
    bad: `{ "packages": {\n"a": { "optionalDependencies": { "b": "1" } },\n` +
      `"c": { "resolved": "https://npm.example.org/c.tgz" } } }`,
    good: `{ "packages": { "a": { "optionalDependencies": { "b": "1" } }, "node_modules/b": {} } }`,
    lines: [2, 3]
  }
]

const linesOf = (rule: string, path: string, text: string) =>
  judge(makeSource(path, text.endsWith("\n") ? text : `${text}\n`), rules)
    .filter((report) => report.rule.name === rule).map((report) => report.line)

describe("tidy", () => {
  for (const example of cases) {
    const path = example.path ?? core
    it(`${example.rule}: catches ${JSON.stringify(example.bad).slice(0, 60)}`, () => {
      assert.deepStrictEqual(linesOf(example.rule, path, example.bad), example.lines ?? [1])
      assert.deepStrictEqual(linesOf(example.rule, example.goodPath ?? path, example.good), [])
    })
  }

  it("has an example for every rule", () => {
    assert.deepStrictEqual(rules.map((rule) => rule.name).filter((name) => !cases.some((it) => it.rule === name)), [])
  })

  it("refuses a file it cannot parse", () => {
    assert.throws(() => makeSource(core, "const = 1"), SyntaxError)
  })
})
