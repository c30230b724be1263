/**
 * Draws a scenario from a seed.
 *
 * Not everything goes wrong in every world: each seed draws first what may go wrong at all, and how often. Worlds in
 * which one thing goes wrong much reach what worlds in which everything goes wrong a little do not.
 *
 * @since 0.1.0
 */
import { Dice } from "./Dice.ts"
import { type RateName, rateNames, type Rates } from "./Faults.ts"
import type { Call, ClientPlan, Manner, Scenario, ServerPlan, Trouble } from "./Scenario.ts"
import * as Script from "./Script.ts"
import { toolNames } from "./Tools.ts"

const draw = (dice: Dice, chance: number, low: number, high: number): number | undefined =>
  dice.chance(chance) ? dice.between(low, high) : undefined

const list = <A>(length: number, make: (index: number) => A): ReadonlyArray<A> => Array.from({ length }, (_, i) => make(i))

const ops: ReadonlyArray<(dice: Dice) => Script.Op> = [
  (dice) => ({ op: "step", name: dice.pick(["x", "y", "z"]), ms: dice.between(0, 800) }),
  (dice) => ({ op: "step", name: dice.pick(["x", "y", "z"]), ms: dice.between(0, 800) }),
  (dice) => ({ op: "sleep", ms: dice.between(1, dice.chance(0.1) ? 40_000 : 3_000) }),
  (dice) => ({ op: "ask", name: dice.pick(["a", "b", "c"]) }),
  (dice) => ({ op: "ask", name: dice.pick(["a", "b", "c"]) }),
  (dice) => ({ op: "asks", name: dice.pick(["a", "b"]), also: dice.pick(["a", "c"]) }),
  (dice) => ({ op: "askfor", name: dice.pick(["a", "b", "c"]), ms: dice.between(0, 4_000) }),
  (dice) => ({ op: "leave", name: dice.pick(["a", "b", "c"]) }),
  (dice) => ({ op: "report", name: dice.pick(["begun", "halfway", "nearly"]) }),
  (dice) => ({ op: "extend", ms: dice.between(1_000, 120_000) }),
  (dice) => ({ op: "stubborn", ms: dice.between(1, 4_000) })
]

const ends: ReadonlyArray<Script.Op> = [
  ...list(6, () => ({ op: "end", name: "ok" } as const)),
  { op: "end", name: "error" },
  { op: "end", name: "protocol" },
  { op: "end", name: "die" },
  { op: "end", name: "interrupt" },
  { op: "hang" },
  { op: "crash" }
]

const drawScript = (dice: Dice): string =>
  [...list(dice.between(0, 4), () => ops[dice.between(0, ops.length - 1)]?.(dice)), ends[dice.between(0, ends.length - 1)]]
    .flatMap((op) => op === undefined ? [] : [Script.print(op)])
    .join("; ")

const manners: readonly [Manner, ...ReadonlyArray<Manner>] = [
  "right", "right", "right", "late", "twice", "wrong", "unknown", "declines", "never"
]

const drawCall = (dice: Dice, calmAtMs: number): Call => ({
  atMs: dice.between(0, calmAtMs - 5_000),
  tool: dice.pick([...toolNames, "resumable"]),
  script: drawScript(dice),
  manner: dice.pick(manners),
  cancelAfterMs: draw(dice, 0.25, 0, 6_000),
  giveUpAfterMs: draw(dice, 0.1, 1_000, 20_000)
})

const drawClient = (dice: Dice, calmAtMs: number): ClientPlan => ({
  owner: dice.pick(["ada", "bob", "eve"]),
  snoops: dice.chance(0.3),
  calls: list(dice.between(1, 4), (index) => drawCall(dice.stream(`call ${index}`), calmAtMs))
})

const drawServer = (dice: Dice): ServerPlan => ({
  aheadMs: dice.chance(0.3) ? dice.between(-20_000, 20_000) : 0,
  pace: dice.chance(0.2) ? dice.between(95, 105) / 100 : 1
})

const drawTrouble = (dice: Dice, size: { readonly servers: number; readonly clients: number; readonly calmAtMs: number }): Trouble => {
  const server = dice.between(0, size.servers - 1)
  const atMs = dice.between(0, size.calmAtMs)
  const forMs = dice.between(10, 15_000)
  switch (dice.pick(["crash", "crash", "shutdown", "shutdown", "outage", "silence", "isolation", "partition", "jump"])) {
    case "crash":
      return { kind: "crash", atMs, server, forMs }
    case "shutdown":
      return { kind: "shutdown", atMs, server, forMs }
    case "outage":
      return { kind: "outage", atMs, forMs }
    case "silence":
      return { kind: "silence", atMs, forMs }
    case "isolation":
      return { kind: "isolation", atMs, server, forMs }
    case "partition":
      return { kind: "partition", atMs, client: dice.between(0, size.clients - 1), server, forMs }
    case "jump":
      return { kind: "jump", atMs, server, byMs: dice.between(-60_000, 60_000) }
  }
}

const drawRates = (dice: Dice): Rates => {
  const rates: Partial<Record<RateName, number>> = {}
  const isCalm = dice.chance(0.2)
  for (const name of rateNames) {
    if (!isCalm && dice.chance(0.4)) rates[name] = dice.pick([0.01, 0.05, 0.2])
  }
  return rates
}

/**
 * Draws a scenario. The same seed gives the same scenario.
 *
 * @since 0.1.0
 */
export const drawScenario = (seed: number): Scenario => {
  const dice = new Dice(seed).stream("scenario")
  const calmAtMs = dice.between(10_000, 60_000)
  const servers = dice.between(1, 3)
  const clients = dice.between(1, 4)
  return {
    seed,
    calmAtMs,
    servers: list(servers, (index) => drawServer(dice.stream(`server ${index}`))),
    clients: list(clients, (index) => drawClient(dice.stream(`client ${index}`), calmAtMs)),
    troubles: list(dice.between(0, 6), (index) => drawTrouble(dice.stream(`trouble ${index}`), { servers, clients, calmAtMs })),
    rates: drawRates(dice.stream("rates")),
    maxTurn: dice.pick([8, 64, 2048])
  }
}
