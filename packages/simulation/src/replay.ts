/**
 * Which command leads from one state of a task to another, if any does.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as TaskTransition from "@effect-mcp-tasks/core/TaskTransition"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"

const unasked: Task.InputRequest = { method: "elicitation/create" }

/** The commands that could lead from one state to another at an instant. */
const candidates = (before: Task.Task, after: Task.Task, at: number): ReadonlyArray<TaskCommand> => {
  const { attempt } = before
  const worker = { at, attempt }
  const started = after.worker === undefined ? { at } : { at, worker: after.worker }
  const changed = after.questions.filter((question, index) => question.state !== before.questions[index]?.state)
  const responses = changed.flatMap((question) =>
    question.state === "answered" ? [{ key: question.key, response: question.response }] : []
  )
  return [
    // A question that ends its task leaves no trace of itself.
    ...after.status === "cancelled" ? [{ _tag: "Ask", ...worker, key: " ", request: unasked } as const] : [],
    { _tag: "Start", ...started },
    ...after.statusMessage === undefined ? [] : [{ _tag: "Report", ...worker, message: after.statusMessage } as const],
    // One that was open already is asked again by a handler that runs again.
    ...[...changed, ...Task.outstanding(before)].map(({ key, request }) =>
      ({ _tag: "Ask", ...worker, key, request } as const)
    ),
    ...changed.map(({ key }) => ({ _tag: "Withdraw", ...worker, key } as const)),
    { _tag: "Answer", at, responses },
    ...after.steps.slice(before.steps.length).map((step) => ({ _tag: "RecordStep", ...worker, ...step } as const)),
    ...after.ttlMs === null ? [] : [{ _tag: "Extend", ...worker, ttlMs: after.createdAt + after.ttlMs - at } as const],
    ...after.status === "completed"
      ? [{ _tag: "Complete", ...worker, result: after.result, isError: after.isError } as const]
      : [],
    ...after.status === "failed" ? [{ _tag: "Fail", ...worker, error: after.error } as const] : [],
    { _tag: "Stop", ...worker },
    { _tag: "Release", ...worker },
    { _tag: "Cancel", at },
    { _tag: "Expire", at }
  ]
}

/** Most candidates differ in what is quickly compared. */
const isSame = (self: Task.Task, that: Task.Task): boolean =>
  self.status === that.status && self.attempt === that.attempt && self.lastUpdatedAt === that.lastUpdatedAt &&
  Equal.equals(self, that)

/**
 * A step of the machine that leads from one state to another.
 *
 * @since 0.1.0
 */
export interface Transition {
  readonly command: TaskCommand
  /** As the coverage of the transition table names it: phase, command, phase. */
  readonly name: string
}

const nameOf = (before: Task.Task, command: TaskCommand, after: Task.Task): string =>
  `${TaskTransition.phase(before)} ${command._tag} ${TaskTransition.phase(after)}`

/**
 * Those of the commands that lead from one state to another.
 *
 * @since 0.2.0
 */
export const among = (
  commands: ReadonlyArray<TaskCommand>,
  before: Task.Task,
  after: Task.Task
): ReadonlyArray<Transition> =>
  commands.flatMap((command) => {
    const next = TaskMachine.step(before, command)
    return Result.isSuccess(next) && next.success !== before && isSame(next.success, after)
      ? [{ command, name: nameOf(before, command, after) }]
      : []
  })

/**
 * Finds every command that leads from one state to another. The instant is looked for where a command may have been
 * dated: at the times given, and at the last changes.
 *
 * @since 0.1.0
 */
export const find = (before: Task.Task, after: Task.Task, at: ReadonlyArray<number>): ReadonlyArray<Transition> => {
  const instants = new Set([after.lastUpdatedAt, before.lastUpdatedAt, ...at])
  return Array.from(instants).flatMap((instant) => among(candidates(before, after, instant), before, after))
}
