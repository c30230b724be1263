import { TaskMachine, TaskTransition } from "@effect-mcp-tasks/core"
import type { Task, TaskCommand } from "@effect-mcp-tasks/core"
import { TaskArbitrary, TaskInvariants, TaskSpec } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result } from "effect"

const { asked, given, inPhase, started } = TaskSpec
const at = TaskSpec.createdAt + 10

const failureOf = (run: () => void): TaskSpec.SpecFailed => {
  const thrown = Result.getOrThrow(Result.flip(Result.try(run)))
  assert.instanceOf(thrown, TaskSpec.SpecFailed)
  return thrown
}

describe("TaskSpec", () => {
  it("holds where the machine does what is said", () => {
    given(started, asked("name")).when({ _tag: "Cancel", at }).yields({ _tag: "Cancelled", at, ttlMs: 60_000 })
    given(inPhase.completed).when({ _tag: "Start", at }).refuses("Terminal")
    given(inPhase.completed).when({ _tag: "Cancel", at }).yields()
  })

  it("throws what came and what was wanted where it does something else", () => {
    const events = failureOf(() => given(started).when({ _tag: "Cancel", at }).yields())
    assert.deepStrictEqual([events.actual, events.expected], [[{ _tag: "CancelRequested", at }], []])
    failureOf(() => given(started).when({ _tag: "Cancel", at }).yields({ _tag: "CancelRequested", at: at + 1 }))
    failureOf(() => given(started).when({ _tag: "Cancel", at }).refuses("Terminal"))
    failureOf(() => given(inPhase.failed).when({ _tag: "Start", at }).refuses("StaleAttempt"))
    failureOf(() => given(inPhase.failed).when({ _tag: "Start", at }).yields())
  })
})

describe("TaskArbitrary", () => {
  it.effect("reaches every phase and names every command", () => {
    const phases = new Set<TaskTransition.Phase>()
    const tags = new Set<string>()
    const pairs = Arbitrary.flatMap(TaskArbitrary.tasks, (task) =>
      Arbitrary.map(TaskArbitrary.commands(task), (command) => ({ task, command })))
    const isKept = ({ command, task }: { readonly command: TaskCommand.TaskCommand; readonly task: Task.Task }) =>
      Effect.sync(() => {
        phases.add(TaskTransition.phase(task))
        tags.add(command._tag)
        // A step is what was granted: who may not ask is refused, and waits for nothing.
        const next = TaskMachine.step(task, command)
        return Result.isFailure(next) || TaskInvariants.ofStep(task, command, next.success).length === 0
      })
    const round = Effect.map(Arbitrary.checkEffect(pairs, isKept, { runs: 2000 }), (checked) => {
      assert.isUndefined(Arbitrary.formatCheckFailure(checked))
    })
    const isAll = () => phases.size === TaskTransition.phases.length && tags.size === TaskTransition.commands.length
    // One task of 400 is unattended: one round of 130 meets none, and ten rounds meet one for certain.
    return Effect.map(Effect.repeat(round, { until: isAll, times: 9 }), () => {
      assert.deepStrictEqual([...phases].toSorted(), [...TaskTransition.phases].toSorted())
      assert.deepStrictEqual([...tags].toSorted(), [...TaskTransition.commands].toSorted())
    })
  })
})

