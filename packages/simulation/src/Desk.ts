/**
 * What an auditor knows of the handlers that run in one process: how many are at work, and for how long there has been
 * no room for more.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import type { Process } from "./Process.ts"
import type { HandlerRun, TaskFile } from "./TaskFile.ts"

/**
 * What a runner promises of the processes that it runs in.
 *
 * @since 0.1.0
 */
export interface Room {
  /** How many handlers may be at work. */
  readonly slots: number
  /** How long they may go on when their process goes away, in milliseconds. */
  readonly graceMs: number
}

/**
 * Whether a task is still that of an attempt, and is to go on.
 *
 * @since 0.2.0
 */
export const isWanted = ({ now: task }: TaskFile, attempt: number): boolean =>
  task !== undefined && !TaskInvariants.hasEnded(task) && task.attempt === attempt && task.running &&
  !(task.status === "working" && task.cancelRequested)

/** For how long a task is tried that was lost twice in a row; a clock that goes fast takes some of it. */
const trialMs = 50_000

const isTried = (task: Task.Task | undefined): boolean =>
  task !== undefined && !TaskInvariants.hasEnded(task) && task.lostAttempts >= 2

/** How much of its time of grace a clock that is wrong may take from a handler, in milliseconds. */
const slackMs = 100

/**
 * What an auditor knows of the handlers of one process.
 *
 * @since 0.1.0
 */
export class Desk {
  readonly process: Process
  private readonly room: Room
  private readonly runs: Array<{ readonly run: HandlerRun; readonly file: TaskFile }> = []
  private fullAtMs = Number.NEGATIVE_INFINITY

  constructor(process: Process, room: Room) {
    this.process = process
    this.room = room
  }

  /** Takes note that a handler begins; says so when it is tried beside another one. */
  open(run: HandlerRun, file: TaskFile): string | undefined {
    const { now } = this.process.world
    const other = isTried(file.now)
      ? this.working.find(({ file, run }) => isTried(file.now) && now - (run.triedFromMs ?? -Infinity) < trialMs)
      : undefined
    if (isTried(file.now)) run.triedFromMs = now
    this.runs.push({ run, file })
    return other === undefined ? undefined : `${file.name} and ${other.file.name} in ${this.process.name}`
  }

  /** The handlers that are at work: those that wait for an answer, or are to end, are not. */
  private get working() {
    return this.runs.filter(({ file, run }) =>
      run.endedAtMs === undefined && run.waits.length === 0 && isWanted(file, run.attempt)
    )
  }

  private get atWork(): number {
    return this.working.length
  }

  /** Looks how many are at work; says so when they are too many. */
  look(): string | undefined {
    const { atWork } = this
    if (atWork >= this.room.slots) this.fullAtMs = this.process.world.now
    return atWork > this.room.slots && this.process.leavesAtMs === undefined
      ? `${atWork} handlers are at work in ${this.process.name}`
      : undefined
  }

  /** Whether there was room for one more at any time in the last so many milliseconds. */
  hasHadRoom(forMs: number): boolean {
    return this.process.world.now - this.fullAtMs > forMs && this.atWork < this.room.slots
  }

  /** Whether a handler that was interrupted just now should have had more time. */
  isHasty(run: HandlerRun, file: TaskFile): boolean {
    const { leavesAtMs, world: { now } } = this.process
    if (leavesAtMs === undefined || now > leavesAtMs + this.room.graceMs - slackMs) return false
    // One that gave up a question since then was waiting for its answer: such handlers go at once, and it may have
    // taken its time to do so.
    const waited = run.waits.length > 0 || (run.gaveUpAtMs ?? -Infinity) >= leavesAtMs
    return !waited && run.means !== "interrupt" && isWanted(file, run.attempt)
  }
}
