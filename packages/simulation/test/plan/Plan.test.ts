/** Plans whose figures are known beforehand: from arithmetic, from queueing theory, or since nothing may be left. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Agenda } from "../../src/plan/Agenda.ts"
import { levelNames, methods, operations } from "../../src/plan/Ledger.ts"
import type { Life } from "../../src/plan/Life.ts"
import * as Plan from "../../src/plan/Plan.ts"
import * as report from "../../src/plan/report.ts"
import * as Settings from "../../src/plan/Settings.ts"

const hour = 3_600_000

const given = (changed: Partial<Settings.Settings>): Settings.Settings => ({
  ...Settings.defaults,
  duration: { _tag: "Fixed", ms: 10_000 },
  warmUpMs: 600_000,
  countedMs: hour,
  roundTripMs: 0,
  ...changed
})

const life: Life = {
  arrivesAtMs: 700_000,
  client: 0,
  workMs: 10_000,
  asks: undefined,
  fails: false,
  cancelAfterMs: undefined,
  returnsAfterMs: undefined,
  listens: false
}

const alone = (settings: Settings.Settings, changed: Partial<Life> = {}) =>
  Plan.runWith(settings, { lives: [{ ...life, ...changed }], jitterOf: () => () => 0 })

const polls = ({ ledger }: Plan.Plan): number => ledger.requestRate(["tasks/get"]).count

describe("a plan", () => {
  it("polls a task of 10 s that is to be polled every second ten times, without luck", () => {
    assert.strictEqual(polls(alone(given({ pollMs: 1_000 }))), 10)
  })

  it("polls no faster than the client allows, nor slower", () => {
    assert.strictEqual(polls(alone(given({ pollMs: 1 }))), 50, "every 200 ms")
    assert.strictEqual(polls(alone(given({ pollMs: 100 * hour, ttlMs: 3 * hour, resultTtlMs: 3 * hour }))), 0, "later")
  })

  it("polls once beside a subscription, and not before the client's 30 seconds again", () => {
    assert.strictEqual(polls(alone(given({}), { listens: true })), 1)
    assert.strictEqual(polls(alone(given({}), { listens: true, workMs: 100_000 })), 4)
  })

  it("listens again when the server has ended a subscription of an hour", () => {
    const settings = given({ ttlMs: 3 * hour, countedMs: 3 * hour })
    const { ledger } = alone(settings, { listens: true, workMs: 2.5 * hour })
    assert.strictEqual(ledger.requestRate(["subscriptions/listen"]).count, 3)
    assert.strictEqual(ledger.level("streams"), 0)
  })

  it("loses what runs out of its ttl, by what it did then", () => {
    const settings = given({ ttlMs: 20_000 })
    assert.deepStrictEqual(alone(settings, { workMs: 30_000 }).fates.expired, { queued: 0, working: 1, parked: 0 })
    const asks = { afterMs: 5_000, answerAfterMs: 60_000 }
    assert.deepStrictEqual(alone(settings, { asks }).fates.expired, { queued: 0, working: 0, parked: 1 })
    const behind = [0, 1, 2].map((n) => ({ ...life, arrivesAtMs: 700_000 + n, workMs: 15_000 }))
    const waiting = given({ ttlMs: 20_000, workers: 1, pollMs: 7_000 })
    const third = Plan.runWith(waiting, { lives: behind, jitterOf: () => () => 0 })
    assert.deepStrictEqual(third.fates.expired, { queued: 1, working: 1, parked: 0 })
  })

  it("loses what is removed before its client comes back", () => {
    const settings = given({ ttlMs: 60_000, resultTtlMs: 60_000 })
    const late = alone(settings, { returnsAfterMs: 80_000 })
    assert.deepStrictEqual([late.fates.forgotten, late.fates.completed], [1, 0])
    const inTime = alone(settings, { returnsAfterMs: 65_000 })
    assert.deepStrictEqual([inTime.fates.forgotten, inTime.fates.completed], [0, 1])
  })

  it("waits as long for a worker as queueing theory says", () => {
    // One worker, arrivals and work by chance, busy 3/5 of the time: work x 0.6 / (1 - 0.6) in the queue (M/M/1).
    const settings = given({
      tasksPerHour: 3_600,
      duration: { _tag: "Exponential", meanMs: 600 },
      workers: 1,
      pollMs: 60_000,
      countedMs: 8 * hour
    })
    const plan = Plan.run(settings)
    assert.approximately(plan.queueMs.mean, 900, 900 * 0.1)
    assert.approximately(plan.ledger.levelOf("working").mean, 0.6, 0.6 * 0.03)
    assert.isAtMost(plan.ledger.levelOf("working").max, 1)
    assert.notMatch(report.print(plan, undefined), /CANNOT KEEP UP/)
  })

  it("says so when the workers cannot keep up", () => {
    const settings = given({ tasksPerHour: 3_600, workers: 9, countedMs: 600_000, ttlMs: 60_000 })
    const plan = Plan.run(settings)
    assert.match(report.print(plan, undefined), /CANNOT KEEP UP: 10\.0 would be at work/)
    assert.isAbove(Plan.lost(plan.fates), 0)
  })

  it("has nothing left in the end, however tasks ended", () => {
    for (const workers of [undefined, 3]) {
      const plan = Plan.run(given({
        asking: 0.4,
        failing: 0.1,
        cancelled: 0.2,
        away: 0.2,
        listening: 0.5,
        ttlMs: 90_000,
        reportEveryMs: 3_000,
        workers
      }))
      for (const name of levelNames) assert.strictEqual(plan.ledger.level(name), 0, name)
      const { cancelled, completed, failed, tasks } = plan.fates
      assert.strictEqual(completed + failed + cancelled + Plan.lost(plan.fates), tasks, "each has one fate")
    }
  })

  it("prints what it counts", () => {
    const settings = given({ asking: 0.2, listening: 0.1 })
    const plan = Plan.run(settings)
    const text = report.print(plan, Plan.run({ ...settings, listening: 1 }))
    for (const word of ["tasks/get", "tasks/update", "subscriptions/listen", "replace", "remove", "wait for input"]) {
      assert.include(text, word)
    }
    assert.match(text, /From [\d,]+ simulated tasks in 1h, after 10m that is not counted; seed 1/)
    assert.match(text, /If all clients listened: [\d.]+ requests per second instead of [\d.]+ \([\d.]+% saved\)/)
    assert.notMatch(text, /NaN|undefined|Infinity/)
    const json = JSON.stringify(report.toJson(plan, undefined))
    for (const name of [...methods, ...operations, ...levelNames]) assert.include(json, `"${name}"`)
  })
})

describe("settings", () => {
  const bad: ReadonlyArray<readonly [changed: Partial<Settings.Settings>, why: RegExp]> = [
    [{ tasksPerHour: 0 }, /--tasks-per-hour/],
    [{ tasksPerHour: Number.NaN }, /--tasks-per-hour/],
    [{ asking: 1.1 }, /--ask is a share from 0 to 1/],
    [{ asking: Number.NaN }, /--ask/],
    [{ failing: -0.1 }, /--fail/],
    [{ cancelled: 2 }, /--cancel/],
    [{ away: 20 }, /--away/],
    [{ listening: 50 }, /--listen/],
    [{ pollMs: 0 }, /--poll/],
    [{ ttlMs: 0 }, /--ttl/],
    [{ ttlMs: 31 * 24 * hour }, /--ttl/],
    [{ resultTtlMs: 31 * 24 * hour }, /--result-ttl/],
    [{ workers: 0 }, /--workers/],
    [{ workers: 1.5 }, /--workers/],
    [{ reportEveryMs: 1 }, /--report-every/],
    [{ clients: 0 }, /--clients/],
    [{ roundTripMs: 100_000 }, /--round-trip/],
    [{ countedMs: 0 }, /--hours/],
    [{ countedMs: Number.NaN }, /--hours/],
    [{ seed: 0.5 }, /--seed/],
    [{ tasksPerHour: 1e6, countedMs: 100 * hour }, /more than 2000000 tasks/]
  ]
  for (const [changed, why] of bad) {
    it(`are refused with ${JSON.stringify(changed)}`, () => {
      assert.match(Result.getOrThrow(Result.flip(Settings.check({ ...Settings.defaults, ...changed }))), why)
    })
  }

  it("are fine where nothing is said", () => {
    assert.deepStrictEqual(Settings.check(Settings.defaults), Result.succeed(Settings.defaults))
  })
})

describe("an agenda", () => {
  it("goes by time, and within an instant by who came first", () => {
    const agenda = new Agenda()
    const said: Array<string> = []
    for (const [at, what] of [[5, "d"], [1, "a"], [5, "e"], [3, "b"], [9, "f"]] as const) {
      agenda.at(at, () => said.push(`${agenda.now}${what}`))
    }
    agenda.at(3, () => agenda.after(0, () => said.push(`${agenda.now}c`)))
    agenda.run(5)
    assert.deepStrictEqual(said, ["1a", "3b", "3c", "5d", "5e"])
    agenda.run(7)
    assert.strictEqual(agenda.now, 7)
    agenda.run()
    assert.strictEqual(said.at(-1), "9f")
  })
})
