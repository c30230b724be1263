/**
 * Situations that chance alone hardly ever brings about: a call, and what goes wrong around it, timed so that a rare
 * transition of the machine is near, or what the client library hardly ever has to bear. Whether it comes is still left
 * to chance.
 *
 * @since 0.2.0
 */
import type { Dice } from "./Dice.ts"
import type { Call, LibraryPlan, Trouble } from "./Scenario.ts"

/**
 * A situation.
 *
 * @since 0.2.0
 */
export interface Situation {
  /** How its client calls, where that is through the client library. */
  readonly library?: LibraryPlan | undefined
  readonly call: Call
  /** How often it is made, each a little after the last; once unless given. */
  readonly times?: number | undefined
  /** After how many operations fibers are cut at the latest, where that matters. */
  readonly maxTurn?: number | undefined
  readonly troubles: ReadonlyArray<Trouble>
}

type Draw = (dice: Dice, atMs: number, servers: ReadonlyArray<number>) => Situation

/** Nobody looks at a task that was to stop until its life is over: whoever takes it up then can only fail it. */
const foundTooLate: Draw = (dice, atMs, servers) => ({
  call: { atMs, tool: "brief", script: "stubborn 4000; end ok", manner: "right", cancelAfterMs: dice.between(0, 500) },
  troubles: servers.map((server) => ({
    kind: "crash",
    atMs: atMs + dice.between(1_000, 3_000),
    server,
    forMs: dice.between(12_000, 16_000)
  }))
})

/** A handler that has not heard that it is to stop asks for a longer life. */
const wantsMore: Draw = (dice, atMs) => ({
  call: {
    atMs,
    tool: "resumable",
    script: `sleep ${dice.between(1_000, 3_000)}; extend 120000; sleep 1000; end ok`,
    manner: "right",
    cancelAfterMs: dice.between(0, 1_500)
  },
  troubles: [{ kind: "silence", atMs, forMs: 8_000 }]
})

/** Of two questions one is answered while nobody has the task. */
const answeredInPart: Draw = (dice, atMs, servers) => {
  const manner = dice.pick(["right", "late"] as const)
  const isLate = manner === "late"
  const shutdown = (server: number): Trouble => ({
    kind: "shutdown",
    atMs: atMs + dice.between(400, isLate ? 8_000 : 1_200),
    server,
    forMs: isLate ? 45_000 : 4_000
  })
  return {
    call: { atMs, tool: "resumable", script: "asks a b; end ok", manner },
    // One server stays, to take the answers.
    troubles: servers.slice(1).map(shutdown)
  }
}

/** A handler that has not heard that it is to stop is interrupted, since its server goes away. */
const leavesUnaware: Draw = (dice, atMs, servers) => ({
  call: {
    atMs,
    tool: "resumable",
    script: "sleep 8000; end ok",
    manner: "right",
    cancelAfterMs: dice.between(300, 1_200)
  },
  troubles: [
    { kind: "silence", atMs, forMs: 8_000 },
    ...servers.map((server) => ({
      kind: "shutdown",
      atMs: atMs + dice.between(1_400, 3_000),
      server,
      forMs: 2_000
    } as const))
  ]
})

/** A task waits for its user when its server goes away, and nobody has it when it is cancelled, or its life ends. */
const leftParked = (tool: "resumable" | "brief", cancelAfterMs: number | undefined): Draw => (dice, atMs, servers) => ({
  call: { atMs, tool, script: "ask a; end ok", manner: "never", cancelAfterMs },
  troubles: servers.slice(1).map((server) => ({
    kind: "shutdown",
    atMs: atMs + dice.between(300, 1_200),
    server,
    forMs: 18_000
  }))
})

/** The situations, by the transition that each of them is for. */
const situations = {
  "cancelling Start failed": foundTooLate,
  "cancelling Extend cancelling": wantsMore,
  "cancelling Release cancelled": leavesUnaware,
  "unattended Answer unattended": answeredInPart,
  "unattended Cancel cancelled": leftParked("resumable", 2_000),
  "unattended Expire failed": leftParked("brief", undefined)
} as const satisfies Readonly<Record<string, Draw>>

/** How the client of a situation calls: through the library, and with little patience. */
const library: LibraryPlan = { aheadMs: 0, pace: 1, patienceMs: 20_000 }

/** Nothing comes through between a client and any server. */
const cutOff = ({ client, servers }: There, atMs: number, forMs: number): ReadonlyArray<Trouble> =>
  servers.map((server) => ({ kind: "partition", client, server, atMs, forMs }))

/** The number of a client, and those of the servers. */
interface There {
  readonly client: number
  readonly servers: ReadonlyArray<number>
}

type DrawOfClient = (dice: Dice, atMs: number, there: There) => Situation

/** A client's clock is set forward while it bears that no server takes its answer. */
const clockSetInPatience: DrawOfClient = (dice, atMs, there) => ({
  library,
  call: { atMs, tool: "resumable", script: "ask a; end ok", manner: "right", answerAfterMs: 2_000 },
  troubles: [
    ...cutOff(there, atMs + 1_500, 14_000),
    {
      kind: "client-jump",
      atMs: atMs + dice.between(8_500, 12_500),
      client: there.client,
      byMs: dice.between(20_000, 60_000)
    }
  ]
})

