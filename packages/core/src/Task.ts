/**
 * A task: everything that is known about one long-running request, as one immutable value.
 *
 * A task is a tagged union on `status`, with the wire's own five words. It holds all that is needed to answer for it,
 * to run it again on another machine, and to forget it on time: arguments, owner, the capabilities its caller
 * declared, its journal. Nothing of it lives elsewhere and nothing of it expires on its own. `TaskMachine` is the
 * only place that makes one task out of another.
 *
 * Instants are epoch milliseconds, durations are milliseconds; both are safe integers.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * An instant in epoch milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export const Instant = Schema.Int

/**
 * A duration in milliseconds, never negative.
 *
 * @category models
 * @since 0.1.0
 */
export const Millis = Schema.Natural

/**
 * The five statuses of the wire (ext-tasks, "Task Status").
 *
 * @category models
 * @since 0.1.0
 */
export const TaskStatus = Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"])

/**
 * The five statuses of the wire (ext-tasks, "Task Status").
 *
 * @category models
 * @since 0.1.0
 */
export type TaskStatus = typeof TaskStatus.Type

/**
 * A request from the server to the client's user, model or workspace, as it appears under `inputRequests`.
 *
 * @category models
 * @since 0.1.0
 */
export const InputRequest = Schema.Struct({
  method: Schema.Literals(["elicitation/create", "sampling/createMessage", "roots/list"]),
  params: Schema.optionalKey(Schema.JsonObject)
})

/**
 * A request from the server to the client's user, model or workspace, as it appears under `inputRequests`.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequest extends Schema.Schema.Type<typeof InputRequest> {}

const question = { key: Schema.NonEmptyString, request: InputRequest }

/**
 * A request that a task has issued under a key, and what became of it.
 *
 * **Details**
 *
 * `outstanding` questions are shown to the client. An `answered` one keeps its response for every later run of the
 * handler. A `withdrawn` one was given up by its handler (a timeout, a race): its key is spent, and never shown again.
 *
 * @category models
 * @since 0.1.0
 */
export const Question = Schema.Union([
  Schema.Struct({ ...question, state: Schema.Literal("outstanding") }),
  Schema.Struct({ ...question, state: Schema.Literal("answered"), response: Schema.Json }),
  Schema.Struct({ ...question, state: Schema.Literal("withdrawn") })
])

/**
 * A request that a task has issued under a key, and what became of it.
 *
 * @category models
 * @since 0.1.0
 */
export type Question = typeof Question.Type

/**
 * The remembered result of one named step of a handler.
 *
 * @category models
 * @since 0.1.0
 */
export const Step = Schema.Struct({ name: Schema.NonEmptyString, value: Schema.Json })

/**
 * The remembered result of one named step of a handler.
 *
 * @category models
 * @since 0.1.0
 */
export interface Step extends Schema.Schema.Type<typeof Step> {}

/**
 * What is to be done when an attempt dies with its process: run the handler again over its journal, or fail the task.
 *
 * @category models
 * @since 0.1.0
 */
export const Recovery = Schema.Literals(["resume", "fail"])

/**
 * What is to be done when an attempt dies with its process: run the handler again over its journal, or fail the task.
 *
 * @category models
 * @since 0.1.0
 */
export type Recovery = typeof Recovery.Type

/**
 * The rules a task lives under, fixed when it is created, so that every replica and release applies the same ones.
 *
 * @category models
 * @since 0.1.0
 */
export const TaskPolicy = Schema.Struct({
  recovery: Recovery,
  /** How long, in milliseconds, an ended task stays readable at the least. */
  resultTtlMs: Millis,
  /** How many attempts in a row may die with their process before the task is failed (`TaskMachine`, invariant 9). */
  maxLostAttempts: Schema.Natural,
  /** How many distinct input keys the task may ever issue. */
  maxQuestions: Schema.Natural,
  /** How many named steps the journal may hold. */
  maxSteps: Schema.Natural
})

/**
 * The rules a task lives under, fixed when it is created.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskPolicy extends Schema.Schema.Type<typeof TaskPolicy> {}

/**
 * The JSON-RPC error that a failed task ended with.
 *
 * @category models
 * @since 0.1.0
 */
export const TaskError = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Json)
})

/**
 * The JSON-RPC error that a failed task ended with.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskError extends Schema.Schema.Type<typeof TaskError> {}

const fields = {
  taskId: Schema.NonEmptyString,
  /** Who may see the task: an opaque key, compared for equality only. */
  owner: Schema.String,
  tool: Schema.String,
  arguments: Schema.JsonObject,
  /** What the creating call declared: it decides what the task may ask. */
  capabilities: Schema.JsonObject,
  /** The caller's W3C trace context, so that a run on another machine joins the caller's trace. */
  traceparent: Schema.optionalKey(Schema.String),
  policy: TaskPolicy,
  createdAt: Instant,
  lastUpdatedAt: Instant,
  /** Life time from `createdAt` in milliseconds; `null` is for ever. */
  ttlMs: Schema.NullOr(Millis),
  pollIntervalMs: Millis,
  statusMessage: Schema.optionalKey(Schema.String),
  /** How many times the task was started, the fence of every command of a worker; and by which worker, of several. */
  attempt: Schema.Natural,
  worker: Schema.optionalKey(Schema.NonEmptyString),
  /** How many of those attempts died without handing the task back, since it last got on. */
  lostAttempts: Schema.Natural,
  questions: Schema.Array(Question),
  steps: Schema.Array(Step)
}

