/**
 * What a plan counts is what the real engine and the real client do: the same lives, lived once in the plan and once
 * for real on the test clock, make the same requests and the same calls of the store.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { methods, operations } from "../../src/plan/Ledger.ts"
import type { Ledger } from "../../src/plan/Ledger.ts"
import type { Life } from "../../src/plan/Life.ts"
import { defaults, type Settings } from "../../src/plan/Settings.ts"
import * as Plan from "../../src/plan/Plan.ts"
import * as RealLives from "./RealLives.ts"

const settings: Settings = {
  ...defaults,
  pollMs: 1_000,
  ttlMs: 600_000,
  resultTtlMs: 600_000,
  clients: 1,
  roundTripMs: 0,
  warmUpMs: 0,
  countedMs: 1_500_000
}

const life: Life = {
  arrivesAtMs: 10_303,
  client: 0,
  workMs: 8_117,
  asks: undefined,
  fails: false,
  cancelAfterMs: undefined,
  returnsAfterMs: undefined,
  listens: false
}

/** Requests and calls of the store, one line each. */
const counts = (ledger: Ledger): ReadonlyArray<string> => [
  ...methods.map((method) => `${method} ${ledger.requestRate([method]).count}`),
  ...operations.map((operation) => `store ${operation} ${ledger.operationRate([operation]).count}`)
]

const readsOf = (ledger: Ledger): number => ledger.operationRate(["read"]).count

interface Case {
  readonly when: string
  readonly lives: ReadonlyArray<Life>
  readonly settings?: Partial<Settings>
}

const cases: ReadonlyArray<Case> = [
  { when: "a task completes", lives: [life] },
  { when: "a task fails", lives: [{ ...life, fails: true }] },
  { when: "a task reports", lives: [life], settings: { reportEveryMs: 1_700 } },
  { when: "a task asks and is answered", lives: [{ ...life, asks: { afterMs: 3_011, answerAfterMs: 5_017 } }] },
  { when: "a task is cancelled at work", lives: [{ ...life, cancelAfterMs: 4_019 }] },
  {
    when: "a task is cancelled while it waits for input",
    lives: [{ ...life, asks: { afterMs: 2_003, answerAfterMs: 60_000 }, cancelAfterMs: 7_001 }]
  },
  { when: "a task runs out of its ttl at work", lives: [{ ...life, workMs: 700_001 }] },
  {
    when: "a task runs out of its ttl while it waits for input",
    lives: [{ ...life, asks: { afterMs: 2_003, answerAfterMs: 650_000 } }]
  },
  { when: "results are not kept", lives: [{ ...life, workMs: 700_001 }], settings: { resultTtlMs: 0 } },
  { when: "a client comes back for a result", lives: [{ ...life, returnsAfterMs: 100_003 }] },
  {
    when: "a client comes back to a task that goes on",
    lives: [{ ...life, workMs: 200_017, returnsAfterMs: 100_003 }]
  },
  { when: "a client comes back too late", lives: [{ ...life, returnsAfterMs: 900_007 }] },
  { when: "a client listens", lives: [{ ...life, listens: true }] },
  { when: "a client listens to a long task", lives: [{ ...life, workMs: 200_017, listens: true }] },
  {
    when: "a client listens to a task that reports and asks",
    lives: [{ ...life, workMs: 40_009, asks: { afterMs: 3_011, answerAfterMs: 35_021 }, listens: true }],
    settings: { reportEveryMs: 7_013 }
  },
  {
    when: "a client listens to a task that is cancelled",
    lives: [{ ...life, workMs: 40_009, cancelAfterMs: 20_011, listens: true }]
  },
  { when: "a task is shorter than the time between two polls", lives: [{ ...life, workMs: 101 }] },
  { when: "a client listens to a short task", lives: [{ ...life, workMs: 101, listens: true }] },
  { when: "polls are rare", lives: [{ ...life, workMs: 200_017 }], settings: { pollMs: 45_000 } },
  {
    when: "a client hears of a change while a poll is on its way",
    lives: [{ ...life, workMs: 200_017, asks: { afterMs: 250, answerAfterMs: 90_000 }, listens: true }],
    settings: { pollMs: 45_000, roundTripMs: 100 }
  },
  {
    when: "a poll is on its way while a subscription is agreed on",
    lives: [{ ...life, listens: true }],
    settings: { pollMs: 200, roundTripMs: 1_000 }
  },
  {
    when: "each way takes its time",
    lives: [
      { ...life, asks: { afterMs: 3_011, answerAfterMs: 5_017 } },
      { ...life, arrivesAtMs: 11_309, workMs: 200_017, returnsAfterMs: 100_003 },
      { ...life, arrivesAtMs: 12_323, fails: true, returnsAfterMs: 100_003 }
    ],
    settings: { roundTripMs: 250 }
  },
  {
    when: "many tasks come at once",
    lives: Array.from(
      { length: 30 },
      (_, index) => ({ ...life, arrivesAtMs: 10_303 + 13 * index, workMs: 9_001 * index })
    )
  }
]

