import type { Duty, Section } from "@effect-mcp-tasks/conformance/requirements/Duty.ts"
import { duties, sections } from "@effect-mcp-tasks/conformance/requirements.ts"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Citation, citationsOf } from "../duties/Citations.ts"
import * as Coverage from "../duties/Coverage.ts"
import { makeSource } from "../tidy/Source.ts"

const cited = (text: string) => [...citationsOf(makeSource("packages/x/test/x.test.ts", text))]

const duty = (id: string, more: Partial<Duty> = {}): Duty => ({
  id,
  level: "MUST",
  text: `What ${id} asks`,
  source: "tools",
  where: "everywhere",
  ...more
})

const section = (...duties: ReadonlyArray<Duty>): Section => ({ letter: "A", title: "Some", duties })

const citing = (...ids: ReadonlyArray<string>): Citation => ({ path: "x.test.ts", line: 1, title: "does it", ids })

describe("citations", () => {
  it("stand at the end of a title, be it a string or a template", () => {
    assert.deepStrictEqual(cited("it(\"does it [A1]\", () => {})").map(({ ids, title }) => [title, ids]), [
      ["does it", ["A1"]]
    ])
    assert.deepStrictEqual(cited("it.effect.prop(`${name}: does it [A1, C12]`, [], f)")[0]?.ids, ["A1", "C12"])
    const both = cited("describe(\"things [E9]\", f)\nit(\"does it [E9]\", f)")
    assert.deepStrictEqual(both.map(({ line }) => line), [1, 2])
  })

  it("are none elsewhere: in comments, in data, in the middle, in another form", () => {
    for (
      const text of [
        "// does it [A1]",
        "const title = \"does it [A1]\"",
        "it(\"does [A1] it\", f)",
        "it(\"does it\", \"[A1]\")",
        "it(\"does it [A]\", f)",
        "it(\"does it [A1,C2]\", f)",
        "it(\"does it [1]\", f)",
        "assert.deepStrictEqual(ids, [A1])"
      ]
    ) assert.deepStrictEqual(cited(text), [], text)
  })
})

describe("faults", () => {
  const of = (sections: ReadonlyArray<Section>, ...citations: ReadonlyArray<Citation>) =>
    Coverage.faults(sections, citations)

  it("are none where every duty has a test, or says why not", () => {
    const all = section(duty("A1"), duty("A2", { pending: "later" }), duty("A3", { unprovable: "not ours" }))
    assert.deepStrictEqual(of([all], citing("A1")), [])
    assert.deepStrictEqual(of([all], citing("A1"), citing("A2")), [])
  })

  it("name a duty without a test, and a test without a duty", () => {
    assert.deepStrictEqual(of([section(duty("A1"), duty("A2"))], citing("A2")), ["A1 has no test: What A1 asks"])
    assert.deepStrictEqual(of([section(duty("A1"))], citing("A1", "Z9")), ["x.test.ts:1 cites Z9, which is no duty"])
  })

  it("name what cannot be right in the data", () => {
    const unprovable = section(duty("A1", { unprovable: "not ours" }))
    assert.deepStrictEqual(of([unprovable], citing("A1")), ["A1 is called unprovable, and a test cites it"])
    assert.include(of([section(duty("A1"), duty("A1"))], citing("A1")), "A1 is given to two duties")
    assert.include(of([section(duty("B1"))], citing("B1")), "B1 is in section A")
    const nowhere = section(duty("A1", { source: "hearsay, Section 1" }))
    assert.deepStrictEqual(of([nowhere], citing("A1")), [
      "A1 comes from \"hearsay, Section 1\", which names no document"
    ])
  })
})

describe("the document", () => {
  it("shows each duty with its tests, its official checks, and what is open", () => {
    const one = section(
      duty("A1", { sep2663: ["sep-2663-one"], where: "http" }),
      duty("A2", { text: "a | b < c", pending: "the rest" })
    )
    const text = Coverage.document([one], [citing("A1")])
    assert.include(text, "| A1 | MUST | What A1 asks (HTTP only) | [tools](https://")
    assert.include(text, "`sep-2663-one` | [x.test.ts](../x.test.ts): does it |")
    assert.include(text, "| A2 | MUST | a \\| b &lt; c |")
    assert.include(text, "*pending: the rest*")
    assert.include(text, "| A. Some | 2 | 1 | 1 |")
  })
})

describe("the duties", () => {
  const suite = readFileSync(
    fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url)),
    "utf8"
  )
  const ours = new Set(duties.flatMap(({ sep2663 = [] }) => sep2663))

  it("have every check of the official suite for SEP-2663 among them", () => {
    // A task id of the suite's own begins alike.
    const checks = [...suite.matchAll(/\bsep-2663-(?!wrong-)[a-z0-9-]+/g)].map(([id]) => id)
    assert.isAbove(new Set(checks).size, 15)
    for (const id of checks) assert.isTrue(ours.has(id), id)
  })

  it("are those of every section, none twice, each with a source", () => {
    assert.deepStrictEqual(sections.map(({ letter }) => letter), [..."ABCDEFGHIJK"])
    assert.strictEqual(new Set(duties.map(({ id }) => id)).size, duties.length)
    assert.isAbove(ours.size, 35)
  })
})
