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
import { runnerNames } from "./runners.ts"
import type { Call, ClientPlan, ClockPlan, LibraryPlan, Manner, Scenario, Trouble } from "./Scenario.ts"
import * as Script from "./Script.ts"
import * as situations from "./situations.ts"

const draw = (dice: Dice, chance: number, low: number, high: number): number | undefined =>
  dice.chance(chance) ? dice.between(low, high) : undefined

const list = <A>(length: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length }, (_, index) => make(index))

const keys = ["a", "a", "b", "b", "c", "d"] as const
const names = ["x", "x", "y", "y", "z", "w"] as const

/** What tools do, with how often it is drawn. */
const ops: ReadonlyArray<readonly [weight: number, draw: (dice: Dice) => Script.Op]> = [
  [6, (dice) => ({ op: "step", name: dice.pick(names), ms: dice.between(0, 800) })],
  [1, (dice) => ({ op: "steps", name: dice.pick(names) })],
  [1, (dice) => ({ op: "again", name: dice.pick(names) })],
  [4, (dice) => ({ op: "sleep", ms: dice.between(1, dice.chance(0.1) ? 40_000 : 3_000) })],
  [6, (dice) => ({ op: "ask", name: dice.pick(keys) })],
  [1, (dice) => ({ op: "reask", name: dice.pick(keys) })],
  [3, (dice) => ({ op: "asks", name: dice.pick(keys), also: dice.pick(keys) })],
  [3, (dice) => ({ op: "askfor", name: dice.pick(keys), ms: dice.between(0, 4_000) })],
  [1, (dice) => ({ op: "overlap", name: dice.pick(keys), ms: dice.between(20, 2_000) })],
  [2, (dice) => ({ op: "leave", name: dice.pick(keys) })],
  [2, (dice) => ({ op: "detach", name: dice.pick(keys) })],
  [4, (dice) => ({ op: "report", name: dice.pick(["begun", "halfway", "nearly"]) })],
  [4, (dice) => ({ op: "extend", ms: dice.between(1_000, dice.pick([5_000, 120_000])) })],
  [3, (dice) => ({ op: "stubborn", ms: dice.between(1, 4_000) })]
]

const bag = ops.flatMap(([weight, draw]) => list(weight, () => draw))

const ends: ReadonlyArray<Script.Op> = [
  ...list(6, () => ({ op: "end", name: "ok" } as const)),
  { op: "end", name: "error" },
  { op: "end", name: "protocol" },
  { op: "end", name: "die" },
  { op: "end", name: "interrupt" },
  { op: "hang" },
  { op: "crash" }
]

/** More steps than are allowed. */
const tooMany: ReadonlyArray<Script.Op> = ["x", "y", "z", "w"].map((name) => ({ op: "step", name, ms: 10 }))

/** How often a tool takes too many. */
const excess = 0.03

const drawScript = (dice: Dice): string =>
  [
    ...list(dice.between(0, 6), () => bag[dice.between(0, bag.length - 1)]?.(dice)),
    ...dice.chance(excess) ? tooMany : [],
    ends[dice.between(0, ends.length - 1)]
  ].flatMap((op) => op === undefined ? [] : [Script.print(op)]).join("; ")

const manners: readonly [Manner, ...ReadonlyArray<Manner>] = [
  "right", "right", "right", "late", "twice", "wrong", "unknown", "declines", "never"
]

const tools = ["resumable", "once", "brief", "quick", "resumable"] as const

const drawCall = (dice: Dice, calmAtMs: number): Call => ({
  atMs: dice.between(0, calmAtMs - 5_000),
  tool: dice.pick(tools),
  script: drawScript(dice),
  manner: dice.pick(manners),
  cancelAfterMs: draw(dice, 0.35, 0, dice.pick([500, 6_000, 20_000])),
  giveUpAfterMs: draw(dice, 0.1, 1_000, 20_000)
})

/** How many of the clients call through the client library. */
const libraryShare = 0.4

const drawClock = (dice: Dice): ClockPlan => ({
  aheadMs: dice.chance(0.3) ? dice.between(-20_000, 20_000) : 0,
  pace: dice.chance(0.2) ? dice.between(99, 101) / 100 : 1
})

const drawLibrary = (dice: Dice): LibraryPlan => ({
  ...drawClock(dice),
  patienceMs: dice.pick([120_000, 120_000, 20_000])
})

