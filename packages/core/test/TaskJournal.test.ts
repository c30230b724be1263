import { createdAt, given, newTask, question, request, under } from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Task, TaskMachine } from "../src/index.ts"

const at = createdAt + 100
const attempt = 1

describe("a task with a journal", () => {
  const journal = {
    answers: [{ ...question("name"), state: "answered", response: { action: "accept" } }],
    steps: [{ name: "load", value: 1 }]
  } as const
  const begun = Result.getOrThrow(
    TaskMachine.step(TaskMachine.create({ ...newTask, journal }), { _tag: "Start", at: createdAt })
  )
  it("begins over what its call has gathered: neither asked nor done again", () => {
    given(begun).when({ _tag: "Ask", at, attempt, ...question("name") }).yields()
    given(begun).when({ _tag: "Ask", at, attempt, key: "name", request: request("other") }).refuses("KeyReused")
    given(begun).when({ _tag: "RecordStep", at, attempt, name: "load", value: 1 }).yields()
    given(begun).when({ _tag: "RecordStep", at, attempt, name: "load", value: 2 }).refuses("StepReused")
    given(under(begun, { maxQuestions: 1 })).when({ _tag: "Ask", at, attempt, ...question("b") })
      .refuses("TooManyQuestions")
  })
  it("is working and shows nothing of it", () => {
    assert.strictEqual(begun.status, "working")
    assert.deepStrictEqual(Task.outstanding(begun), [])
  })
})