describe("TaskInvariants", () => {
  const { cancelled, completed, parked, queued, running } = inPhase
  const answered = TaskSpec.after(started, asked("a"), TaskSpec.answered("a"))
  const stepped = TaskSpec.after(started, TaskSpec.recorded("load"))
  const later = { lastUpdatedAt: running.lastUpdatedAt + 5 }

  it("names what is broken in a state", () => {
    assert.deepStrictEqual(TaskInvariants.ofState(parked), [])
    assert.match(String(TaskInvariants.ofState({ ...parked, questions: [] })), /^2:/)
    const twice = [...parked.questions, ...parked.questions]
    assert.match(String(TaskInvariants.ofState({ ...parked, questions: twice })), /^3:/)
    assert.match(String(TaskInvariants.ofState({ ...stepped, steps: [...stepped.steps, ...stepped.steps] })), /^7:/)
    assert.match(String(TaskInvariants.ofState({ ...running, lostAttempts: -1 })), /^0:/)
    assert.match(String(TaskInvariants.ofState({ ...running, lostAttempts: 2 })), /^9:/)
    assert.match(String(TaskInvariants.ofState({ ...parked, lostAttempts: 3 })), /^9:/)
    assert.deepStrictEqual(TaskInvariants.ofState({ ...parked, lostAttempts: 2 }), [])
  })

  const changes: ReadonlyArray<readonly [breach: RegExp, before: Task.Task, after: Task.Task]> = [
    [/^1:/, completed, { ...cancelled, ...later }],
    [/^0: what a task/, running, { ...running, ...later, owner: "mallory" }],
    [/^3:/, answered, { ...answered, ...later, questions: [] }],
    [/^7: steps/, stepped, { ...stepped, ...later, steps: [] }],
    [/^7: answers/, answered, {
      ...answered,
      ...later,
      questions: answered.questions.map((question) => ({ ...question, response: "other", state: "answered" } as const))
    }],
    [/^5:/, running, { ...running, ...later, attempt: 3 }],
    [/^5:/, running, { ...running, ...later, attempt: 0 }],
    [/^4: time/, running, { ...running, lastUpdatedAt: 1, attempt: 2 }],
    [/^4: what/, running, { ...running, statusMessage: "changed in the same instant" }],
    [/^8: a life is never/, running, { ...running, ...later, ttlMs: 1 }],
    [/^8: a life stays/, running, { ...running, ...later, ttlMs: null }],
    [/^9: lost attempts/, running, { ...running, ...later, lostAttempts: 1 }],
    [/^9: lost attempts/, { ...running, lostAttempts: 1 }, { ...running, ...later, attempt: 2 }],
    [/^9: what gets on/, { ...running, lostAttempts: 1 }, { ...stepped, ...later, lostAttempts: 1 }],
    [/^8: an outcome/, { ...running, ttlMs: 5 }, { ...completed, ...later, ttlMs: 5 }]
  ]
  for (const [breach, before, after] of changes) {
    it(`names what is broken in a change: ${breach.source}`, () => {
      assert.match(TaskInvariants.ofChange(before, after).join("\n"), breach)
      assert.deepStrictEqual(TaskInvariants.ofChange(before, before), [])
    })
  }

  it("names what is broken in a step", () => {
    const report = { _tag: "Report", at, attempt: 2, message: "x" } as const
    assert.include(TaskInvariants.ofStep(running, report, { ...running, ...later, statusMessage: "x" }).join(), "5:")
    const cancel = { _tag: "Cancel", at } as const
    assert.include(TaskInvariants.ofStep(running, cancel, { ...cancelled, ...later, attempt: 1 }).join(), "6: at once")
    assert.include(TaskInvariants.ofStep(queued, { _tag: "Expire", at }, cancelled).join(), "6: nothing is cancelled")
    assert.include(TaskInvariants.ofStep(queued, { _tag: "Expire", at }, cancelled).join(), "8: only what is due")
    const start = { _tag: "Start", at } as const
    assert.include(TaskInvariants.ofStep(queued, start, { ...TaskSpec.after(), ...later }).join(), "5: a start")
    const lost = { ...parked, lostAttempts: 1 }
    const ask = { _tag: "Ask", at, attempt: 1, ...TaskSpec.question("name") } as const
    assert.include(TaskInvariants.ofStep(lost, ask, lost).join(), "9: whoever waits")
    assert.deepStrictEqual(TaskInvariants.ofStep(lost, ask, parked), [])
    const mine = { ...report, attempt: 1 }
    assert.include(TaskInvariants.ofStep(lost, mine, { ...parked, statusMessage: "x" }).join(), "9: only what gets on")
  })

  const worker = { at, attempt: 1 }
  const dropped = TaskSpec.after(started, asked("a"), TaskSpec.withdrawn("a"))
  const claimed = TaskSpec.after({ _tag: "Started", at, attempt: 1, worker: "me" })
  const granted: ReadonlyArray<readonly [breach: RegExp, before: Task.Task, command: TaskCommand.TaskCommand]> = [
    [/^1: after its end/m, completed, { _tag: "Report", ...worker, message: "x" }],
    [/^3: another request/m, answered, { _tag: "Ask", ...worker, key: "a", request: TaskSpec.request("other") }],
    [/^3: another request/m, dropped, { _tag: "Ask", ...worker, key: "a", request: { method: "roots/list" } }],
    [/^3: a key that was withdrawn is not/m, dropped, { _tag: "Ask", ...worker, ...TaskSpec.question("a") }],
    [/^5: only the holder/m, queued, { _tag: "Report", ...worker, message: "x" }],
    [/^5: only the holder/m, running, { _tag: "Report", at, attempt: 0, message: "x" }],
    [/^5: a start follows/m, running, { _tag: "Start", at, after: 0, worker: "me" }],
    [/^5: a start follows/m, claimed, { _tag: "Start", at, after: 0, worker: "other" }],
    [/^7: another value/m, stepped, { _tag: "RecordStep", ...worker, name: "load", value: 2 }]
  ]
  for (const [breach, task, command] of granted) {
    it(`names what was granted without effect, and should have been refused: ${breach.source}`, () => {
      assert.match(TaskInvariants.ofStep(task, command, task).join("\n"), breach)
      assert.isTrue(Result.isFailure(TaskMachine.step(task, command)))
    })
  }

  it("names a start that begins what it must not, and an end that comes too early or too late", () => {
    const again = { _tag: "Start", at, after: 0, worker: "me" } as const
    assert.deepStrictEqual(TaskInvariants.ofStep(claimed, again, claimed), [])
    const begun = { ...claimed, attempt: 2, lostAttempts: 1 }
    assert.include(TaskInvariants.ofStep(claimed, again, begun).join(), "5: a start that is said again")
    const late = { _tag: "Start", at: TaskSpec.createdAt + 60_000 } as const
    assert.include(TaskInvariants.ofStep(queued, late, running).join(), "8: what is due is not begun")
    const { failed } = inPhase
    const early = { ...failed, attempt: 0, ...later }
    assert.include(TaskInvariants.ofStep(queued, { _tag: "Start", at }, early).join(), "8: only what is due expires")
  })
})
