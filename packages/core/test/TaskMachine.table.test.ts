import { after, answered, asked, createdAt, inPhase, question, recorded } from "@effect-mcp-tasks/testing/TaskSpec"
import { request, started, under, withdrawn } from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Task } from "../src/index.ts"
import { TaskCommand, TaskMachine, TaskTransition } from "../src/index.ts"

type Tag = TaskCommand.TaskCommand["_tag"]

const reported = { _tag: "Reported", at: createdAt, message: "half way" } as const

/** The histories that decide between the outcomes of a cell, each to be moved into every phase that can have it. */
const histories: ReadonlyArray<ReadonlyArray<Parameters<typeof TaskMachine.evolve>[1]>> = [
  [],
  [reported],
  [recorded("load")],
  [recorded("load"), recorded("save")],
  [asked("a"), answered("a")],
  [asked("a"), withdrawn("a")],
  [asked("a"), answered("a"), asked("b"), answered("b")],
  [asked("a")],
  [asked("a"), asked("b")],
  [asked("a"), answered("a"), asked("b")],
  [asked("a"), withdrawn("a"), asked("b")],
  [asked("a"), reported],
  [asked("a"), recorded("load")],
  [asked("a"), recorded("load"), recorded("save")]
]

const tasksIn = (phase: TaskTransition.Phase): ReadonlyArray<Task.Task> => {
  const last = ({
    queued: [{ _tag: "Released", at: createdAt }],
    running: [],
    cancelling: [{ _tag: "CancelRequested", at: createdAt }],
    parked: [],
    unattended: [{ _tag: "Released", at: createdAt }],
    completed: [{ _tag: "Completed", at: createdAt, ttlMs: 60_000, result: "{}", isError: false }],
    failed: [{ _tag: "Failed", at: createdAt, ttlMs: 60_000, error: { code: -32603, message: "broken" } }],
    cancelled: [{ _tag: "Cancelled", at: createdAt, ttlMs: 60_000 }]
  } as const)[phase]
  return [inPhase[phase], ...histories.map((history) => after(started, ...history, ...last))]
    .flatMap((task) =>
      TaskTransition.phase(task) === phase
        ? [
          task,
          { ...task, worker: "a" },
          under(task, { recovery: "fail" }),
          under(task, { maxLostAttempts: 0 }),
          { ...task, lostAttempts: 1 },
          { ...task, ttlMs: null }
        ]
        : []
    )
}

const both = [createdAt + 5, createdAt + 60_000]
const timed = <Tag extends "Start" | "Cancel" | "Expire">(_tag: Tag) => both.map((at) => ({ _tag, at }))

/** Several commands of every name: with every key and name that a history knows, and with two attempts. */
const commandsNamed = (tag: Tag): ReadonlyArray<TaskCommand.TaskCommand> => {
  const at = createdAt + 5
  const workers = [1, 0].map((attempt) => ({ at, attempt }))
  switch (tag) {
    case "Start":
      return timed(tag).flatMap((start) => [
        start,
        ...[0, 1].flatMap((after) => ["a", "b"].map((worker) => ({ ...start, after, worker })))
      ])
    case "Cancel":
    case "Expire":
      return timed(tag)
    case "Answer":
      return [["a"], ["b"], ["a", "b"], ["c"], []].map((keys) => ({
        _tag: tag,
        at,
        responses: keys.map((key) => ({ key, response: {} }))
      }))
    case "Report":
      return workers.flatMap((worker) => ["half way", "done"].map((message) => ({ _tag: tag, ...worker, message })))
    case "Ask":
      return workers.flatMap((worker) => [
        ...["a", "b", "c"].map((key) => ({ _tag: tag, ...worker, ...question(key) })),
        { _tag: tag, ...worker, key: "a", request: request("other") }
      ])
    case "Withdraw":
      return workers.flatMap((worker) => ["a", "b"].map((key) => ({ _tag: tag, ...worker, key })))
    case "RecordStep":
      return workers.flatMap((worker) =>
        ["load", "more"].flatMap((name) => [1, 2].map((value) => ({ _tag: tag, ...worker, name, value })))
      )
    case "Extend":
      return workers.flatMap((worker) => [1, 90_000].map((ttlMs) => ({ _tag: tag, ...worker, ttlMs })))
    case "Complete":
      return workers.map((worker) => ({ _tag: tag, ...worker, result: "{}", isError: false }))
    case "Fail":
      return workers.map((worker) => ({ _tag: tag, ...worker, error: { code: -32603, message: "broken" } }))
    case "Stop":
    case "Release":
      return workers.map((worker) => ({ _tag: tag, ...worker }))
  }
}

const outcome = (task: Task.Task, command: TaskCommand.TaskCommand): TaskTransition.Outcome["to"] =>
  Result.match(TaskMachine.step(task, command), {
    onFailure: ({ reason }) => reason,
    onSuccess: (next) => next === task ? "unchanged" : TaskTransition.phase(next)
  })

describe("the transition table", () => {
  it("names every command that there is, in order", () => {
    const tags = TaskCommand.TaskCommand.members.map((member) => member.fields._tag.schema.literal)
    assert.deepStrictEqual(TaskTransition.commands, tags)
  })

  for (const phase of TaskTransition.phases) {
    describe(phase, () => {
      it("is the phase of its tasks", () => assert.strictEqual(TaskTransition.phase(inPhase[phase]), phase))
      for (const tag of TaskTransition.commands) {
        it(`lists all that comes of ${tag}, and no more`, () => {
          const listed = TaskTransition.table[phase][tag].map(({ to }) => to)
          const seen = tasksIn(phase).flatMap((task) => commandsNamed(tag).map((command) => outcome(task, command)))
          assert.deepStrictEqual([...new Set(seen)].toSorted(), listed.toSorted())
        })
      }
    })
  }
})
