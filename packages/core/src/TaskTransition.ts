/**
 * The transition table of the task machine as data: for every phase and command, all that can come of it.
 *
 * The table is total by type, the tests visit every cell of it and reach every outcome in it, and the document on the
 * state machine is made from it. It describes `TaskMachine`; it decides nothing.
 *
 * A phase refines a status by what a worker is doing, which the wire does not show.
 *
 * @since 0.1.0
 */
import type { Task } from "./Task.ts"
import type { TaskCommand } from "./TaskCommand.ts"
import type { RejectedReason } from "./TaskMachine.ts"

/**
 * A status together with what a worker is doing.
 *
 * **Details**
 *
 * - `queued`: `working`, and no worker has it.
 * - `running`: `working`, and a worker runs its handler.
 * - `cancelling`: as `running`, and the client has asked to stop.
 * - `parked`: `input_required`, and a worker waits for the answer.
 * - `unattended`: `input_required`, and no worker has it.
 *
 * @category models
 * @since 0.1.0
 */
export type Phase =
  | "queued"
  | "running"
  | "cancelling"
  | "parked"
  | "unattended"
  | "completed"
  | "failed"
  | "cancelled"

/**
 * One thing that can come of a command: another phase, or the same one with something changed in it; nothing; or a
 * refusal. A cell holds one outcome for each `to`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly when: string
  readonly to: Phase | RejectedReason | "unchanged"
}

/**
 * All that can come of one command, in the order in which its conditions are tested.
 *
 * @category models
 * @since 0.1.0
 */
export type Cell = readonly [Outcome, ...ReadonlyArray<Outcome>]

/**
 * A cell for every command.
 *
 * @category models
 * @since 0.1.0
 */
export type Row = { readonly [Tag in TaskCommand["_tag"]]: Cell }

/**
 * The phases, live ones first.
 *
 * @category constants
 * @since 0.1.0
 */
export const phases: ReadonlyArray<Phase> = [
  "queued",
  "running",
  "cancelling",
  "parked",
  "unattended",
  "completed",
  "failed",
  "cancelled"
]

/**
 * The commands, in the order of `TaskCommand`.
 *
 * @category constants
 * @since 0.1.0
 */
export const commands: ReadonlyArray<TaskCommand["_tag"]> = [
  "Start",
  "Report",
  "Ask",
  "Withdraw",
  "Answer",
  "RecordStep",
  "Extend",
  "Complete",
  "Fail",
  "Stop",
  "Release",
  "Cancel",
  "Expire"
]

/**
 * Tells the phase of a task.
 *
 * @category accessors
 * @since 0.1.0
 */
export const phase = (task: Task): Phase => {
  switch (task.status) {
    case "working":
      if (!task.running) return "queued"
      return task.cancelRequested ? "cancelling" : "running"
    case "input_required":
      return task.running ? "parked" : "unattended"
    default:
      return task.status
  }
}

const on = (when: string, to: Outcome["to"]): Outcome => ({ when, to })
const otherwise = (to: Outcome["to"]): Outcome => on("otherwise", to)
const always = (to: Outcome["to"]): Cell => [on("always", to)]

const due = on("the deadline is reached", "failed")
const stale = on("another attempt", "StaleAttempt")
const expire: Cell = [due, otherwise("NotDue")]
const claimed = on("the same worker, after the same attempt", "unchanged")
const follows = on("it is to follow another attempt", "StaleAttempt")
const recover = on(
  "the deadline is reached, the tool must not be repeated, or too many attempts were lost in a row",
  "failed"
)

/** The commands of a worker that has the task. What it may record changes no phase. */
const attended = (here: Phase) => ({
  Report: [stale, on("the same message", "unchanged"), otherwise(here)],
  Withdraw: [stale, otherwise("unchanged")],
  RecordStep: [
    stale,
    on("the same name and value", "unchanged"),
    on("the same name, another value", "StepReused"),
    on("the journal is full", "TooManySteps"),
    otherwise(here)
  ],
  Extend: [stale, on("it lives as long already", "unchanged"), otherwise(here)],
  Complete: [stale, otherwise("completed")],
  Fail: [stale, otherwise("failed")],
  Stop: [stale, otherwise("failed")],
  Expire: expire
} as const)

const ask = (known: Outcome, to: Phase): Cell => [
  stale,
  on("the key names another request", "KeyReused"),
  on("the key is withdrawn", "KeyWithdrawn"),
  known,
  on("it is new, and no key is left", "TooManyQuestions"),
  otherwise(to)
]

const release = (to: Phase): Cell => [stale, on("the tool must not be repeated", "failed"), otherwise(to)]

/** The commands of a worker, where no worker has the task. */
const vacant = {
  Report: always("StaleAttempt"),
  Ask: always("StaleAttempt"),
  Withdraw: always("StaleAttempt"),
  RecordStep: always("StaleAttempt"),
  Extend: always("StaleAttempt"),
  Complete: always("StaleAttempt"),
  Fail: always("StaleAttempt"),
  Stop: always("StaleAttempt"),
  Release: always("StaleAttempt"),
  Cancel: always("cancelled"),
  Expire: expire
} as const

const terminal: Row = {
  Start: always("Terminal"),
  Report: always("Terminal"),
  Ask: always("Terminal"),
  Withdraw: always("Terminal"),
  Answer: always("unchanged"),
  RecordStep: always("Terminal"),
  Extend: always("Terminal"),
  Complete: always("Terminal"),
  Fail: always("Terminal"),
  Stop: always("Terminal"),
  Release: always("Terminal"),
  Cancel: always("unchanged"),
  Expire: always("Terminal")
}

/**
 * What can come of every command in every phase.
 *
 * @category constants
 * @since 0.1.0
 */
export const table: { readonly [P in Phase]: Row } = {
  queued: { ...vacant, Start: [due, follows, otherwise("running")], Answer: always("unchanged") },
  running: {
    ...attended("running"),
    Start: [recover, claimed, follows, otherwise("running")],
    Ask: ask(on("the key is answered", "unchanged"), "parked"),
    Answer: always("unchanged"),
    Release: release("queued"),
    Cancel: always("cancelling")
  },
  cancelling: {
    ...attended("cancelling"),
    Start: [due, follows, otherwise("cancelled")],
    Ask: ask(on("the key is answered", "unchanged"), "cancelled"),
    Answer: always("unchanged"),
    Stop: [stale, otherwise("cancelled")],
    Release: [stale, otherwise("cancelled")],
    Cancel: always("unchanged")
  },
  parked: {
    ...attended("parked"),
    Start: [recover, claimed, follows, otherwise("parked")],
    Ask: ask(on("the key is answered, or outstanding and no attempt was lost", "unchanged"), "parked"),
    Withdraw: [
      stale,
      on("the key is not outstanding", "unchanged"),
      on("others are outstanding", "parked"),
      otherwise("running")
    ],
    Answer: [
      on("no key of it is outstanding", "unchanged"),
      on("others stay outstanding", "parked"),
      otherwise("running")
    ],
    Release: release("unattended"),
    Cancel: always("cancelled")
  },
  unattended: {
    ...vacant,
    Start: [due, follows, otherwise("parked")],
    Answer: [
      on("no key of it is outstanding", "unchanged"),
      on("others stay outstanding", "unattended"),
      otherwise("queued")
    ]
  },
  completed: terminal,
  failed: terminal,
  cancelled: terminal
}
