/** What a distribution is written as, what is refused with which words, and that what is drawn follows it. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Dice } from "../../src/Dice.ts"
import * as Distribution from "../../src/plan/Distribution.ts"

const good: ReadonlyArray<readonly [text: string, meanMs: number]> = [
  ["fixed:30s", 30_000],
  ["fixed:0ms", 0],
  ["fixed:1.5h", 5_400_000],
  ["exponential:2m", 120_000],
  ["uniform:500ms,1500ms", 1_000],
  ["uniform:1s,1s", 1_000],
  ["lognormal:10s,0", 10_000],
  ["lognormal:10s,0.8", 10_000 * Math.exp(0.32)],
  ["lognormal: 10s, 0.8", 10_000 * Math.exp(0.32)]
]

const bad: ReadonlyArray<readonly [text: string, expected: RegExp]> = [
  ["", /^one of fixed:TIME, exponential:MEAN, lognormal:MEDIAN,SIGMA, uniform:LOW,HIGH$/],
  ["30s", /^one of fixed:TIME/],
  ["normal:3s,1", /^one of fixed:TIME/],
  ["fixed", /^fixed:TIME, with a time such as 500ms/],
  ["fixed:30", /a time such as 500ms, 30s, 2m, 1.5h or 7d/],
  ["fixed:-3s", /a time from 0 on/],
  ["fixed:3 s", /a time such as/],
  ["fixed:3s,4s", /^fixed:TIME$/],
  ["fixed:99999d", /a time of at most 3650d/],
  ["exponential:1s,2s", /^exponential:MEAN$/],
  ["lognormal:30s", /^lognormal:MEDIAN,SIGMA$/],
  ["lognormal:30s,big", /a sigma from 0 to 4/],
  ["lognormal:30s,5", /a sigma from 0 to 4/],
  ["uniform:9s,3s", /a low end that is not above the high one/],
  ["uniform:9s", /^uniform:LOW,HIGH$/],
  ["fixed:NaNs", /a time such as/],
  ["__proto__:1s", /^one of/]
]

describe("a distribution", () => {
  for (const [text, meanMs] of good) {
    it(`is read from "${text}"`, () => {
      assert.approximately(Distribution.mean(Result.getOrThrow(Distribution.parse(text))), meanMs, 1e-6)
    })
  }

  for (const [text, expected] of bad) {
    it(`is not read from "${text}"`, () => {
      assert.match(Result.getOrThrow(Result.flip(Distribution.parse(text))), expected)
    })
  }

  it("is written as it is read", () => {
    for (const text of ["fixed:30s", "exponential:2m", "lognormal:1.5h,0.8", "uniform:500ms,7d"]) {
      assert.strictEqual(Distribution.print(Result.getOrThrow(Distribution.parse(text))), text)
    }
  })

  it("is what is drawn, on average and in its middle", () => {
    for (const text of ["fixed:30s", "exponential:30s", "lognormal:30s,0.8", "uniform:10s,50s"]) {
      const distribution = Result.getOrThrow(Distribution.parse(text))
      const dice = new Dice(7)
      const drawn = Array.from({ length: 40_000 }, () => Distribution.sample(distribution, dice.unit(), dice.unit()))
      const mean = drawn.reduce((total, ms) => total + ms, 0) / drawn.length
      assert.approximately(mean / Distribution.mean(distribution), 1, 0.02, text)
      assert.isTrue(drawn.every((ms) => Number.isSafeInteger(ms) && ms >= 0))
      const median = drawn.toSorted((self, that) => self - that)[20_000] ?? 0
      const expected = distribution._tag === "Exponential" ? 30_000 * Math.LN2 : 30_000
      assert.approximately(median / expected, 1, 0.03, text)
    }
  })
})
