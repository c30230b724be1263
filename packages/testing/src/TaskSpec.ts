/**
 * Specifications of the task machine: given what has happened, when a command comes, then these events or that
 * refusal. A specification that does not hold throws a `SpecFailed`, whatever the test framework.
 *
 * The tasks in it are plain: of one owner, created at `createdAt`, under a policy with room for two questions and two
 * steps.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { TaskEvent } from "@effect-mcp-tasks/core/TaskEvent"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import type { Phase } from "@effect-mcp-tasks/core/TaskTransition"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"

/**
 * A specification does not hold. Test frameworks show the difference of `actual` and `expected`.
 *
 * @category errors
 * @since 0.1.0
 */
export class SpecFailed extends Error {
  override readonly name = "SpecFailed"
  readonly actual: unknown
  readonly expected: unknown
  readonly showDiff = true

  constructor(message: string, actual: unknown, expected: unknown) {
    super(message)
    this.actual = actual
    this.expected = expected
  }
}

/**
 * When the tasks of specifications are created, in epoch milliseconds.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const createdAt = 1_000_000

/**
 * A policy whose limits are soon reached.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const policy: Task.TaskPolicy = {
  recovery: "resume",
  resultTtlMs: 10_000,
  maxLostAttempts: 1,
  maxQuestions: 2,
  maxSteps: 2
}

/**
 * What the tasks of specifications are made of.
 *
 * @category fixtures
 * @since 0.1.0
 */
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

/**
 * A request that the protocol allows, told apart by its message.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const request = (message: string): Task.InputRequest => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { name: { type: "string" } } } }
})

/**
 * A question under a key.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const question = (key: string, message = key) => ({ key, request: request(message) })

const at = createdAt

/**
 * The first attempt began.
 *
 * @category events
 * @since 0.1.0
 */
export const started: TaskEvent = { _tag: "Started", at, attempt: 1 }

/**
 * The task was handed back.
 *
 * @category events
 * @since 0.1.0
 */
export const released: TaskEvent = { _tag: "Released", at }

/**
 * A question was asked.
 *
 * @category events
 * @since 0.1.0
 */
export const asked = (key: string): TaskEvent => ({ _tag: "InputRequested", at, ...question(key) })

/**
 * A question was given up.
 *
 * @category events
 * @since 0.1.0
 */
export const withdrawn = (key: string): TaskEvent => ({ _tag: "InputWithdrawn", at, key })

/**
 * A question was answered.
 *
 * @category events
 * @since 0.1.0
 */
export const answered = (key: string): TaskEvent => ({
  _tag: "InputAnswered",
  at,
  responses: [{ key, response: { action: "accept" } }]
})

/**
 * A step was done.
 *
 * @category events
 * @since 0.1.0
 */
export const recorded = (name: string, value = 1): TaskEvent => ({ _tag: "StepRecorded", at, name, value })

/**
 * Makes a task by letting things happen to a new one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const after = (...events: ReadonlyArray<TaskEvent>): Task.Task =>
  events.reduce(TaskMachine.evolve, TaskMachine.create(newTask) as Task.Task)

/**
 * The same task under other rules.
 *
 * @category constructors
 * @since 0.1.0
 */
export const under = (task: Task.Task, rules: Partial<Task.TaskPolicy>): Task.Task => ({
  ...task,
  policy: { ...task.policy, ...rules }
})

/**
 * One plain task for every phase.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const inPhase: { readonly [P in Phase]: Task.Task } = {
  queued: after(),
  running: after(started),
  cancelling: after(started, { _tag: "CancelRequested", at }),
  parked: after(started, asked("name")),
  unattended: after(started, asked("name"), released),
  completed: after(started, { _tag: "Completed", at, ttlMs: 60_000, result: `{"content":[]}`, isError: false }),
  failed: after(started, { _tag: "Failed", at, ttlMs: 60_000, error: { code: -32603, message: "broken" } }),
  cancelled: after({ _tag: "Cancelled", at, ttlMs: 60_000 })
}

/**
 * A task that a command has come to, and what is expected of that.
 *
 * @category models
 * @since 0.1.0
 */
export interface Expectation {
  /** Expects exactly these events; none where the command is acknowledged without effect. */
  readonly yields: (...events: ReadonlyArray<TaskEvent>) => void
  /** Expects exactly this refusal. */
  readonly refuses: (reason: TaskMachine.RejectedReason) => void
}

const expectation = (task: Task.Task, command: TaskCommand): Expectation => {
  const decided = Result.merge(TaskMachine.decide(task, command))
  const expect = (wanted: typeof decided) => {
    if (!Equal.equals(decided, wanted)) {
      throw new SpecFailed(`${command._tag} of a task that is ${task.status} leads to something else`, decided, wanted)
    }
  }
  return {
    yields: (...events) => expect(events),
    refuses: (reason) => expect({ _tag: "TaskRejected", reason, taskId: task.taskId, command: command._tag })
  }
}

/**
 * Starts a specification from a task, or from what has happened to a new one.
 *
 * **Example** (A cancel ends a parked task at once)
 *
 * ```ts
 * const at = createdAt + 10
 * given(started, asked("name")).when({ _tag: "Cancel", at }).yields({ _tag: "Cancelled", at, ttlMs: 60_000 })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const given = (...history: readonly [Task.Task] | ReadonlyArray<TaskEvent>) => {
  const [first] = history
  const task = first !== undefined && "status" in first ? first : after(...history as ReadonlyArray<TaskEvent>)
  return { when: (command: TaskCommand): Expectation => expectation(task, command) }
}
