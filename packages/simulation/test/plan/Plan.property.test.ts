/** What holds of every plan, whatever it is made for. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { levelNames, methods, operations } from "../../src/plan/Ledger.ts"
import type { Life } from "../../src/plan/Life.ts"
import * as Plan from "../../src/plan/Plan.ts"
import { defaults, type Settings } from "../../src/plan/Settings.ts"

const share = Schema.Literals([0, 0.1, 0.35, 1])

/** Small plans of every kind: some hundred tasks each. */
const Drawn = Schema.Struct({
  tasksPerHour: Schema.Literals([300, 900, 2_000]),
  medianMs: Schema.Literals([500, 5_000, 40_000]),
  sigma: Schema.Literals([0, 0.7, 1.5]),
  asking: share,
  failing: share,
  cancelled: share,
  away: share,
  listening: share,
  pollMs: Schema.Literals([200, 1_000, 7_000, 45_000]),
  ttlMs: Schema.Literals([30_000, 300_000, 3_600_000]),
  resultTtlMs: Schema.Literals([0, 60_000, 3_600_000]),
  roundTripMs: Schema.Literals([0, 20, 600]),
  seed: Schema.Natural
})

const settingsOf = ({ medianMs, sigma, ...drawn }: typeof Drawn.Type): Settings => ({
  ...defaults,
  ...drawn,
  duration: { _tag: "Lognormal", medianMs, sigma },
  returnsAfter: { _tag: "Exponential", meanMs: 120_000 },
  warmUpMs: 300_000,
  countedMs: 900_000
})

const figures = ({ fates, ledger, lifeMs }: Plan.Plan) => [
  fates,
  lifeMs,
  methods.map((method) => ledger.requestRate([method])),
  operations.map((operation) => ledger.operationRate([operation])),
  levelNames.map((name) => [ledger.levelOf(name), ledger.levelCourse(name)])
]

const options = { arbitrary: { runs: 25 } }

/**
 * A subscription begins with a poll. It takes the place of one that would have come, unless the user gives up before
 * that, or a poll is on its way while the client asks whether it may listen and then to listen.
 */
const mayCostOne = ({ cancelAfterMs }: Life, { pollMs, roundTripMs }: Settings): boolean =>
  cancelAfterMs !== undefined || pollMs < 2 * roundTripMs

/** How often lives are polled when a share of them listens, without the polls that their subscriptions may cost. */
const pollsOf = (drawn: Settings, lives: ReadonlyArray<Life>, share: number): number => {
  // A client for each, so that no two lives touch; and to the last poll, so that none is left out for coming late.
  const settings = { ...drawn, clients: lives.length, warmUpMs: 0, countedMs: 4 * 3_600_000 }
  const cast = lives.map((life, client) => ({ ...life, client, listens: client < share * lives.length }))
  const { ledger } = Plan.runWith(settings, { lives: cast, jitterOf: () => () => 0.5 })
  const costing = cast.filter((life) => life.listens && mayCostOne(life, drawn))
  return ledger.requestRate(["tasks/get"]).count - costing.length
}

describe("every plan", () => {
  it.prop("is the same for the same seed", [Drawn], ([drawn]) => {
    const settings = settingsOf(drawn)
    assert.deepStrictEqual(figures(Plan.run(settings)), figures(Plan.run(settings)))
  }, options)

  it.prop("has as many live tasks as their rate and their life say (Little's law)", [Drawn], ([drawn]) => {
    // All lives that begin in the counted time, and all of each: exact, but for lives across its two ends.
    const settings = { ...settingsOf(drawn), warmUpMs: 0, countedMs: 3_600_000 }
    const lives = [...Plan.livesOf({ ...settings, countedMs: 900_000 })]
    const plan = Plan.runWith({ ...settings, countedMs: 2 * 3_600_000 }, { lives, jitterOf: () => () => 0.5 })
    const { mean } = plan.ledger.levelOf("live")
    assert.approximately(mean, lives.length / (2 * 3_600_000) * plan.lifeMs, 1e-6 + mean * 1e-3)
  }, options)

  it.prop("polls no more the more clients listen", [Drawn], ([drawn]) => {
    const settings = { ...settingsOf(drawn), warmUpMs: 0 }
    const lives = [...Plan.livesOf(settings)]
    // What some save is not held against what others may cost.
    for (const costs of [true, false]) {
      const group = lives.filter((life) => mayCostOne(life, settings) === costs)
      const [none = 0, some = 0, all = 0] = [0, 0.5, 1].map((share) => pollsOf(settings, group, share))
      assert.isAtMost(some, none)
      assert.isAtMost(all, some)
    }
  }, options)

  it.prop("loses no more with a longer ttl", [Drawn], ([drawn]) => {
    const settings = settingsOf(drawn)
    const longer = Plan.run({ ...settings, ttlMs: 2 * settings.ttlMs, resultTtlMs: 2 * settings.resultTtlMs })
    assert.isAtMost(Plan.lost(longer.fates), Plan.lost(Plan.run(settings).fates))
  }, options)

  it.prop("gives every task one fate, and leaves nothing behind", [Drawn], ([drawn]) => {
    const plan = Plan.run(settingsOf(drawn))
    const { cancelled, completed, failed, tasks } = plan.fates
    assert.strictEqual(completed + failed + cancelled + Plan.lost(plan.fates), tasks)
    for (const name of levelNames) assert.strictEqual(plan.ledger.level(name), 0, name)
  }, options)
})
