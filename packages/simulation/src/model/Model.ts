/**
 * The small model that `npm run modelcheck` explores: one task, one client, two processes with a worker each, one
 * store, and each fault once.
 *
 * What a task may become is decided by the real `TaskMachine`; the model only says who reads and writes when. A write
 * is a compare-and-set on what was read, and everybody else may come between the two. A request that is served, a
 * claim, and what a worker holds are no more than "was read, and is still so" or "was read, and is old by now": what
 * is old is read again before anything comes of it.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"

/**
 * What can go wrong, each at most once.
 *
 * @since 0.1.0
 */
export const faults = [
  "crash",
  "shutdown",
  "lease lost",
  "clock step",
  "store reply lost",
  "client reply lost",
  "signal lost"
] as const

/**
 * What can go wrong.
 *
 * @since 0.1.0
 */
export type Fault = (typeof faults)[number]

/**
 * What the model can be built without, to see that it is missed.
 *
 * @since 0.1.0
 */
export const flaws = {
  "no compare-and-set": "a write replaces whatever there is",
  "no fencing": "a worker writes whoever has the task",
  "any attempt may follow": "a claim does not say which attempt it follows, and does not compare versions",
  "acknowledged first": "an answer or a cancel is acknowledged before it is written",
  "created in memory": "a task is acknowledged before it is stored",
  "journal ignored": "a handler that runs again does everything again",
  "signals trusted": "there is no heartbeat",
  "nobody scans": "what was never offered is not looked for",
  "death unnoticed": "whoever has a task is believed to be alive",
  "forgets itself": "a worker whose claim was not answered claims anew, and loses the attempt that it has",
  "removed on sight": "the sweeper removes a task that has not ended"
} as const

/**
 * What the model can be built without.
 *
 * @since 0.1.0
 */
export type Flaw = keyof typeof flaws

/**
 * What is explored.
 *
 * @since 0.1.0
 */
export interface Configuration {
  /** What the handler does before it completes its task. */
  readonly script: ReadonlyArray<"step" | "report" | "ask">
  readonly recovery: Task.Recovery
  /** Whether the client may cancel, at any time. */
  readonly cancels: boolean
  /** What may go wrong, each of them once. */
  readonly faults: ReadonlyArray<Fault>
  /**
   * Whether what was read is written before anybody else comes between. A compare-and-set on what is old by then does
   * nothing but read again, so this leaves out no history that matters where the store compares; and it is small enough
   * for all faults in one history.
   */
  readonly isCoarse: boolean
  /** How many of them may go wrong in one history. */
  readonly maxFaults: number
  readonly flaw?: Flaw | undefined
}

/**
 * What was read of the record: its number, or 0 when it is old by now.
 *
 * @since 0.1.0
 */
export type Held = number

/**
 * What a worker does.
 *
 * @since 0.1.0
 */
export interface Worker {
  readonly at: "idle" | "claims" | "runs" | "stops" | "releases"
  readonly held: Held
  /** Its attempt; where it claims, the one that it is to follow. */
  readonly attempt: number
  /** How much of its script the handler has done. */
  readonly done: number
  /** Whether it waits for an answer. */
  readonly isParked: boolean
}

/**
 * A process, which serves requests and has a worker.
 *
 * @since 0.1.0
 */
export interface Process {
  readonly isUp: boolean
  /** How often it was started again. */
  readonly starts: number
  /** How far its clock is ahead, in milliseconds. */
  readonly aheadMs: number
  /** Whether a signal has come that its worker has not followed yet. */
  readonly isWoken: boolean
  readonly worker: Worker
}

/**
 * A request of the client that changes the task. One without an answer is sent again.
 *
 * @since 0.1.0
 */
export interface Request {
  readonly at: "unsent" | "served" | "acknowledged" | "refused"
  /** Which process serves it. */
  readonly by: number
  readonly held: Held
}

/**
 * What happened and what is under way.
 *
 * @since 0.1.0
 */
export interface State {
  /** The number of what is stored; 0 is nothing. */
  readonly record: number
  readonly wasRemoved: boolean
  /** Milliseconds since the beginning; the clocks of processes may be ahead or behind. */
  readonly now: number
  readonly processes: readonly [Process, Process]
  /** Which process is believed to be dead by the other one, though it is not; -1 is none. */
  readonly suspect: number
  /** Whether the queue has an entry of the task. */
  readonly isOffered: boolean
  readonly create: "unsent" | "acknowledged" | "unanswered"
  /** Whether the client was shown the question. */
  readonly knows: boolean
  readonly hasSeenEnd: boolean
  readonly answer: Request
  readonly cancel: Request
  /** What the sweeper has read at an instant, and is about to expire or to remove. */
  readonly sweep: { readonly by: number; readonly held: Held; readonly at: number }
  /** Which faults have happened: a bit for each. */
  readonly faults: number
}

