import { moves, newTasks, play } from "@effect-mcp-tasks/testing/TaskArbitrary"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { Task, TaskEvent, TaskMachine } from "../src/index.ts"
import { checkedStep, checkState } from "./checkedStep.ts"

const events = Arbitrary.schema(Schema.Array(TaskEvent.TaskEvent))

describe("TaskMachine", () => {
  it.prop("keeps every invariant through every history", [newTasks, moves], ([task, played]) => {
    play(task, played, checkedStep)
  }, { arbitrary: { runs: 1500 } })

  it.prop("plays the same history to the same task, through JSON too", [newTasks, moves], ([task, played]) => {
    const step = (now: Task.Task, command: Parameters<typeof TaskMachine.step>[1]) =>
      Result.getOrElse(TaskMachine.step(now, command), () => now)
    const stored = (now: Task.Task): Task.Task => JSON.parse(JSON.stringify(now))
    const kept = play(task, played, step).at(-1)
    const again = play(task, played, (now, command) => step(stored(now), JSON.parse(JSON.stringify(command)))).at(-1)
    assert.deepStrictEqual(again, kept)
  }, { arbitrary: { runs: 300 } })

  it.prop("acknowledges a claim that is repeated, and only to whoever made it", [newTasks, moves], ([task, played]) => {
    for (const before of play(task, played, checkedStep)) {
      if (Task.isTerminal(before)) return
      const claim = { _tag: "Start", at: before.lastUpdatedAt, after: before.attempt, worker: "claimant" } as const
      const claimed = checkedStep(before, claim)
      if (Task.isTerminal(claimed)) continue
      assert.strictEqual(checkedStep(claimed, claim), claimed)
      const other = TaskMachine.step(claimed, { ...claim, worker: "other" })
      assert.strictEqual(Result.isFailure(other) && other.failure.reason, "StaleAttempt")
    }
  }, { arbitrary: { runs: 500 } })

  it.prop("lets no handler end a process for ever, and whoever waits lose any number", [newTasks, moves], (
    [task, played]
  ) => {
    for (const before of play(task, played, checkedStep)) {
      if (Task.isTerminal(before) || before.policy.recovery === "fail") continue
      const start = { _tag: "Start", at: before.createdAt } as const
      const [question] = Task.outstanding(before)
      const limit = before.policy.maxLostAttempts
      let waits: Task.Task = before
      let dies: Task.Task = before
      for (let crash = 0; crash <= limit + 2; crash++) dies = Task.isTerminal(dies) ? dies : checkedStep(dies, start)
      assert.isTrue(Task.isTerminal(dies), "it is started no more")
      if (question === undefined || before.lostAttempts > 0) continue
      const { key, request } = question
      for (let crash = 0; crash < 10; crash++) {
        const taken = checkedStep(waits, start)
        waits = checkedStep(taken, { _tag: "Ask", at: start.at, attempt: taken.attempt, key, request })
      }
      assert.deepInclude(waits, { status: "input_required", lostAttempts: 0 })
    }
  }, { arbitrary: { runs: 500 } })

  it.prop("applies every event to every task", [newTasks, moves, events], ([task, played, happened]) => {
    const before = play(task, played, checkedStep).at(-1) ?? task
    for (const event of happened) {
      const next = TaskMachine.evolve(before, event)
      if (Task.isTerminal(before)) assert.strictEqual(next, before)
      assert.isAtLeast(next.lastUpdatedAt, before.lastUpdatedAt)
      assert.strictEqual(next.status === "input_required", Task.outstanding(next).length > 0)
    }
    checkState(before)
  }, { arbitrary: { runs: 500 } })
})
