/**
 * What an auditor knows of one call that a user makes through the client library.
 *
 * @since 0.2.0
 */
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Context from "effect/Context"
import type { Answer } from "./clientRules.ts"
import type { Call } from "./Scenario.ts"

/**
 * An answer to a question, as it went out.
 *
 * @since 0.2.0
 */
export interface Given {
  readonly text: string
  /** Whether the server has taken it. */
  isTaken: boolean
}

/**
 * What an auditor knows of one call of the library.
 *
 * @since 0.2.0
 */
export class CallFile {
  readonly name: string
  readonly call: Call
  /** How long the library is to bear failures that pass, in milliseconds. */
  readonly patienceMs: number
  taskId: string | undefined
  /** The answer to `tools/call`, once it was there. */
  direct: Answer | undefined
  /** How often `tools/call` was sent. */
  calls = 0
  cancels = 0
  /** What the user wants of the task besides its result. */
  wish: "cancel" | "leave" | undefined
  /** When its caller was interrupted, in milliseconds of the world. */
  wishMs = Number.POSITIVE_INFINITY
  /** How many processes of its client have gone on with it. */
  lives = 1
  isOver = false
  /** Whether the library was told how the task ended, or that there is none. */
  isEndKnown = false
  /** Whether it was told that there is no such task. */
  isGone = false
  /** The client's clock when it first knew of the task, and the task's latest life time. */
  firstSeenAt = 0
  ttlMs: number | null = null
  pollMs = 1_000
  /** When it last polled, listened, and was told about the task by a poll, in milliseconds of the world. */
  polledMs = Number.NEGATIVE_INFINITY
  listenedMs = Number.NEGATIVE_INFINITY
  seenMs = Number.NEGATIVE_INFINITY
  /** How often it may poll before its time. */
  excuses = 0
  /** Since when requests of a kind have failed without one that went well in between. */
  readonly failingSinceMs = new Map<string, number>()
  readonly answers = new Map<string, Given>()
  /** The questions that its user was asked, with the number of the life. */
  readonly asked = new Map<string, number>()
  lastView: TaskView.TaskView | undefined
  /** The questions that this life of it was shown as open, with when it was shown that they no longer are. */
  readonly shown = new Map<string, number | undefined>()

  constructor(name: string, call: Call, patienceMs: number) {
    this.name = name
    this.call = call
    this.patienceMs = patienceMs
  }
}

/**
 * The call that a fiber of the library works for.
 *
 * @since 0.2.0
 */
export const CurrentCall: Context.Reference<CallFile | undefined> = Context.Reference<CallFile | undefined>(
  "@effect-mcp-tasks/simulation/CurrentCall",
  { defaultValue: () => undefined }
)
