import { assert, describe, it } from "@effect/vitest"
import { median, medianSample, percentile } from "../src/statistics.ts"

describe("statistics", () => {
  it("median", () => {
    assert.strictEqual(median([3, 1, 2]), 2)
    assert.strictEqual(median([4, 1, 3, 2]), 2.5)
    assert.strictEqual(median([7]), 7)
    assert.isNaN(median([]))
  })

  it("percentile is the nearest rank", () => {
    const sorted = Float64Array.from({ length: 100 }, (_, index) => index + 1)
    assert.strictEqual(percentile(sorted, 0.5), 50)
    assert.strictEqual(percentile(sorted, 0.99), 99)
    assert.strictEqual(percentile(sorted, 1), 100)
    assert.strictEqual(percentile(sorted, 0), 1)
    assert.strictEqual(percentile(Float64Array.of(5), 0.99), 5)
  })

  it("one unknown CPU time makes the median unknown", () => {
    const sample = { opsPerSecond: 1, p50Millis: 1, p99Millis: 1, cpuMicrosPerRequest: 1, requestsPerOp: 1 }
    const known = { ...sample, cpuMicrosPerOp: 2 }
    assert.strictEqual(medianSample([known, known]).cpuMicrosPerOp, 2)
    assert.isUndefined(medianSample([known, { ...sample, cpuMicrosPerOp: undefined }]).cpuMicrosPerOp)
  })
})
