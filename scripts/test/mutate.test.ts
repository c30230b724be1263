/** Which checks are found in a file, and what is left when one of them is gone. */
import { assert, describe, it } from "@effect/vitest"
import * as sites from "../mutate/sites.ts"

const names = (text: string) => sites.switched("a.ts", text).removals.map(({ now, was }) => `${was} -> ${now}`)

/** What a function returns with one of its checks gone. */
const run = (text: string, gone: number, ...given: ReadonlyArray<unknown>): unknown => {
  const { text: switched } = sites.switched("a.ts", `const decide = ${text}`)
  Object.assign(globalThis, { __gone: gone })
  // The text is this test's own.
  return new Function("given", `${switched}\nreturn decide(...given)`)(given)
}

describe("the checks of a file", () => {
  it("are its conditions, both sides of a ternary, and the parts that make one check of several", () => {
    assert.deepStrictEqual(names("if (a) b()"), ["a -> false"])
    assert.deepStrictEqual(names("const c = a ? b : d"), ["a ? b : d -> b", "a ? b : d -> d"])
    assert.deepStrictEqual(names("if (a || b) c()"), ["a || b -> false", "a || b -> a", "a || b -> b"])
    assert.deepStrictEqual(names("if (a && b) c()"), ["a && b -> false"])
    assert.deepStrictEqual(names("const c = a && b"), ["a && b -> a", "a && b -> b"])
    assert.deepStrictEqual(names("const c = a ?? b"), [])
  })

  it("are gone one at a time, however they are nested", () => {
    const text = `(a, b) => { if (a && (b || a)) return "refused"; return b ? (a ? "both" : "b") : "none" }`
    const whole = (a: boolean, b: boolean) => run(text, -1, a, b)
    assert.deepStrictEqual([whole(true, false), whole(false, true), whole(false, false)], ["refused", "b", "none"])
    const found = sites.switched("a.ts", `const decide = ${text}`).removals.map(({ now }) => now)
    const without = (now: string) => run(text, found.indexOf(now), true, true)
    assert.strictEqual(without("false"), "both")
    assert.strictEqual(without(`"both"`), "refused")
    assert.strictEqual(run(text, found.indexOf(`"b"`), false, true), "b")
    assert.strictEqual(run(text, found.indexOf(`"none"`), false, true), "none")
  })

  it("are listed where they are no decision, if they stand once", () => {
    const { line, text } = sites.listed("a.ts", "one\ntwo\nthree", ["two", ""])
    assert.deepStrictEqual([line, text], [2, "one\n\nthree"])
    assert.throws(() => sites.listed("a.ts", "two two", ["two", ""]), /not exactly one/)
    assert.throws(() => sites.listed("a.ts", "one", ["two", ""]), /not exactly one/)
  })
})
