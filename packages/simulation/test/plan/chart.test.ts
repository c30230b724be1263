/** The chart: a document that is well formed, says what it shows, and shows it where it is. */
import { assert, describe, it } from "@effect/vitest"
import * as chart from "../../src/plan/chart.ts"
import * as Plan from "../../src/plan/Plan.ts"
import { defaults } from "../../src/plan/Settings.ts"

/** The names of all elements, for a document whose tags are in order, whose attributes are quoted, and no more. */
const elements = (svg: string): ReadonlyArray<string> => {
  const open: Array<string> = []
  const seen: Array<string> = []
  let rest = svg.trim()
  while (rest !== "") {
    const [tag, close, name, , self] = /^<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/i.exec(rest) ?? []
    if (tag === undefined) {
      const [text = ""] = /^(?:[^<&]|&(?:amp|lt|gt|quot);)+/.exec(rest) ?? []
      assert.notStrictEqual(text, "", `no markup: ${rest.slice(0, 60)}`)
      assert.isAbove(open.length, 0, "text outside the document")
      rest = rest.slice(text.length)
      continue
    }
    if (close === "/") assert.strictEqual(open.pop(), name)
    else {
      seen.push(name ?? "")
      if (self !== "/") open.push(name ?? "")
    }
    rest = rest.slice(tag.length)
  }
  assert.deepStrictEqual(open, [])
  return seen
}

const settings = { ...defaults, asking: 0.3, warmUpMs: 600_000, countedMs: 1_800_000 }
const plan = Plan.run(settings)
const all = Plan.run({ ...settings, listening: 1 })

describe("a chart", () => {
  it("is well formed, has both panels, and a line for each thing", () => {
    const svg = chart.draw(plan, all)
    const seen = elements(svg)
    assert.strictEqual(seen[0], "svg")
    assert.strictEqual(seen.filter((name) => name === "g").length, 2)
    for (
      const text of [
        "Tasks that have not ended",
        "Requests per second",
        "time in minutes",
        "wait for input",
        "tasks/get",
        "all, if all listen",
        "not counted"
      ]
    ) assert.include(svg, `>${text}<`)
    assert.notMatch(svg, /NaN|undefined|Infinity/)
    assert.match(svg, /prefers-color-scheme: dark/)
  })

  it("shows a queue only where there was one", () => {
    assert.notInclude(chart.draw(plan), "wait for a worker")
    const queued = Plan.run({ ...settings, workers: 8 })
    assert.include(chart.draw(queued), "wait for a worker")
    elements(chart.draw(queued))
  })

  it("keeps every point within its panel", () => {
    for (const [, path = ""] of chart.draw(plan, all).matchAll(/class="line \w+" d="(M[^"h]+)"/g)) {
      for (const [, x, y] of path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)) {
        assert.isTrue(Number(x) >= 56 && Number(x) <= 632 && Number(y) >= 34 && Number(y) <= 192, `${x} ${y}`)
      }
    }
  })

  it("is drawn of a time in which nothing happened", () => {
    const empty = Plan.runWith({ ...settings, warmUpMs: 0 }, { lives: [], jitterOf: () => () => 0 })
    const svg = chart.draw(empty)
    elements(svg)
    assert.notMatch(svg, /NaN|Infinity/)
    assert.notInclude(svg, "not counted")
  })

  it("marks its axes with round numbers that cover what there is", () => {
    for (const [most, marks] of [
      [7, [0, 2, 4, 6, 8]],
      [100, [0, 50, 100]],
      [0.031, [0, 0.01, 0.02, 0.03, 0.04]],
      [0, [0, 1]]
    ] as const) {
      assert.deepStrictEqual(chart.ticks(most, 4), marks)
    }
  })
})