const drawClient = (dice: Dice, calmAtMs: number): ClientPlan => {
  const library = dice.stream("library")
  const isLibrary = library.chance(libraryShare)
  return {
    owner: dice.pick(["ada", "bob", "eve"]),
    snoops: dice.chance(0.3) && !isLibrary,
    ...isLibrary ? { library: drawLibrary(library) } : {},
    calls: list(dice.between(1, 4), (index) => drawCall(dice.stream(`call ${index}`), calmAtMs))
  }
}

const troubleKinds = [
  "crash", "crash", "shutdown", "shutdown", "outage", "silence", "isolation", "partition", "jump", "spell",
  "client-crash", "client-jump"
] as const

/** What there is in a world for something to go wrong with. */
interface There {
  readonly servers: number
  readonly clients: number
  readonly calmAtMs: number
}

const drawTrouble = (dice: Dice, there: There): Trouble => {
  const server = dice.between(0, there.servers - 1)
  const client = dice.between(0, there.clients - 1)
  const atMs = dice.between(0, there.calmAtMs)
  const forMs = dice.between(10, dice.pick([2_000, 15_000, 60_000]))
  switch (dice.pick(troubleKinds)) {
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
      return { kind: "partition", atMs, client, server, forMs }
    case "spell":
      return { kind: "spell", atMs, what: dice.pick(rateNames), forMs: dice.between(10, 3_000) }
    case "client-crash":
      return { kind: "client-crash", atMs, client, forMs }
    case "client-jump":
      return { kind: "client-jump", atMs, client, byMs: dice.between(-60_000, 60_000) }
    case "jump":
      return { kind: "jump", atMs, server, byMs: dice.between(-60_000, 60_000) }
  }
}

const drawRates = (dice: Dice): Rates => {
  const rates: Partial<Record<RateName, number>> = {}
  const isCalm = dice.chance(0.2)
  for (const name of rateNames) {
    const likely = name.startsWith("signal") ? [0.05, 0.5, 1] as const : [0.01, 0.05, 0.2] as const
    if (!isCalm && dice.chance(0.4)) rates[name] = dice.pick(likely)
  }
  return rates
}

/** How long it is between two calls of a situation, in milliseconds. */
const betweenMs = 1_000

/** In how many worlds a rare situation is brought about: of a task, of a client, and of what is declared. */
const rareness = 0.2
const rarenessOfClient = 0.16
const rarenessOfDeclaration = 0.06

/**
 * Draws a scenario. The same seed and size give the same scenario; `size` is how many times as large and long it is.
 *
 * @since 0.1.0
 */
export const drawScenario = (seed: number, size = 1): Scenario => {
  const dice = new Dice(seed).stream("scenario")
  const calmAtMs = dice.between(10_000, 60_000) * size
  const servers = dice.between(1, 3)
  const clients = dice.between(1, 4) * size
  const there = { servers, clients, calmAtMs }
  const rare = dice.stream("situation")
  const rareOfClient = dice.stream("situation of a client")
  const declared = dice.stream("situation of a declaration")
  const brought = [
    // Its troubles name its client by its number: it is the first of those that are added.
    ...rareOfClient.chance(rarenessOfClient) ? [situations.drawOfClient(rareOfClient, clients, there)] : [],
    ...rare.chance(rareness) ? [situations.draw(rare, rare.pick(situations.aims), there)] : [],
    ...declared.chance(rarenessOfDeclaration) ? [situations.drawOfDeclaration(declared, clients, there)] : []
  ]
  return {
    seed,
    runner: dice.stream("runner").pick(runnerNames),
    calmAtMs,
    servers: list(servers, (index) => drawClock(dice.stream(`server ${index}`))),
    clients: [
      ...list(clients, (index) => drawClient(dice.stream(`client ${index}`), calmAtMs)),
      ...brought.map(({ call, library, times = 1 }) => ({
        owner: "zoe",
        snoops: false,
        library,
        calls: list(times, (index) => ({ ...call, atMs: call.atMs + index * betweenMs }))
      }))
    ],
    troubles: [
      ...list(dice.between(0, 6) * size, (index) => drawTrouble(dice.stream(`trouble ${index}`), there)),
      ...brought.flatMap(({ troubles }) => troubles)
    ],
    rates: drawRates(dice.stream("rates")),
    maxTurn: Math.min(dice.pick([8, 64, 2048]), ...brought.map(({ maxTurn = Infinity }) => maxTurn)),
    isSteady: false
  }
}