/**
 * Something that can happen in a state.
 *
 * @since 0.1.0
 */
export interface Move {
  readonly label: string
  readonly state: State
  /** Whether it needs neither a fault nor the passing of time. */
  readonly isProgress: boolean
  /** What is broken by it. */
  readonly breaches: ReadonlyArray<string>
}

/**
 * A worker that has nothing to do.
 *
 * @since 0.1.0
 */
export const idle: Worker = { at: "idle", held: 0, attempt: 0, done: 0, isParked: false }

/**
 * A request that was not sent, or not answered.
 *
 * @since 0.1.0
 */
export const unsent: Request = { at: "unsent", by: -1, held: 0 }

/**
 * Nothing that the sweeper is about to do.
 *
 * @since 0.1.0
 */
export const noSweep: State["sweep"] = { by: -1, held: 0, at: 0 }

const fresh: Process = { isUp: true, starts: 0, aheadMs: 0, isWoken: false, worker: idle }

/**
 * Before anything has happened.
 *
 * @since 0.1.0
 */
export const initial: State = {
  record: 0,
  wasRemoved: false,
  now: 0,
  processes: [fresh, fresh],
  suspect: -1,
  isOffered: false,
  create: "unsent",
  knows: false,
  hasSeenEnd: false,
  answer: unsent,
  cancel: unsent,
  sweep: noSweep,
  faults: 0
}

const ofWorker = ({ at, attempt, done, held, isParked }: Worker): string =>
  at === "idle" ? "" : `${at[0]}${at[1]}${held}.${attempt}.${done}${isParked ? "p" : ""}`

const ofProcess = ({ aheadMs, isUp, isWoken, starts, worker }: Process): string =>
  `${isUp ? "" : "-"}${starts}.${aheadMs}${isWoken ? "!" : ""}${ofWorker(worker)}`

const ofRequest = ({ at, by, held }: Request): string => at === "served" ? `${by}.${held}` : at[0] ?? ""

/**
 * A text that is equal for equal states.
 *
 * @since 0.1.0
 */
export const key = (state: State): string => {
  const { answer, cancel, create, faults, now, processes, record, suspect, sweep } = state
  const flags = Number(state.wasRemoved) + 2 * Number(state.isOffered) + 4 * Number(state.knows) +
    8 * Number(state.hasSeenEnd)
  return `${record},${now},${ofProcess(processes[0])},${ofProcess(processes[1])},${suspect},${create[2]},${flags},` +
    `${ofRequest(answer)},${ofRequest(cancel)},${sweep.by}.${sweep.held}.${sweep.at},${faults}`
}

/**
 * The state with one process changed.
 *
 * @since 0.1.0
 */
export const withProcess = (state: State, index: number, change: Partial<Process>): State => {
  const [first, second] = state.processes
  return {
    ...state,
    processes: index === 0 ? [{ ...first, ...change }, second] : [first, { ...second, ...change }]
  }
}

/**
 * The state with one worker changed.
 *
 * @since 0.1.0
 */
export const withWorker = (state: State, index: number, worker: Worker): State => withProcess(state, index, { worker })

/**
 * The processes that are up.
 *
 * @since 0.1.0
 */
export const up = ({ processes }: State): ReadonlyArray<number> => [0, 1].filter((index) => processes[index]?.isUp)

/** Whether the processes have done nothing yet that tells one from the other. */
const areAlike = ({ answer, cancel, processes, suspect, sweep }: State): boolean => {
  const [first, second] = processes
  return suspect < 0 && answer.by < 0 && cancel.by < 0 && sweep.by < 0 && ofProcess(first) === ofProcess(second)
}

/**
 * The processes that are up, one for both as long as they are alike and no task names one of them: what the other could
 * do is the same again.
 *
 * @since 0.1.0
 */
export const movers = (state: State, worker: string | undefined): ReadonlyArray<number> =>
  worker === undefined && areAlike(state) ? up(state).slice(0, 1) : up(state)

/**
 * The name that a process gives its worker.
 *
 * @since 0.1.0
 */
export const nameOf = ({ processes }: State, index: number): string =>
  `${index === 0 ? "a" : "b"}${processes[index]?.starts}`

/**
 * What the clock of a process shows.
 *
 * @since 0.1.0
 */
export const clockOf = ({ now, processes }: State, index: number): number => now + (processes[index]?.aheadMs ?? 0)
