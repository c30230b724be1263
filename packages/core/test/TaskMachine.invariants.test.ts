import { after, asked, createdAt, inPhase, newTask, question } from "@effect-mcp-tasks/testing/TaskSpec"
import { recorded, request, started, under } from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Task, TaskMachine } from "../src/index.ts"
import type { TaskCommand } from "../src/index.ts"
import { checkedStep } from "./checkedStep.ts"

const at = createdAt + 10
const run = (task: Task.Task, ...commands: ReadonlyArray<TaskCommand.TaskCommand>) => commands.reduce(checkedStep, task)
const answer = (key: string): TaskCommand.TaskCommand => ({
  _tag: "Answer",
  at,
  responses: [{ key, response: { action: "accept" } }]
})
const ask = (key: string, attempt = 1): TaskCommand.TaskCommand => ({ _tag: "Ask", at, attempt, ...question(key) })
const start = { _tag: "Start", at } as const
const cancel = { _tag: "Cancel", at } as const
const complete = (attempt: number) => ({ _tag: "Complete", at, attempt, result: "{}", isError: false } as const)
const reason = (task: Task.Task, command: TaskCommand.TaskCommand) =>
  Result.match(TaskMachine.step(task, command), { onFailure: (refusal) => refusal.reason, onSuccess: () => undefined })

