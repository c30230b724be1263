/**
 * Generated lives of tasks: commands that are mostly sensible, from few keys, names and attempts, under a clock that
 * mostly goes on but also stands still, jumps and steps back.
 */
import { Arbitrary, Schema } from "effect"
import { TaskMachine } from "../src/index.ts"
import type { Task, TaskCommand } from "../src/index.ts"
import { createdAt, newTask, policy, request } from "./TaskSpec.ts"

/** A command for whoever makes it: which attempt it claims and when it is given depend on the task. */
export interface Move {
  readonly make: (at: number, attempt: number) => TaskCommand.TaskCommand
  readonly clockMs: number
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

const maker = (_tag: TaskCommand.TaskCommand["_tag"], given: Given): Move["make"] => (at, attempt) => {
  const { json, key, name, text } = given
  switch (_tag) {
    case "Start":
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

/** Moves of all kinds. */
export const moves: Arbitrary.Arbitrary<ReadonlyArray<Move>> = Arbitrary.array(
  Arbitrary.all({
    make,
    clockMs: pick(0, 0, 1, 10, 10, 500, -1, -1000, -50_000, 30_000),
    staleBy: pick(0, 0, 0, 0, 0, 0, 1, 2)
  }),
  { maxLength: 40 }
)

/** New tasks under rules of all kinds. */
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

/** Plays moves on a task with a given step; gives back every task on the way. */
export const play = (
  task: Task.Task,
  played: ReadonlyArray<Move>,
  step: (task: Task.Task, command: TaskCommand.TaskCommand) => Task.Task
): ReadonlyArray<Task.Task> => {
  let at = createdAt
  let now = task
  return [
    task,
    ...played.map((move) => {
      at += move.clockMs
      now = step(now, move.make(at, Math.max(0, now.attempt - move.staleBy)))
      return now
    })
  ]
}
