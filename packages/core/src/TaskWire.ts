/**
 * Tasks as the wire has them: schemas for whoever reads messages, and text for whoever answers them.
 *
 * The schemas follow the tasks extension's `schema.json`. They decode leniently: unknown members are ignored, a missing
 * `resultType` is let through (it means `"complete"`), and so is a wrong one, which the specification's own examples
 * have. They are for clients, notifications and tests; a server answers with the text projections below.
 *
 * The text projections touch no schema, and a completed task's result is spliced in as the text it was stored as:
 * answering a poll parses nothing and serialises nothing again.
 *
 * Instants are epoch milliseconds in memory and ISO 8601 in UTC on the wire.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { inputRequests } from "./InputWire.ts"
import * as isoInstant from "./internal/isoInstant.ts"
import type { Stored, Task as MachineTask } from "./Task.ts"
import { InputRequest, Millis, outstanding, TaskError, TaskStatus } from "./Task.ts"

/**
 * An instant: epoch milliseconds in memory, ISO 8601 on the wire.
 *
 * **Details**
 *
 * Encodes to UTC with milliseconds. Decodes any offset, any precision (cut to milliseconds) and a text without offset,
 * which is taken as UTC.
 *
 * @category models
 * @since 0.1.0
 */
export const WireInstant = isoInstant.schema

/**
 * The requests that a task's client is to answer, by key (ext-tasks, `InputRequests`).
 *
 * @category models
 * @since 0.1.0
 */
export const InputRequests = Schema.Record(Schema.String, InputRequest)

/**
 * The requests that a task's client is to answer, by key (ext-tasks, `InputRequests`).
 *
 * @category models
 * @since 0.1.0
 */
export type InputRequests = typeof InputRequests.Type

/**
 * A client's responses, by key (ext-tasks, `InputResponses`).
 *
 * **Details**
 *
 * Any object is let through: a response is judged by the question that it answers, and one to a key that is not
 * outstanding is ignored unread (ext-tasks, "Task Update Requests").
 *
 * @category models
 * @since 0.1.0
 */
export const InputResponses = Schema.Record(Schema.String, Schema.JsonObject)

/**
 * A client's responses, by key (ext-tasks, `InputResponses`).
 *
 * @category models
 * @since 0.1.0
 */
export type InputResponses = typeof InputResponses.Type

const base = {
  taskId: Schema.String,
  statusMessage: Schema.optionalKey(Schema.String),
  createdAt: WireInstant,
  lastUpdatedAt: WireInstant,
  ttlMs: Schema.NullOr(Millis),
  pollIntervalMs: Schema.optionalKey(Millis)
}
const meta = { _meta: Schema.optionalKey(Schema.JsonObject) }
const answered = { ...meta, resultType: Schema.optionalKey(Schema.String) }
const handle = { ...base, ...meta, status: TaskStatus }

const working = { ...base, status: Schema.Literal("working") }
const inputRequired = { ...base, status: Schema.Literal("input_required"), inputRequests: InputRequests }
const completed = { ...base, status: Schema.Literal("completed"), result: Schema.JsonObject }
const failed = { ...base, status: Schema.Literal("failed"), error: TaskError }
const ended = { ...base, status: Schema.Literal("cancelled") }

/**
 * A task without the payload of its status (ext-tasks, `Task`).
 *
 * @category models
 * @since 0.1.0
 */
export const Task = Schema.Struct({ ...base, status: TaskStatus })

/**
 * A task without the payload of its status (ext-tasks, `Task`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Task extends Schema.Schema.Type<typeof Task> {}

/**
 * A task at work (ext-tasks, `WorkingTask`).
 *
 * @category models
 * @since 0.1.0
 */
export const WorkingTask = Schema.Struct(working)

/**
 * A task that waits for its client, with every outstanding request (ext-tasks, `InputRequiredTask`).
 *
 * @category models
 * @since 0.1.0
 */
export const InputRequiredTask = Schema.Struct(inputRequired)

/**
 * A task that ended with a result, a tool error included (ext-tasks, `CompletedTask`).
 *
 * @category models
 * @since 0.1.0
 */
export const CompletedTask = Schema.Struct(completed)

/**
 * A task that ended with a JSON-RPC error (ext-tasks, `FailedTask`).
 *
 * @category models
 * @since 0.1.0
 */
