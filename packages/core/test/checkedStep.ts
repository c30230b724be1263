/** One step of the machine with everything checked that must hold of it, whatever the task and the command. */
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { Task, TaskMachine } from "../src/index.ts"
import type { TaskCommand } from "../src/index.ts"

/** Makes one step and checks all that must hold of it; gives back the task after it. */
export const checkedStep = (task: Task.Task, command: TaskCommand.TaskCommand): Task.Task => {
  const before = JSON.stringify(task)
  const stepped = TaskMachine.step(task, command)
  assert.strictEqual(JSON.stringify(task), before, "a step changes no task in place")
  if (Result.isFailure(stepped)) {
    checkRefused(task, command, stepped.failure)
    return task
  }
  const next = stepped.success
  const decided = TaskMachine.decide(task, command)
  const silent = Result.isSuccess(decided) && decided.success.length === 0
  assert.strictEqual(next === task, silent, "no event, the same task")
  assert.deepStrictEqual(TaskInvariants.ofStep(task, command, next), [])
  return next
}

const checkRefused = (task: Task.Task, command: TaskCommand.TaskCommand, refusal: TaskMachine.TaskRejected) => {
  assert.deepInclude(refusal, { taskId: task.taskId, command: command._tag })
  assert.strictEqual(refusal.reason === "Terminal", Task.isTerminal(task), "1: a terminal task refuses for that reason")
  assert.isFalse(["Answer", "Cancel"].includes(command._tag), "1: a client is acknowledged always")
}

/** Checks what holds of every state by itself. */
export const checkState = (task: Task.Task) => assert.deepStrictEqual(TaskInvariants.ofState(task), [])
