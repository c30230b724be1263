import { newTask, policy, request } from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { TaskMachine, TaskTransition } from "../src/index.ts"
import type { Task, TaskCommand } from "../src/index.ts"
import { checkedStep } from "./checkedStep.ts"

/** Few instants, relative to the creation: at once, later, back, and after the deadline. */
const instants = [0, 10, 60]
const depth = 6
const floor = 35_000

const response = { action: "accept" }

/** Every command at every instant, from small sets, of the holder of an attempt and of its predecessor. */
const commandsOf = (current: number): ReadonlyArray<TaskCommand.TaskCommand> =>
  instants.flatMap((at): ReadonlyArray<TaskCommand.TaskCommand> => [
    { _tag: "Start", at, after: current, worker: "me" },
    { _tag: "Start", at, after: current - 1, worker: "me" },
    { _tag: "Start", at, after: current - 1, worker: "other" },
    { _tag: "Cancel", at },
    { _tag: "Expire", at },
    ...[["a"], ["b"], ["b", "a"]].map((keys) =>
      ({ _tag: "Answer", at, responses: keys.map((key) => ({ key, response })) } as const)
    ),
    ...[current, current - 1].flatMap((attempt): ReadonlyArray<TaskCommand.TaskCommand> => [
      { _tag: "Report", at, attempt, message: "half way" },
      ...["a", "b", "c"].flatMap((key) => [
        { _tag: "Ask", at, attempt, key, request: request(key) } as const,
        { _tag: "Withdraw", at, attempt, key } as const
      ]),
      { _tag: "Ask", at, attempt, key: "a", request: request("other") },
      ...["x", "y", "z"].map((name) => ({ _tag: "RecordStep", at, attempt, name, value: 1 } as const)),
      { _tag: "RecordStep", at, attempt, name: "x", value: 2 },
      { _tag: "Extend", at, attempt, ttlMs: 55 },
      { _tag: "Complete", at, attempt, result: "{}", isError: false },
      { _tag: "Fail", at, attempt, error: { code: -32603, message: "broken" } },
      { _tag: "Stop", at, attempt },
      { _tag: "Release", at, attempt }
    ])
  ])

const commands = [0, 1, 2, 3].map(commandsOf)

/** Instants do not decide what happens next, but for the deadline and their order: a few of them stand for all. */
const fingerprint = (task: Task.Task): string => {
  const questions = task.questions.map(({ key, state }) => `${key}${state}`)
  const steps = task.steps.map(({ name }) => name)
  const last = instants.findLast((instant) => instant <= task.lastUpdatedAt)
  const { attempt, lostAttempts, statusMessage, ttlMs, worker } = task
  const rest = [TaskTransition.phase(task), attempt, lostAttempts, ttlMs, last, statusMessage, worker]
  return [...questions, ...steps, ...rest].join()
}

const explore = (recovery: Task.Recovery, depth: number) => {
  const seen = new Set<string>()
  const outcomes = new Set<string>()
  let edge: ReadonlyArray<Task.Task> = [
    TaskMachine.create({ ...newTask, at: 0, ttlMs: 50, policy: { ...policy, recovery, resultTtlMs: 20 } })
  ]
  for (let level = 0; level < depth; level++) {
    edge = edge.flatMap((task) =>
      (commands[task.attempt] ?? []).flatMap((command) => {
        const next = Result.getOrElse(TaskMachine.step(task, command), ({ reason }) => reason)
        const to = typeof next === "string" ? next : next === task ? "unchanged" : TaskTransition.phase(next)
        outcomes.add(`${TaskTransition.phase(task)} ${command._tag} ${to}`)
        if (typeof next === "string" || next === task) return []
        const print = fingerprint(next)
        if (seen.has(print)) return []
        seen.add(print)
        return [checkedStep(task, command)]
      })
    )
  }
  return { states: seen.size, outcomes }
}

describe("the reachable states", () => {
  it("keep every invariant, and show every outcome of the table and no other", () => {
    const [resumed, failed] = [explore("resume", depth), explore("fail", depth)]
    assert.isAbove(resumed.states + failed.states, floor)
    const listed = TaskTransition.phases.flatMap((phase) =>
      TaskTransition.commands.flatMap((tag) =>
        TaskTransition.table[phase][tag].map(({ to }) => `${phase} ${tag} ${to}`)
      )
    )
    assert.deepStrictEqual([...resumed.outcomes.union(failed.outcomes)].toSorted(), listed.toSorted())
  }, 120_000)
})