/**
 * A task whose handler runs, or waits for its turn.
 *
 * **Details**
 *
 * `running` is false before the first start and after an attempt was handed back. `cancelRequested` says that the
 * client asked to stop and the handler has not ended yet.
 *
 * @category models
 * @since 0.1.0
 */
export const WorkingTask = Schema.Struct({
  ...fields,
  status: Schema.Literal("working"),
  running: Schema.Boolean,
  cancelRequested: Schema.Boolean
})

/**
 * A task whose handler runs, or waits for its turn.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkingTask extends Schema.Schema.Type<typeof WorkingTask> {}

/**
 * A task with at least one outstanding question.
 *
 * @category models
 * @since 0.1.0
 */
export const InputRequiredTask = Schema.Struct({
  ...fields,
  status: Schema.Literal("input_required"),
  running: Schema.Boolean
})

/**
 * A task with at least one outstanding question.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequiredTask extends Schema.Schema.Type<typeof InputRequiredTask> {}

/**
 * A task that ended with a result, a tool error (`isError`) included.
 *
 * @category models
 * @since 0.1.0
 */
export const CompletedTask = Schema.Struct({
  ...fields,
  status: Schema.Literal("completed"),
  /** The result as JSON text of one object, encoded once and never parsed again on the way to a client. */
  result: Schema.String,
  isError: Schema.Boolean
})

/**
 * A task that ended with a result, a tool error (`isError`) included.
 *
 * @category models
 * @since 0.1.0
 */
export interface CompletedTask extends Schema.Schema.Type<typeof CompletedTask> {}

/**
 * A task that ended with a JSON-RPC error.
 *
 * @category models
 * @since 0.1.0
 */
export const FailedTask = Schema.Struct({ ...fields, status: Schema.Literal("failed"), error: TaskError })

/**
 * A task that ended with a JSON-RPC error.
 *
 * @category models
 * @since 0.1.0
 */
export interface FailedTask extends Schema.Schema.Type<typeof FailedTask> {}

/**
 * A task that ended because its client asked for it.
 *
 * @category models
 * @since 0.1.0
 */
export const CancelledTask = Schema.Struct({ ...fields, status: Schema.Literal("cancelled") })

/**
 * A task that ended because its client asked for it.
 *
 * @category models
 * @since 0.1.0
 */
export interface CancelledTask extends Schema.Schema.Type<typeof CancelledTask> {}

/**
 * The state of one task.
 *
 * @category models
 * @since 0.1.0
 */
export const Task = Schema.Union([WorkingTask, InputRequiredTask, CompletedTask, FailedTask, CancelledTask])

/**
 * The state of one task.
 *
 * @category models
 * @since 0.1.0
 */
export type Task = typeof Task.Type

/**
 * A task that has not ended.
 *
 * @category models
 * @since 0.1.0
 */
export type LiveTask = WorkingTask | InputRequiredTask

/**
 * A task that has ended and never changes again.
 *
 * @category models
 * @since 0.1.0
 */
export type TerminalTask = CompletedTask | FailedTask | CancelledTask

/**
 * A task as a store holds it: durable, and numbered for compare-and-set.
 * Only a `Stored` can be answered to a client as a new task, so that a handle is never given out for a task that is
 * not durable (ext-tasks, "Task Creation").
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored<out T extends Task = Task> {
  readonly task: T
  /** 1 when created, one more with every replacement. */
  readonly version: number
}

/**
 * Tells whether a task has ended.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTerminal = (task: Task): task is TerminalTask =>
  task.status !== "working" && task.status !== "input_required"

/**
 * The question that a task issued under a key, whatever became of it.
 *
 * @category accessors
 * @since 0.1.0
 */
export const findQuestion = (task: Task, key: string): Question | undefined =>
  task.questions.find((question) => question.key === key)

/**
 * The questions that wait for an answer, in the order in which they were asked.
 *
 * @category accessors
 * @since 0.1.0
 */
export const outstanding = (task: Task): ReadonlyArray<Question> =>
  task.questions.filter((question) => question.state === "outstanding")

/**
 * The step that a task has recorded under a name.
 *
 * @category accessors
 * @since 0.1.0
 */
export const findStep = (task: Task, name: string): Step | undefined => task.steps.find((step) => step.name === name)

/**
 * The instant at which something is due: a live task expires, an ended one may be removed; `undefined` is never.
 *
 * **Details**
 *
 * The caller owns the clock: it sends `Expire` to a live task once this instant is reached, and removes an ended one.
 *
 * @category accessors
 * @since 0.1.0
 */
export const deadline = (task: Task): number | undefined =>
  task.ttlMs === null ? undefined : task.createdAt + task.ttlMs

/**
 * Tells whether the deadline of a task has been reached at an instant.
 *
 * @category accessors
 * @since 0.1.0
 */
export const isDue = (task: Task, at: number): boolean => task.ttlMs !== null && at >= task.createdAt + task.ttlMs
