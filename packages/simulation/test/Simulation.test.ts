/** The simulation itself: it can be repeated, and what it draws, writes and leaves out is what it says. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { Coverage } from "../src/Coverage.ts"
import { drawScenario } from "../src/drawScenario.ts"
import type { Scenario } from "../src/Scenario.ts"
import * as ScenarioText from "../src/ScenarioText.ts"
import * as Script from "../src/Script.ts"
import * as seeds from "../src/seeds.ts"
import { shrink } from "../src/shrink.ts"
import * as Simulation from "../src/Simulation.ts"
import * as threads from "../src/threads.ts"

const job = { from: 1, count: 12, stride: 1, isStoppedByFailure: false } as const

/** Written out, since what is drawn for a seed changes with what there is to draw. */
const kept = new URL("scenarios/", import.meta.url)

const read = (text: string): Scenario => Result.getOrThrow(ScenarioText.parse(text))

describe("a simulation", () => {
  it("has one history for a seed, step by step", () => {
    for (const seed of [1, 2, 3]) {
      const [first, second] = [0, 0].map(() => Simulation.run(drawScenario(seed)))
      assert.deepStrictEqual(second?.history, first?.history)
      assert.strictEqual(second?.fingerprint, first?.fingerprint)
    }
    const fingerprints = [1, 2, 3, 4].map((seed) => Simulation.run(drawScenario(seed)).fingerprint)
    assert.strictEqual(new Set(fingerprints).size, 4)
  })

  it.live("has the same histories in other threads, however seeds are shared", () =>
    Effect.gen(function*() {
      const here = seeds.run(job)
      const there = yield* threads.share(job, { threads: 2 })
      assert.strictEqual(there.fingerprint, here.fingerprint)
      assert.deepStrictEqual([there.ran, there.failures], [12, []])
      assert.deepStrictEqual(there.counts.transitions, here.counts.transitions)
    }))

  it("has the history of its scenario, however that was written", () => {
    for (const seed of [5, 6, 7, 8, 36, 57]) {
      const scenario = drawScenario(seed)
      const again = read(ScenarioText.print(scenario))
      assert.strictEqual(ScenarioText.print(again), ScenarioText.print(scenario))
      assert.strictEqual(Simulation.run(again).fingerprint, Simulation.run(scenario).fingerprint)
    }
  })

  for (const name of readdirSync(kept)) {
    it(`breaks no rule where it once did: ${name}`, () => {
      const scenario = read(readFileSync(new URL(name, kept), "utf8"))
      assert.deepStrictEqual(Simulation.run(scenario).violations, [])
    })
  }

  it("breaks no rule, and reaches every phase and every kind of fault in 120 seeds", () => {
    const report = seeds.run({ ...job, from: 1_000, count: 120 })
    assert.deepStrictEqual(report.failures, [])
    const coverage = new Coverage(report.counts)
    assert.deepStrictEqual([coverage.missing("states"), coverage.missing("faults")], [[], []])
    assert.isAtLeast(coverage.counts.transitions.size, 35)
  })
})

describe("a scenario", () => {
  it("is refused with the line that is wrong", () => {
    const wrong: ReadonlyArray<readonly [text: string, why: RegExp]> = [
      ["sed 7", /^sed 7: it is no line/],
      ["call at 1: resumable, answers right: end ok", /a call comes after its client/],
      ["client ada\ncall at 1: other, answers right: end ok", /no such tool/],
      ["client ada\ncall at 1: once, answers right, lacks hope: end ok", /no such way to call/],
      ["client ada\ncall at 1: once, answers right: dance", /"dance" is nothing that a tool can do/],
      ["client ada\ncall at 1: once, answers right: step x", /"step" is followed by 2 words/],
      ["client ada\ncall at 1: once, answers right: sleep long", /a number is missing/],
      ["client ada\ncall at 1: once, answers right: end well", /no such end/],
      ["rate rain 0.5", /no such fault/],
      ["client ada", /there is no server/],
      ["server ahead 0 pace 1\ntrouble at 1: crash server 2 for 5", /nobody is there/]
    ]
    for (const [text, why] of wrong) assert.match(Result.getOrThrow(Result.flip(ScenarioText.parse(text))), why)
  })

  it("is written as it is read", () => {
    const text = [
      "seed 7",
      "runner queue",
      "calm at 30000",
      "turns of 8",
      "steady",
      "server ahead -300 pace 1.02",
      "client bob with library ahead -20 pace 0.99 patience 20000",
      "client ada snoops",
      "call at 100: once, answers late after 70, cancels after 50, gives up after 900: step x 10; askfor a 5; end ok",
      "call at 100: once, answers right, lacks tasks:",
      "trouble at 5: crash server 1 for 7",
      "trouble at 5: isolation server 1 for 7",
      "trouble at 5: partition client 1 server 1 for 7",
      "trouble at 5: crash client 1 for 7",
      "trouble at 5: jump client 1 by -7",
      "trouble at 5: jump server 1 by -7",
      "trouble at 5: outage for 7",
      "trouble at 5: silence for 7",
      "trouble at 5: spell of net-double for 7",
      "rate store-fail 0.05"
    ].join("\n")
    assert.strictEqual(ScenarioText.print(read(text)), text)
  })

  it("becomes smaller for as long as the rule is broken", () => {
    const scenario = drawScenario(21, 2)
    const asks = ({ clients }: Scenario) =>
      clients.some(({ calls }) => calls.some(({ script }) => script.includes("ask")))
    const smallest = shrink(scenario, (candidate) => asks(candidate) ? "defect" : undefined)
    assert.isTrue(asks(smallest))
    assert.deepStrictEqual([smallest.clients.length, smallest.servers.length, smallest.troubles], [1, 1, []])
    const [call] = smallest.clients[0]?.calls ?? []
    assert.strictEqual(Result.getOrThrow(Script.parse(call?.script ?? "")).length, 1)
  })
})
