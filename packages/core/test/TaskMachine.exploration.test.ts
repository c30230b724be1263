import { assert, describe, it } from "@effect/vitest"
import { TaskMachine, TaskTransition } from "../src/index.ts"
import type { Task, TaskCommand } from "../src/index.ts"
import { checkedStep, checkState } from "./TaskInvariants.ts"
import { newTask, policy, request } from "./TaskSpec.ts"

/** Few instants, relative to the creation: at once, later, back, and after the deadline. */
const instants = [0, 10, 60]
const depth = 9
const floor = 20_000

const response = { action: "accept" }

/** Every command at every instant, from small sets. */
const commands: ReadonlyArray<TaskCommand.TaskCommand> = instants.flatMap((at): ReadonlyArray<TaskCommand.TaskCommand> => [
  { _tag: "Start", at },
  { _tag: "Cancel", at },
  { _tag: "Expire", at },
  ...[["a"], ["b"], ["a", "b"]].map((keys) =>
    ({ _tag: "Answer", at, responses: keys.map((key) => ({ key, response })) } as const)
  ),
  ...[1, 2, 3].flatMap((attempt): ReadonlyArray<TaskCommand.TaskCommand> => [
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

/** Instants do not decide what happens next, but for the deadline and their order: a few of them stand for all. */
const fingerprint = (task: Task.Task): string => {
  const { arguments: _, capabilities: __, lastUpdatedAt, policy: ___, questions, ...rest } = task
  return JSON.stringify({
    ...rest,
    lastUpdatedAt: instants.findLast((instant) => instant <= lastUpdatedAt),
    questions: questions.map(({ key, state }) => [key, state])
  })
}

const explore = (recovery: Task.Recovery) => {
  const seen = new Map<string, Task.Task>()
  const outcomes = new Set<string>()
  let edge: ReadonlyArray<Task.Task> = [
    TaskMachine.create({ ...newTask, at: 0, ttlMs: 50, policy: { ...policy, recovery, resultTtlMs: 20 } })
  ]
  for (let level = 0; level < depth && edge.length > 0; level++) {
    edge = edge.flatMap((task) =>
      commands.flatMap((command) => {
        const next = checkedStep(task, command)
        outcomes.add(`${TaskTransition.phase(task)} ${command._tag} ${outcome(task, next, command)}`)
        if (next === task) return []
        const print = fingerprint(next)
        if (seen.has(print)) return []
        seen.set(print, next)
        checkState(next)
        return [next]
      })
    )
  }
  return { states: seen.size, outcomes }
}

const outcome = (task: Task.Task, next: Task.Task, command: TaskCommand.TaskCommand): string => {
  if (next !== task) return TaskTransition.phase(next)
  const stepped = TaskMachine.step(task, command)
  return stepped._tag === "Failure" ? stepped.failure.reason : "unchanged"
}

describe("the reachable states", () => {
  it("keep every invariant, and show every outcome of the table and no other", () => {
    const [resumed, failed] = [explore("resume"), explore("fail")]
    assert.isAbove(resumed.states + failed.states, floor)
    const listed = TaskTransition.phases.flatMap((phase) =>
      TaskTransition.commands.flatMap((tag) => TaskTransition.table[phase][tag].map(({ to }) => `${phase} ${tag} ${to}`))
    )
    assert.deepStrictEqual([...resumed.outcomes.union(failed.outcomes)].toSorted(), listed.toSorted())
  })
})
