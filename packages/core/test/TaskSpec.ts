/**
 * Specifications of the task machine: `given(task).when(command).yields(...)`, and a task for every phase.
 */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { TaskMachine } from "../src/index.ts"
import type { Task, TaskCommand, TaskEvent, TaskTransition } from "../src/index.ts"

export const createdAt = 1_000_000

export const policy: Task.TaskPolicy = {
  recovery: "resume",
  resultTtlMs: 10_000,
  maxLostAttempts: 1,
  maxQuestions: 2,
  maxSteps: 2
}

export const newTask: TaskMachine.NewTask = {
  taskId: "task-1",
  owner: "alice",
  tool: "report",
  arguments: { city: "Paris" },
  capabilities: { elicitation: {} },
  policy,
  ttlMs: 60_000,
  pollIntervalMs: 500,
  at: createdAt
}

/** A request that the protocol allows, told apart by its message. */
export const request = (message: string): Task.InputRequest => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } }
})

export const question = (key: string, message = key) => ({ key, request: request(message) })

const at = createdAt

export const started: TaskEvent.TaskEvent = { _tag: "Started", at, attempt: 1 }
export const released: TaskEvent.TaskEvent = { _tag: "Released", at }
export const asked = (key: string): TaskEvent.TaskEvent => ({ _tag: "InputRequested", at, ...question(key) })
export const withdrawn = (key: string): TaskEvent.TaskEvent => ({ _tag: "InputWithdrawn", at, key })
export const answered = (key: string): TaskEvent.TaskEvent => ({
  _tag: "InputAnswered",
  at,
  responses: [{ key, response: { action: "accept" } }]
})
export const recorded = (name: string, value = 1): TaskEvent.TaskEvent => ({ _tag: "StepRecorded", at, name, value })

/** Makes a task by letting things happen to a new one. */
export const after = (...events: ReadonlyArray<TaskEvent.TaskEvent>): Task.Task =>
  events.reduce(TaskMachine.evolve, TaskMachine.create(newTask) as Task.Task)

/** The same under other rules. */
export const under = (task: Task.Task, rules: Partial<Task.TaskPolicy>): Task.Task => ({
  ...task,
  policy: { ...task.policy, ...rules }
})

/** One plain task for every phase. */
export const inPhase: { readonly [P in TaskTransition.Phase]: Task.Task } = {
  queued: after(),
  running: after(started),
  cancelling: after(started, { _tag: "CancelRequested", at }),
  parked: after(started, asked("name")),
  unattended: after(started, asked("name"), released),
  completed: after(started, { _tag: "Completed", at, ttlMs: 60_000, result: `{"content":[]}`, isError: false }),
  failed: after(started, { _tag: "Failed", at, ttlMs: 60_000, error: { code: -32603, message: "broken" } }),
  cancelled: after({ _tag: "Cancelled", at, ttlMs: 60_000 })
}

const decided = (task: Task.Task, command: TaskCommand.TaskCommand) => ({
  /** Expects exactly these events. */
  yields: (...events: ReadonlyArray<TaskEvent.TaskEvent>) =>
    assert.deepStrictEqual(TaskMachine.decide(task, command), Result.succeed(events)),
  /** Expects exactly this refusal. */
  refuses: (reason: TaskMachine.RejectedReason) =>
    assert.deepStrictEqual(
      TaskMachine.decide(task, command),
      Result.fail({ _tag: "TaskRejected", reason, taskId: task.taskId, command: command._tag } as const)
    )
})

/** Starts a specification: from a task, or from what has happened to a new one. */
export const given = (...history: readonly [Task.Task] | ReadonlyArray<TaskEvent.TaskEvent>) => {
  const [first] = history
  const task = first !== undefined && "status" in first
    ? first
    : after(...history as ReadonlyArray<TaskEvent.TaskEvent>)
  return { when: (command: TaskCommand.TaskCommand) => decided(task, command) }
}