/** A client dies when its user has answered, and no server has heard of it. */
const answeredAndDied: DrawOfClient = (dice, atMs, there) => ({
  library,
  call: {
    atMs,
    tool: "resumable",
    script: "ask a; end ok",
    manner: "right",
    answerAfterMs: dice.between(1_500, 3_000)
  },
  troubles: [
    ...cutOff(there, atMs + 1_500, dice.between(5_000, 8_000)),
    {
      kind: "client-crash",
      atMs: atMs + dice.between(4_500, 7_000),
      client: there.client,
      forMs: dice.between(200, 4_000)
    }
  ]
})

/** A caller leaves before the id of its task is there, and the task is to go on. */
const leftBeforeItsId: DrawOfClient = (dice, atMs) => ({
  library,
  call: {
    atMs,
    tool: "quick",
    script: "sleep 4000; end ok",
    manner: "right",
    giveUpAfterMs: dice.between(300, 900)
  },
  troubles: []
})

/** No server reaches its store for longer than a client bears it. */
const storeAwayTooLong: DrawOfClient = (dice, atMs) => ({
  library: { ...library, patienceMs: 8_000 },
  call: { atMs, tool: "resumable", script: "sleep 25000; end ok", manner: "right" },
  troubles: [{ kind: "outage", atMs: atMs + dice.between(500, 2_000), forMs: 15_000 }]
})

/** Handlers end that have left something behind which waits, and is answered in the moment of their end. */
const endedWithAWait: DrawOfClient = (_, atMs) => ({
  call: { atMs, tool: "resumable", script: "detach a; detach b; detach c; sleep 3000; end ok", manner: "right" },
  times: 18,
  maxTurn: 8,
  troubles: [{ kind: "silence", atMs, forMs: 15_000 }]
})

const ofClients = [
  clockSetInPatience,
  answeredAndDied,
  leftBeforeItsId,
  storeAwayTooLong,
  endedWithAWait
] as const

/** A client without the tasks extension calls a tool that would be a task, and tries what is for others. */
const withoutTasks: DrawOfClient = (dice, atMs) => ({
  call: {
    atMs,
    tool: dice.pick(["resumable", "quick", "once"]),
    script: dice.pick(["sleep 500; end ok", "ask a; end ok", "end error"]),
    manner: "right",
    lacks: "tasks"
  },
  times: 2,
  troubles: []
})

/** A tool asks whoever cannot be asked. */
const withoutElicitation: DrawOfClient = (dice, atMs) => ({
  call: {
    atMs,
    tool: dice.pick(["resumable", "quick"]),
    script: "sleep 100; ask a; end ok",
    manner: "right",
    lacks: "elicitation"
  },
  troubles: []
})

/** Polls fail for a while of a task that is to be polled less often than what fails is repeated. */
const polledInVain: DrawOfClient = (dice, atMs) => ({
  library,
  call: { atMs, tool: "slow", script: "sleep 12000; end ok", manner: "right" },
  troubles: [{ kind: "outage", atMs: atMs + dice.between(500, 3_000), forMs: dice.between(4_000, 8_000) }]
})

const ofDeclarations = [withoutTasks, withoutElicitation, polledInVain] as const

/** How long a situation lasts. */
const lastsMs = 20_000

/**
 * The transition that a situation is for.
 *
 * @since 0.2.0
 */
export type Aim = keyof typeof situations

/**
 * The transitions that there is a situation for.
 *
 * @since 0.2.0
 */
export const aims: readonly [Aim, ...ReadonlyArray<Aim>] = [
  "cancelling Start failed",
  "cancelling Extend cancelling",
  "cancelling Release cancelled",
  "unattended Answer unattended",
  "unattended Cancel cancelled",
  "unattended Expire failed"
]

const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, index) => index)

/** Draws when a situation begins that is over before the world calms down. */
const drawBegin = (dice: Dice, { calmAtMs }: { readonly calmAtMs: number }): number =>
  dice.between(0, Math.max(0, calmAtMs - lastsMs))

/**
 * Draws a situation of a client that is so numbered.
 *
 * @since 0.2.0
 */
export const drawOfClient = (
  dice: Dice,
  client: number,
  world: { readonly calmAtMs: number; readonly servers: number }
): Situation => dice.pick(ofClients)(dice, drawBegin(dice, world), { client, servers: numbers(world.servers) })

/**
 * Draws a situation that what a client or a tool declares makes special.
 *
 * @since 0.2.0
 */
export const drawOfDeclaration = (
  dice: Dice,
  client: number,
  world: { readonly calmAtMs: number; readonly servers: number }
): Situation => dice.pick(ofDeclarations)(dice, drawBegin(dice, world), { client, servers: numbers(world.servers) })

/**
 * Draws a situation for a world that calms down at a time and has so many servers.
 *
 * @since 0.2.0
 */
export const draw = (
  dice: Dice,
  aim: Aim,
  world: { readonly calmAtMs: number; readonly servers: number }
): Situation => situations[aim](dice, drawBegin(dice, world), numbers(world.servers))
