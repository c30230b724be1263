/**
 * What an auditor knows of one task.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { Process } from "./Process.ts"

/**
 * A state of a task in the store; `undefined` is none.
 *
 * @since 0.1.0
 */
export interface Version {
  readonly stored: Task.Stored | undefined
  /** Which change of the store made it. */
  readonly seq: number
  readonly atMs: number
}

/**
 * An attempt, by the change that began it.
 *
 * @since 0.1.0
 */
export interface Claim {
  readonly process: Process
  /** Whether it took effect after its process had died: what was sent to a database may arrive late. */
  readonly isPosthumous: boolean
  /** The steps that were remembered by then. */
  readonly journal: ReadonlyArray<string>
}

/**
 * One run of a handler.
 *
 * @since 0.1.0
 */
export interface HandlerRun {
  readonly attempt: number
  readonly process: Process
  /** The questions that it waits for, each as often as it does. */
  readonly waits: Array<string>
  /** When it began, if its task had been lost twice in a row by then: it is on trial. */
  triedFromMs: number | undefined
  /** Until when it goes on whatever anybody wishes, in milliseconds of the world. */
  stubbornUntilMs: number
  /** How it means to end: `ok` with what it returns, or one of the other ends of a script. */
  means: string
  endedAtMs: number | undefined
  /** When it last gave up waiting for an answer. */
  gaveUpAtMs: number | undefined
}

/**
 * The questions of a task that its tool calls by a key. One that was given up is asked again under a key of its own.
 *
 * @since 0.1.0
 */
export const asked = (task: Task.Task, key: string): ReadonlyArray<Task.Question> =>
  task.questions.filter((question) => question.key === key || question.key.startsWith(`${key}#`))

/**
 * A run that has just begun. A handler that never says how it means to end dies.
 *
 * @since 0.1.0
 */
export const openRun = (attempt: number, process: Process): HandlerRun => ({
  attempt,
  process,
  waits: [],
  triedFromMs: undefined,
  stubbornUntilMs: 0,
  means: "die",
  endedAtMs: undefined,
  gaveUpAtMs: undefined
})

/**
 * What an auditor knows of one task.
 *
 * @since 0.1.0
 */
export class TaskFile {
  readonly taskId: string
  /** How the history calls it. */
  readonly name: string
  readonly versions: Array<Version> = []
  readonly claims = new Map<number, Claim>()
  readonly runs: Array<HandlerRun> = []
  /** The questions that each attempt was told it may wait for. */
  readonly waits = new Map<number, ReadonlyArray<string>>()
  /** Whether a client was told that the task exists. */
  isAcknowledged = false
  /** Whether its client has ever asked to cancel it. */
  isCancelSent = false

  constructor(taskId: string, number: number) {
    this.taskId = taskId
    this.name = `task ${number}`
  }

  /** The task as it is in the store. */
  get now(): Task.Task | undefined {
    return this.versions.at(-1)?.stored?.task
  }

  /** The task as it is, or was when it was last in the store. */
  get last(): Task.Task | undefined {
    return this.versions.findLast(({ stored }) => stored !== undefined)?.stored?.task
  }

  /** Hears that an attempt may wait for the answer to a question. */
  mayWait(attempt: number, key: string): void {
    this.waits.set(attempt, [...this.waits.get(attempt) ?? [], key])
  }

  /** What it was at any time since so many changes of the store had been made. */
  since(seq: number): ReadonlyArray<Version> {
    const first = this.versions.findLastIndex((version) => version.seq <= seq)
    return this.versions.slice(Math.max(0, first))
  }
}
