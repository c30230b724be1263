/**
 * What the store of the model holds, numbered, and the real machine between the numbers. Every step is judged once.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import * as Result from "effect/Result"

/**
 * What comes of a command: another record, nothing, or a refusal.
 *
 * @since 0.1.0
 */
export type Decision =
  | { readonly _tag: "Written"; readonly record: number; readonly task: Task.Task; readonly breaches: Breaches }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Refused"; readonly reason: TaskMachine.RejectedReason }

type Breaches = TaskInvariants.Breaches

/** What no handler of the model does, and every task must refuse: another thing under a name that is known. */
const forbidden = (task: Task.Task): ReadonlyArray<TaskCommand> => {
  if (TaskInvariants.hasEnded(task)) return []
  const { attempt, lastUpdatedAt: at, questions, steps } = task
  const request = { method: "elicitation/create", params: { message: "Another?" } } as const
  return [
    ...questions.map(({ key }) => ({ _tag: "Ask", at, attempt, key, request } as const)),
    ...steps.map(({ name }) => ({ _tag: "RecordStep", at, attempt, name, value: "another" } as const))
  ]
}

/** What is broken by that which a task does not refuse though it must. */
const ofForbidden = (task: Task.Task): Breaches =>
  forbidden(task).flatMap((command) => {
    const next = TaskMachine.step(task, command)
    return Result.isFailure(next) ? [] : TaskInvariants.ofStep(task, command, next.success)
  })

/**
 * What the store of the model holds, numbered from 1.
 *
 * @since 0.1.0
 */
export class Records {
  private readonly numbers = new Map<string, number>()
  private readonly kept: Array<Task.Stored> = []
  private readonly decisions = new Map<string, Decision>()

  /** How many different records there have been, whichever of the two workers had them: the two are alike. */
  get size(): number {
    return new Set(this.kept.map(({ task, version }) => JSON.stringify([version, { ...task, worker: undefined }]))).size
  }

  /** What is stored under a number; nothing under 0. */
  get(record: number): Task.Stored | undefined {
    return this.kept[record - 1]
  }

  /** The number of what is to be stored. */
  number(stored: Task.Stored): number {
    const text = JSON.stringify(stored)
    const known = this.numbers.get(text)
    if (known !== undefined) return known
    const number = this.kept.push(stored)
    this.numbers.set(text, number)
    return number
  }

  /** The number of a new task, and what is broken in it. */
  create(task: Task.Task): { readonly record: number; readonly breaches: Breaches } {
    return { record: this.number({ task, version: 1 }), breaches: TaskInvariants.ofState(task) }
  }

  /** What the machine makes of a record by a command, stored over the record that is there. */
  decide(record: number, command: TaskCommand, over: number): Decision {
    const name = `${record} ${over} ${JSON.stringify(command)}`
    const known = this.decisions.get(name)
    if (known !== undefined) return known
    const decision = this.make(record, command, over)
    this.decisions.set(name, decision)
    return decision
  }

  private make(record: number, command: TaskCommand, over: number): Decision {
    const held = this.get(record)
    const replaced = this.get(over)
    if (held === undefined || replaced === undefined) return { _tag: "Refused", reason: "Terminal" }
    const next = TaskMachine.step(held.task, command)
    if (Result.isFailure(next)) return { _tag: "Refused", reason: next.failure.reason }
    const task = next.success
    if (task === held.task) return { _tag: "Nothing" }
    return {
      _tag: "Written",
      record: this.number({ task, version: replaced.version + 1 }),
      task,
      breaches: [...TaskInvariants.ofStep(replaced.task, command, task), ...ofForbidden(task)]
    }
  }
}
