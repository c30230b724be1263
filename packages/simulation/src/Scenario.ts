/**
 * What happens to a simulated world, as data: who calls what, who answers how, and what goes wrong when.
 *
 * A scenario is drawn from a seed, or written as text by a person; either way the same scenario gives the same history.
 * Times are milliseconds of the world.
 *
 * @since 0.1.0
 */
import type { RateName, Rates } from "./Faults.ts"
import type { RunnerName } from "./runners.ts"
import type { toolNames } from "./Tools.ts"

/**
 * How a user answers a question.
 *
 * @since 0.1.0
 */
export type Manner = "right" | "late" | "twice" | "wrong" | "unknown" | "declines" | "never"

/**
 * What a client does not declare that it can do.
 *
 * @since 0.2.0
 */
export type Lack = "tasks" | "elicitation"

/**
 * A call of a tool, and how its client behaves from then on.
 *
 * @since 0.1.0
 */
export interface Call {
  readonly atMs: number
  readonly tool: (typeof toolNames)[number]
  /** What the tool does. */
  readonly script: string
  /** How the user answers whatever is asked. */
  readonly manner: Manner
  /** How long the user takes for each answer; not long unless given. */
  readonly answerAfterMs?: number | undefined
  /** When the user asks the task to stop, after it was created; never unless given. */
  readonly cancelAfterMs?: number | undefined
  /** After how long the client stops asking for the task; not before the end unless given. */
  readonly giveUpAfterMs?: number | undefined
  /** What no request of this call declares, where the client writes them itself; nothing unless given. */
  readonly lacks?: Lack | undefined
}

/**
 * A client, which acts for one owner.
 *
 * @since 0.1.0
 */
export interface ClientPlan {
  readonly owner: string
  /** Whether it also tries the tasks of others. */
  readonly snoops: boolean
  /** Whether it calls through the client library, and how; it writes its requests itself unless given. */
  readonly library?: LibraryPlan | undefined
  readonly calls: ReadonlyArray<Call>
}

/**
 * A clock, of a server or of a client.
 *
 * @since 0.1.0
 */
export interface ClockPlan {
  readonly aheadMs: number
  /** How many milliseconds it counts in one. */
  readonly pace: number
}

/**
 * A server.
 *
 * @since 0.1.0
 */
export interface ServerPlan extends ClockPlan {}

/**
 * The client library in a process of its own.
 *
 * @since 0.2.0
 */
export interface LibraryPlan extends ClockPlan {
  /** How long it bears failures that pass, in milliseconds. */
  readonly patienceMs: number
}

/**
 * Something that goes wrong at a certain time. Servers and clients are counted from 0.
 *
 * @since 0.1.0
 */
export type Trouble =
  | { readonly kind: "crash" | "shutdown"; readonly atMs: number; readonly server: number; readonly forMs: number }
  | { readonly kind: "outage" | "silence"; readonly atMs: number; readonly forMs: number }
  | { readonly kind: "isolation"; readonly atMs: number; readonly server: number; readonly forMs: number }
  | {
    readonly kind: "partition"
    readonly atMs: number
    readonly client: number
    readonly server: number
    readonly forMs: number
  }
  | { readonly kind: "jump"; readonly atMs: number; readonly server: number; readonly byMs: number }
  /** A client with the library dies and comes back, or its clock is set. */
  | { readonly kind: "client-crash"; readonly atMs: number; readonly client: number; readonly forMs: number }
  | { readonly kind: "client-jump"; readonly atMs: number; readonly client: number; readonly byMs: number }
  /** One thing goes wrong with every message. */
  | { readonly kind: "spell"; readonly atMs: number; readonly what: RateName; readonly forMs: number }

/**
 * What happens to a world.
 *
 * @since 0.1.0
 */
export interface Scenario {
  /** Decides everything that the scenario leaves open: latencies, and who goes first. */
  readonly seed: number
  /** What runs handlers: `fiber` for servers that take tasks from each other, `queue` for replicas. */
  readonly runner: RunnerName
  readonly servers: ReadonlyArray<ServerPlan>
  readonly clients: ReadonlyArray<ClientPlan>
  readonly troubles: ReadonlyArray<Trouble>
  readonly rates: Rates
  /** When nothing goes wrong any more. */
  readonly calmAtMs: number
  /** After how many operations a fiber is cut at the latest. */
  readonly maxTurn: number
  /** Whether every message takes as long as every other of its kind, and users do not dally: for telling a story. */
  readonly isSteady: boolean
}