export const FailedTask = Schema.Struct(failed)

/**
 * A task that was cancelled (ext-tasks, `CancelledTask`).
 *
 * @category models
 * @since 0.1.0
 */
export const CancelledTask = Schema.Struct(ended)

/**
 * A task with the payload of its status (ext-tasks, `DetailedTask`).
 *
 * @category models
 * @since 0.1.0
 */
export const DetailedTask = Schema.Union([WorkingTask, InputRequiredTask, CompletedTask, FailedTask, CancelledTask])

/**
 * A task with the payload of its status (ext-tasks, `DetailedTask`).
 *
 * @category models
 * @since 0.1.0
 */
export type DetailedTask = typeof DetailedTask.Type

/**
 * The answer to a call that became a task (ext-tasks, `CreateTaskResult`): the only result of type `"task"`.
 *
 * @category models
 * @since 0.1.0
 */
export const CreateTaskResult = Schema.Struct({ ...handle, resultType: Schema.Literal("task") })

/**
 * The answer to a call that became a task (ext-tasks, `CreateTaskResult`).
 *
 * @category models
 * @since 0.1.0
 */
export interface CreateTaskResult extends Schema.Schema.Type<typeof CreateTaskResult> {}

/**
 * The answer to `tasks/get` (ext-tasks, `GetTaskResult`).
 *
 * @category models
 * @since 0.1.0
 */
export const GetTaskResult = Schema.Union([
  Schema.Struct({ ...working, ...answered }),
  Schema.Struct({ ...inputRequired, ...answered }),
  Schema.Struct({ ...completed, ...answered }),
  Schema.Struct({ ...failed, ...answered }),
  Schema.Struct({ ...ended, ...answered })
])

/**
 * The answer to `tasks/get` (ext-tasks, `GetTaskResult`).
 *
 * @category models
 * @since 0.1.0
 */
export type GetTaskResult = typeof GetTaskResult.Type

/**
 * The params of `notifications/tasks` (ext-tasks, `TaskStatusNotificationParams`).
 *
 * @category models
 * @since 0.1.0
 */
export const TaskStatusNotificationParams = Schema.Union([
  Schema.Struct({ ...working, ...meta }),
  Schema.Struct({ ...inputRequired, ...meta }),
  Schema.Struct({ ...completed, ...meta }),
  Schema.Struct({ ...failed, ...meta }),
  Schema.Struct({ ...ended, ...meta })
])

/**
 * The params of `notifications/tasks` (ext-tasks, `TaskStatusNotificationParams`).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskStatusNotificationParams = typeof TaskStatusNotificationParams.Type

/**
 * The params of `tasks/get` (ext-tasks, `GetTaskRequest`).
 *
 * @category models
 * @since 0.1.0
 */
export const GetTaskParams = Schema.Struct({ ...meta, taskId: Schema.String })

/**
 * The params of `tasks/update` (ext-tasks, `UpdateTaskRequest`).
 *
 * @category models
 * @since 0.1.0
 */
export const UpdateTaskParams = Schema.Struct({ ...meta, taskId: Schema.String, inputResponses: InputResponses })

/**
 * The params of `tasks/cancel` (ext-tasks, `CancelTaskRequest`).
 *
 * @category models
 * @since 0.1.0
 */
export const CancelTaskParams = Schema.Struct({ ...meta, taskId: Schema.String })

/**
 * The answer to `tasks/update` (ext-tasks, `UpdateTaskResult`).
 *
 * @category models
 * @since 0.1.0
 */
export const UpdateTaskResult = Schema.Struct(answered)

/**
 * The answer to `tasks/cancel` (ext-tasks, `CancelTaskResult`).
 *
 * @category models
 * @since 0.1.0
 */
export const CancelTaskResult = Schema.Struct(answered)

/**
 * What the extension adds to the filter of `subscriptions/listen` and to its acknowledgement (ext-tasks,
 * `TaskSubscriptionNotifications`, `TaskSubscriptionAcknowledgedNotifications`).
 *
 * @category models
 * @since 0.1.0
 */
export const TaskSubscriptionNotifications = Schema.Struct({
  taskIds: Schema.optionalKey(Schema.Array(Schema.String))
})

/**
 * The member of a notification's `_meta` that names the `subscriptions/listen` request it belongs to.
 *
 * @category constants
 * @since 0.1.0
 */
