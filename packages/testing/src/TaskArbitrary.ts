/**
 * Generated tasks, commands and whole lives of tasks: mostly sensible commands, from few keys, names and attempts,
 * under a clock that mostly goes on but also stands still, jumps and steps back.
 *
 * Values are `effect/Arbitrary`: they shrink, and `it.prop` of `@effect/vitest` takes them as they are.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createdAt, newTask, policy, request } from "./TaskSpec.ts"

/**
 * A command for whoever makes it: which attempt it claims, and when it is given, depend on the task.
 *
 * @category models
 * @since 0.1.0
 */
export interface Move {
  readonly make: (at: number, attempt: number) => TaskCommand
  /** How far the clock goes before the command, in milliseconds; negative where it is set back. */
  readonly clockMs: number
  /** How many attempts behind the current one the command claims to be. */
  readonly staleBy: number
}

const pick = <const A>(...items: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(Arbitrary.schema(index(items.length)), (at) => items[at] as A)

const index = (length: number) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: length - 1 }))

const key = pick("a", "b", "1", "__proto__", "beyond")
const name = pick("load", "save", "__proto__", "beyond")
const same = pick(true, true, true, false)
const json = pick<Task.Step["value"]>(1, null, "text", { nested: [true] }, JSON.parse(`{"__proto__":1}`))
const text = Arbitrary.schema(Schema.String)

const make: Arbitrary.Arbitrary<Move["make"]> = Arbitrary.flatMap(
  pick(
    ...["Start", "Start", "Start", "Report", "Ask", "Ask", "Ask", "Withdraw", "Answer", "Answer"] as const,
    ...["RecordStep", "RecordStep", "Extend"] as const,
    ...["Complete", "Fail", "Stop", "Release", "Release", "Cancel", "Expire"] as const
  ),
  (tag) => Arbitrary.map(Arbitrary.all({ key, name, same, json, text, also: key }), (given) => maker(tag, given))
)

interface Given {
  readonly key: string
  readonly also: string
  readonly name: string
  readonly same: boolean
  readonly json: Task.Step["value"]
  readonly text: string
}

const maker = (_tag: TaskCommand["_tag"], given: Given): Move["make"] => (at, attempt) => {
  const { json, key, name, text } = given
  switch (_tag) {
    case "Start":
      return given.same ? { _tag, at, after: attempt, worker: name } : { _tag, at }
    case "Cancel":
    case "Expire":
      return { _tag, at }
    case "Stop":
    case "Release":
      return { _tag, at, attempt }
    case "Report":
      return { _tag, at, attempt, message: text }
    case "Ask":
      return { _tag, at, attempt, key, request: request(given.same ? key : "other") }
    case "Withdraw":
      return { _tag, at, attempt, key }
    case "Answer":
      return { _tag, at, responses: [{ key, response: json }, { key: given.also, response: json }] }
    case "RecordStep":
      return { _tag, at, attempt, name, value: given.same ? name : json }
    case "Extend":
      return { _tag, at, attempt, ttlMs: given.same ? 30_000 : 1 }
    case "Complete":
      return { _tag, at, attempt, result: JSON.stringify({ content: [], text }), isError: given.same }
    case "Fail":
      return { _tag, at, attempt, error: { code: -32000 - text.length, message: text, data: json } }
  }
}

const move: Arbitrary.Arbitrary<Move> = Arbitrary.all({
  make,
  clockMs: pick(0, 0, 1, 10, 10, 500, -1, -1000, -50_000, 30_000),
  staleBy: pick(0, 0, 0, 0, 0, 0, 1, 2)
})

/**
 * Up to 40 moves of all kinds.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const moves: Arbitrary.Arbitrary<ReadonlyArray<Move>> = Arbitrary.array(move, { maxLength: 40 })

/**
 * New tasks under rules of all kinds.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const newTasks: Arbitrary.Arbitrary<Task.Task> = Arbitrary.map(
  Arbitrary.all({
    taskId: Arbitrary.schema(Schema.NonEmptyString),
    recovery: pick("resume", "resume", "fail"),
    maxLostAttempts: pick(0, 1, 2),
    maxQuestions: pick(1, 2, 4),
    resultTtlMs: pick(0, 10_000),
    ttlMs: pick(null, 60_000, 60_000, 1000)
  }),
  ({ taskId, ttlMs, ...rules }) => TaskMachine.create({ ...newTask, taskId, ttlMs, policy: { ...policy, ...rules } })
)

/**
 * Plays moves on a task with a given step; gives back every task on the way, the first one included.
 *
 * @category playing
 * @since 0.1.0
 */
export const play = (
  task: Task.Task,
  played: ReadonlyArray<Move>,
  step: (task: Task.Task, command: TaskCommand) => Task.Task = granted
): ReadonlyArray<Task.Task> => {
  let at = createdAt
  let now = task
  return [
    task,
    ...played.map((move) => {
      at += move.clockMs
      now = step(now, commandOf(now, move, at))
      return now
    })
  ]
}

const granted = (task: Task.Task, command: TaskCommand): Task.Task =>
  Result.getOrElse(TaskMachine.step(task, command), () => task)

const commandOf = (task: Task.Task, { make, staleBy }: Move, at: number): TaskCommand =>
  make(at, Math.max(0, task.attempt - staleBy))

/**
 * Histories: every task on the way of a generated life, from the new one to the last.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const histories: Arbitrary.Arbitrary<ReadonlyArray<Task.Task>> = Arbitrary.map(
  Arbitrary.all({ task: newTasks, moves }),
  ({ moves, task }) => play(task, moves)
)

/**
 * Tasks in every state that commands can bring them to.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const tasks: Arbitrary.Arbitrary<Task.Task> = Arbitrary.map(histories, (history) => history.at(-1) as Task.Task)

/**
 * Commands of all kinds for a task, soon after its last change.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const commands = (task: Task.Task): Arbitrary.Arbitrary<TaskCommand> =>
  Arbitrary.map(move, (move) => commandOf(task, move, task.lastUpdatedAt + move.clockMs))
