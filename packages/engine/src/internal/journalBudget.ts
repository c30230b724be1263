/**
 * How much a task may remember. Its whole record is written with every change, and read by whoever looks at it: a long
 * journal makes each step slow, for the others in its process too.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { Limits } from "../TaskLimits.ts"

/**
 * What one run of a handler may still add to the journal of its task, in UTF-16 code units of JSON text.
 *
 * @since 0.2.0
 */
export class JournalBudget {
  private readonly worker: { readonly task: Task.Task }
  private readonly limit: number
  private used: number | undefined

  constructor(worker: { readonly task: Task.Task }, limit: number) {
    this.worker = worker
    this.limit = limit
  }

  /** Takes so much of what is left, or nothing where less is left. */
  readonly take = (length: number): boolean => {
    const used = this.known() + length
    if (used > this.limit) return false
    this.used = used
    return true
  }

  /** Why there is nothing left to take. */
  get full(): { readonly reason: string } {
    return { reason: `with it, the task remembers more than ${this.limit} characters (maxJournalLength)` }
  }

  /** Counts what a client has added. */
  readonly count = (value: unknown): void => {
    this.used = this.known() + lengthOf(value)
  }

  /** What earlier runs have left is measured once, when it first matters. */
  private known(): number {
    return this.used ??= remembered(this.worker.task)
  }
}

/**
 * Says in words why a task cannot take an answer; nothing where it can.
 *
 * **Details**
 *
 * It is for the client to answer with less, so the task does not fail by it. What is no longer than a step may be is
 * always taken: a task that has filled its journal itself is not to wait for ever.
 *
 * @since 0.2.0
 */
export const refusal = (
  task: Task.Task,
  responses: ReadonlyArray<{ readonly response: unknown }>,
  { maxEntryLength, maxJournalLength }: Limits
): string | undefined => {
  const length = responses.reduce((sum, { response }) => sum + lengthOf(response), 0)
  return length > maxEntryLength && remembered(task) + length > maxJournalLength
    ? `with it, the task would remember more than ${maxJournalLength} characters (maxJournalLength)`
    : undefined
}

const remembered = ({ questions, steps }: Task.Task): number => lengthOf(steps) + lengthOf(questions)

const lengthOf = (value: unknown): number => JSON.stringify(value)?.length ?? 0