describe("invariant", () => {
  it("1: a terminal state never changes [E13]", () => {
    for (const task of [inPhase.completed, inPhase.failed, inPhase.cancelled]) {
      assert.strictEqual(run(task, answer("name"), cancel), task)
      for (const late of [start, complete(1), ask("more"), { _tag: "Expire", at: createdAt + 1e9 } as const]) {
        assert.strictEqual(reason(task, late), "Terminal")
      }
    }
  })

  it("2: a task is input_required if and only if a question is outstanding [E9, F4]", () => {
    const two = run(inPhase.running, ask("a"), ask("b"))
    const one = run(two, answer("a"))
    const statuses = [two, one, run(one, answer("b"))].map(({ status }) => status)
    assert.deepStrictEqual(statuses, ["input_required", "input_required", "working"])
    assert.deepStrictEqual(Task.outstanding(run(two, complete(1))), [])
  })

  it("3: an input key names one request for the whole life of its task [F1]", () => {
    const task = run(inPhase.running, ask("a"), answer("a"), start)
    assert.strictEqual(run(task, ask("a", 2)), task)
    assert.strictEqual(reason(task, { _tag: "Ask", at, attempt: 2, key: "a", request: request("other") }), "KeyReused")
    const open = run(inPhase.unattended, start)
    assert.strictEqual(run(open, ask("name", 2)), open)
  })

  it("4: lastUpdatedAt never goes back, and moves with every visible change [E8]", () => {
    const task = run(inPhase.running, { _tag: "Report", at, attempt: 1, message: "one" })
    const again = run(task, { _tag: "Report", at: at - 5, attempt: 1, message: "two" })
    assert.deepStrictEqual([task.lastUpdatedAt, again.lastUpdatedAt], [at, at + 1])
    assert.strictEqual(run(again, cancel).lastUpdatedAt, at + 1)
  })

  it("5: two workers can never both write", () => {
    const taken = run(inPhase.running, start)
    assert.strictEqual(taken.attempt, 2)
    assert.strictEqual(reason(taken, complete(1)), "StaleAttempt")
    assert.strictEqual(reason(run(taken, { _tag: "Release", at, attempt: 2 }), complete(2)), "StaleAttempt")
    assert.strictEqual(run(taken, complete(2)).status, "completed")
  })

  it("6: cancelling is cooperative, and the state a handler really ends in wins [G3]", () => {
    assert.strictEqual(run(TaskMachine.create(newTask), cancel).status, "cancelled")
    assert.strictEqual(run(inPhase.parked, cancel).status, "cancelled")
    const asked = run(inPhase.running, cancel)
    assert.strictEqual(asked.status, "working")
    assert.strictEqual(run(asked, complete(1)).status, "completed")
    assert.strictEqual(run(asked, { _tag: "Stop", at, attempt: 1 }).status, "cancelled")
    assert.strictEqual(run(inPhase.running, { _tag: "Release", at, attempt: 1 }).status, "working")
  })

  it("7: the journal only grows", () => {
    const task = run(after(started, recorded("load"), asked("a")), answer("a"), start)
    const journal = run(task, { _tag: "Release", at, attempt: 2 }, start, complete(3))
    assert.deepStrictEqual([journal.steps, journal.questions], [task.steps, task.questions])
    assert.strictEqual(reason(task, { _tag: "RecordStep", at, attempt: 2, name: "load", value: 2 }), "StepReused")
  })

  it("8: a live task that reaches its deadline fails, and its outcome stays readable [E14]", () => {
    const deadline = createdAt + 60_000
    assert.strictEqual(reason(inPhase.parked, { _tag: "Expire", at: deadline - 1 }), "NotDue")
    const expired = run(inPhase.parked, { _tag: "Expire", at: deadline })
    assert.deepStrictEqual([expired.status, Task.deadline(expired)], ["failed", deadline + 10_000])
    const ended = run(inPhase.running, { ...complete(1), at: deadline - 1 })
    assert.strictEqual(Task.deadline(ended), deadline - 1 + 10_000)
  })

  it("9: a task that waits for its client outlives any number of processes", () => {
    let task = under(inPhase.parked, { maxLostAttempts: 0 })
    for (let attempt = 2; attempt < 50; attempt++) task = run(task, start, ask("name", attempt))
    assert.deepStrictEqual([task.status, task.attempt, task.lostAttempts], ["input_required", 49, 0])
  })

  it("9: a handler that gets no further and kills its process fails its task", () => {
    const lives = (task: Task.Task, ...commands: ReadonlyArray<(attempt: number) => TaskCommand.TaskCommand>) => {
      let now = under(task, { maxLostAttempts: 3 })
      // A machine that does not count would go on for ever.
      while (!Task.isTerminal(now) && now.attempt < 9) {
        const next = now.attempt + 1
        now = run(now, start, ...commands.map((command) => command(next)))
      }
      return [now.status, now.attempt]
    }
    const report = (attempt: number) => ({ _tag: "Report", at, attempt, message: `${attempt}` } as const)
    // The attempt that is lost first, three more, and the one that waited for the open question.
    assert.deepStrictEqual(lives(inPhase.running, report), ["failed", 4])
    assert.deepStrictEqual(lives(after(started, recorded("load")), report), ["failed", 4])
    assert.deepStrictEqual(lives(inPhase.parked, report), ["failed", 5])
    // The answer is there, and the handler dies of it.
    const answered = run(inPhase.parked, start, answer("name"))
    assert.deepStrictEqual(lives(answered, (attempt) => ask("name", attempt), report), ["failed", 5])
  })

  it("9: what gets on has its whole number of attempts again", () => {
    const lost = run(under(inPhase.running, { maxLostAttempts: 5 }), start, start)
    const ways: ReadonlyArray<ReadonlyArray<TaskCommand.TaskCommand>> = [
      [ask("a", 3)],
      [ask("a", 3), start, { _tag: "Withdraw", at, attempt: 4, key: "a" }],
      [ask("a", 3), start, answer("a")],
      [{ _tag: "RecordStep", at, attempt: 3, name: "load", value: 1 }]
    ]
    for (const way of ways) assert.deepStrictEqual([lost.lostAttempts, run(lost, ...way).lostAttempts], [2, 0])
    const others: ReadonlyArray<TaskCommand.TaskCommand> = [
      { _tag: "Report", at, attempt: 3, message: "half way" },
      { _tag: "Extend", at, attempt: 3, ttlMs: 90_000 },
      { _tag: "Release", at, attempt: 3 },
      cancel
    ]
    for (const other of others) assert.strictEqual(run(lost, other).lostAttempts, 2)
  })
})