const replicaCases: ReadonlyArray<Case> = [
  { when: "a replica runs a task", lives: [life], settings: { workers: 2 } },
  {
    when: "a replica's task asks and is answered",
    lives: [{ ...life, asks: { afterMs: 3_011, answerAfterMs: 5_017 } }],
    settings: { workers: 1 }
  },
  {
    when: "tasks wait for a worker",
    lives: [0, 1, 2].map((index) => ({ ...life, arrivesAtMs: 10_303 + 1_009 * index })),
    settings: { workers: 1 }
  },
  {
    when: "tasks are cancelled while they wait for a worker",
    lives: [0, 1, 2].map((index) => ({
      ...life,
      arrivesAtMs: 10_303 + 1_009 * index,
      ...(index === 0 ? {} : { cancelAfterMs: 2_003 })
    })),
    settings: { workers: 1 }
  },
  {
    when: "a parked handler gives its place to others, and takes one again",
    lives: [
      { ...life, workMs: 20_011, asks: { afterMs: 3_011, answerAfterMs: 9_017 } },
      { ...life, arrivesAtMs: 11_003, workMs: 20_011 },
      { ...life, arrivesAtMs: 12_007, workMs: 20_011 }
    ],
    settings: { workers: 1 }
  }
]

const live = Effect.fnUntraced(function*({ lives, settings: changed }: Case) {
  const given = { ...settings, ...changed }
  const real = yield* RealLives.run(given, lives)
  const { fates, ledger } = RealLives.plan(given, lives)
  return { real: real.ledger, endings: real.endings, planned: ledger, fates }
})

describe("a plan counts what the real engine and client do", () => {
  for (const lived of cases) {
    it.effect(`when ${lived.when}`, () =>
      Effect.gen(function*() {
        const { planned, real } = yield* live(lived)
        assert.deepStrictEqual(counts(planned), counts(real))
      }))
  }

  for (const lived of replicaCases) {
    it.effect(`when ${lived.when}`, () =>
      Effect.gen(function*() {
        const { planned, real } = yield* live(lived)
        const others = (ledger: Ledger) => counts(ledger).filter((line) => !line.startsWith("store read"))
        assert.deepStrictEqual(others(planned), others(real))
        // Whether a handler is there when the signal of its own start comes is a matter of turns: a read more, or not.
        const more = readsOf(planned) - readsOf(real)
        assert.isAtLeast(more, 0)
        assert.isAtMost(more, lived.lives.length)
      }))
  }

  for (const seed of [1, 2, 3]) {
    it.effect(`when lives are drawn from seed ${seed}`, () =>
      Effect.gen(function*() {
        const given: Settings = {
          ...settings,
          tasksPerHour: 720,
          duration: { _tag: "Lognormal", medianMs: 12_000, sigma: 1 },
          asking: 0.3,
          answerAfter: { _tag: "Exponential", meanMs: 20_000 },
          failing: 0.1,
          cancelled: 0.15,
          away: 0.2,
          returnsAfter: { _tag: "Uniform", lowMs: 1_000, highMs: 400_000 },
          ttlMs: 120_000,
          resultTtlMs: 90_000,
          listening: 1 / 3,
          clients: 3,
          countedMs: 900_000,
          seed
        }
        const lives = [...Plan.livesOf({ ...given, countedMs: 300_000 })]
        const { fates, planned, real, endings } = yield* live({ when: "", lives, settings: given })
        assert.isAtLeast(lives.length, 40)
        const { cancelled, completed, failed } = fates
        const ended = (...tags: ReadonlyArray<string>) => endings?.filter((ending) => tags.includes(ending)).length
        // A client that comes back late does not learn whether its task had ended or had run out of time.
        assert.deepStrictEqual(
          [completed, failed + Plan.lost(fates), cancelled],
          [ended("completed"), ended("TaskFailed", "TaskExpired"), ended("cancelled")]
        )
        for (const method of methods) {
          assert.strictEqual(planned.requestRate([method]).count, real.requestRate([method]).count, method)
        }
        // Of some thousand operations one or two depend on what comes first within a millisecond.
        for (const operation of operations) {
          const [more, less] = [planned, real].map((ledger) => ledger.operationRate([operation]).count)
          assert.approximately(more ?? 0, less ?? 0, 2, operation)
        }
      }))
  }
})
