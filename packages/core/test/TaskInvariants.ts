/**
 * The eight invariants of the task machine as a check on one step, whatever the task and the command.
 */
import { assert } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Task, TaskMachine } from "../src/index.ts"
import type { TaskCommand } from "../src/index.ts"

const isTask = Schema.is(Task.Task)

/** What a client sees of a task, without the instant of its last update. */
const visible = (task: Task.Task): string =>
  JSON.stringify([
    task.status,
    task.statusMessage,
    task.ttlMs,
    task.pollIntervalMs,
    task.status === "input_required" && Task.outstanding(task),
    task.status === "completed" && task.result,
    task.status === "failed" && task.error
  ])

const isPrefix = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): boolean =>
  before.every((item, index) => JSON.stringify(item) === JSON.stringify(after[index]))

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
  if (next !== task) checkChanged(task, command, next)
  return next
}

const checkRefused = (task: Task.Task, command: TaskCommand.TaskCommand, refusal: TaskMachine.TaskRejected) => {
  assert.deepInclude(refusal, { taskId: task.taskId, command: command._tag })
  assert.strictEqual(refusal.reason === "Terminal", Task.isTerminal(task), "1: a terminal task refuses for that reason")
  assert.isFalse(["Answer", "Cancel"].includes(command._tag), "1: a client is acknowledged always")
}

const checkChanged = (task: Task.Task, command: TaskCommand.TaskCommand, next: Task.Task) => {
  assert.isFalse(Task.isTerminal(task), "1: a terminal task never changes")
  checkState(next)
  checkIdentity(task, next)
  if ("attempt" in command) {
    assert.isTrue("running" in task && task.running && task.attempt === command.attempt, "5: only the holder writes")
  }
  assert.strictEqual(
    next.attempt,
    command._tag === "Start" && !Task.isTerminal(next) ? task.attempt + 1 : task.attempt,
    "5: a start raises the attempt, nothing else does"
  )
  checkTime(task, command, next)
  checkCancel(task, command, next)
}

/** What holds of every state by itself. */
export const checkState = (task: Task.Task) => {
  assert.isTrue(isTask(task), "a task follows its schema")
  assert.strictEqual(task.status === "input_required", Task.outstanding(task).length > 0, "2: input_required")
  assert.strictEqual(new Set(task.questions.map(({ key }) => key)).size, task.questions.length, "3: keys are unique")
  assert.strictEqual(new Set(task.steps.map(({ name }) => name)).size, task.steps.length, "7: steps are unique")
  assert.isAtMost(task.questions.length, task.policy.maxQuestions)
  assert.isAtMost(task.steps.length, task.policy.maxSteps)
  assert.isAtMost(task.lostAttempts, task.policy.maxLostAttempts + 1)
  for (const member of ["running", "cancelRequested"] as const) {
    if (Task.isTerminal(task)) assert.notProperty(task, member, "38: the members follow the status")
  }
}

const checkIdentity = (task: Task.Task, next: Task.Task) => {
  for (const member of ["taskId", "owner", "tool", "arguments", "capabilities", "policy", "createdAt"] as const) {
    assert.strictEqual(next[member], task[member])
  }
  const named = (questions: ReadonlyArray<Task.Question>) => questions.map(({ key, request }) => ({ key, request }))
  assert.isTrue(isPrefix(named(task.questions), named(next.questions)), "3: a key names one request for ever")
  assert.isTrue(isPrefix(task.steps, next.steps), "7: steps are only added")
  for (const [index, question] of task.questions.entries()) {
    if (question.state === "answered") assert.deepStrictEqual(next.questions[index], question, "7: answers stay")
    if (question.state === "withdrawn") assert.deepStrictEqual(next.questions[index], question, "3: a key is spent")
  }
}

const checkTime = (task: Task.Task, command: TaskCommand.TaskCommand, next: Task.Task) => {
  assert.isAtLeast(next.lastUpdatedAt, task.lastUpdatedAt, "4: time never goes back")
  if (visible(next) !== visible(task)) {
    assert.isAbove(next.lastUpdatedAt, task.lastUpdatedAt, "4: what is visible moves it")
    assert.isAtLeast(next.lastUpdatedAt, command.at, "4: to the command's instant at the least")
  }
  assert.strictEqual(next.ttlMs === null, task.ttlMs === null)
  assert.isAtLeast(next.ttlMs ?? 0, task.ttlMs ?? 0, "8: a life is never shortened")
  if (command._tag === "Expire") {
    assert.isTrue(Task.isDue(task, command.at), "8: only what is due expires")
    assert.strictEqual(next.status, "failed", "8: what is due fails")
  }
  if (Task.isTerminal(next) && next.ttlMs !== null) {
    const end = Math.max(command.at, task.lastUpdatedAt)
    assert.isAtLeast(next.createdAt + next.ttlMs, end + task.policy.resultTtlMs, "8: an outcome stays readable")
  }
}

const checkCancel = (task: Task.Task, command: TaskCommand.TaskCommand, next: Task.Task) => {
  const asked = command._tag === "Cancel" || (task.status === "working" && task.cancelRequested)
  if (next.status === "cancelled") assert.isTrue(asked, "6: nothing is cancelled that no client cancelled")
  if (command._tag === "Cancel") {
    const atOnce = task.status === "input_required" || ("running" in task && !task.running)
    assert.strictEqual(next.status === "cancelled", atOnce, "6: at once only where nothing runs or all waits")
  }
  if (next.status === "completed") assert.strictEqual(command._tag, "Complete", "6: the state it really ended in")
}