export const subscriptionIdKey = "io.modelcontextprotocol/subscriptionId"

/**
 * The answer to an accepted `tasks/update` or `tasks/cancel`, as JSON text.
 *
 * @category constants
 * @since 0.1.0
 */
export const acknowledgement: string = `{"resultType":"complete"}`

const members = (task: MachineTask): string => {
  const message = task.statusMessage === undefined ? "" : `,"statusMessage":${JSON.stringify(task.statusMessage)}`
  const instants = `"createdAt":"${isoInstant.format(task.createdAt)}","lastUpdatedAt":"${
    isoInstant.format(task.lastUpdatedAt)
  }"`
  const times = `${instants},"ttlMs":${task.ttlMs},"pollIntervalMs":${task.pollIntervalMs}`
  return `"taskId":${JSON.stringify(task.taskId)},"status":"${task.status}"${message},${times}`
}

/**
 * Encodes a task as the JSON text of its `DetailedTask`, without a completed task's `result`.
 *
 * **Details**
 *
 * One line, never `{}`. A store keeps it beside the result, so that a poll is answered by `getTaskResult` from two
 * texts. Input requests appear in the order in which they were asked.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeHead = (task: MachineTask): string => {
  switch (task.status) {
    case "input_required":
      return `{${members(task)},"inputRequests":${inputRequests(outstanding(task))}}`
    case "failed":
      return `{${members(task)},"error":${JSON.stringify(task.error)}}`
    default:
      return `{${members(task)}}`
  }
}

const spliced = (first: string, head: string, result: string | undefined): string =>
  result === undefined ? `{${first},${head.slice(1)}` : `{${first},${head.slice(1, -1)},"result":${result}}`

/**
 * Encodes the answer to `tasks/get` from a task's head and, where the task is completed, its stored result.
 *
 * **Gotchas**
 *
 * Splices text and checks nothing: `head` is of `encodeHead`, and `result` is the JSON text of one object, on one line.
 *
 * @category encoding
 * @since 0.1.0
 */
export const getTaskResult = (head: string, result: string | undefined): string =>
  spliced(`"resultType":"complete"`, head, result)

/**
 * Encodes the params of `notifications/tasks`: what `tasks/get` would have answered, tagged with the id of the
 * `subscriptions/listen` request in the JSON type that it came in.
 *
 * @category encoding
 * @since 0.1.0
 */
export const notificationParams = (head: string, result: string | undefined, subscriptionId: string | number): string =>
  spliced(`"_meta":{"${subscriptionIdKey}":${JSON.stringify(subscriptionId)}}`, head, result)

/**
 * Encodes the answer to a call that became a task: flat, and without the payload of its status (ext-tasks, "Task
 * Creation").
 *
 * **Details**
 *
 * Takes a `Stored`, so that a task which is not durable cannot be answered.
 *
 * @category encoding
 * @since 0.1.0
 */
export const createTaskResult = (stored: Stored): string => `{"resultType":"task",${members(stored.task)}}`

/**
 * Shows a task as its `DetailedTask`.
 *
 * **When to use**
 *
 * Use for a value to look at. A server answers with the text projections, which are faster.
 *
 * **Gotchas**
 *
 * Parses a completed task's result, and throws where that is not JSON. Input keys that look like numbers come first,
 * as in every JavaScript object.
 *
 * @category conversions
 * @since 0.1.0
 */
export const detailedTask = (task: MachineTask): DetailedTask => {
  const shown = {
    taskId: task.taskId,
    ...(task.statusMessage === undefined ? {} : { statusMessage: task.statusMessage }),
    createdAt: task.createdAt,
    lastUpdatedAt: task.lastUpdatedAt,
    ttlMs: task.ttlMs,
    pollIntervalMs: task.pollIntervalMs
  }
  switch (task.status) {
    case "input_required": {
      // `fromEntries` defines its members, so that a key such as `__proto__` is one like any other.
      const requests = Object.fromEntries(outstanding(task).map(({ key, request }) => [key, request]))
      return { ...shown, status: task.status, inputRequests: requests }
    }
    case "completed":
      return { ...shown, status: task.status, result: JSON.parse(task.result) }
    case "failed":
      return { ...shown, status: task.status, error: task.error }
    default:
      return { ...shown, status: task.status }
  }
}
