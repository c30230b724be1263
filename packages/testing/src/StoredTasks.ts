/**
 * Tasks as an engine gives them to a store, plain ones and hostile ones, for tests of stores.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as Arbitrary from "effect/Arbitrary"

/**
 * When these tasks are created, in epoch milliseconds.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const createdAt = 1_790_000_000_000

/**
 * A task at work, as an engine makes it: `task-1` of `ada`, due a minute after `createdAt`.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const working = (given: Partial<Task.WorkingTask> = {}): Task.WorkingTask => ({
  taskId: "task-1",
  owner: "ada",
  tool: "research",
  arguments: { topic: "tea" },
  capabilities: { elicitation: {} },
  policy: { recovery: "resume", resultTtlMs: 10_000, maxLostAttempts: 3, maxQuestions: 10, maxSteps: 10 },
  createdAt,
  lastUpdatedAt: createdAt,
  ttlMs: 60_000,
  pollIntervalMs: 1_000,
  attempt: 1,
  lostAttempts: 0,
  questions: [],
  steps: [],
  status: "working",
  running: true,
  cancelRequested: false,
  ...given
})

/**
 * The same task, ended with a result.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const completed = (task: Task.WorkingTask, result = `{"content":[]}`): Task.CompletedTask => {
  const { cancelRequested: _, running: __, ...rest } = task
  return { ...rest, status: "completed", result, isError: false }
}

/**
 * The same task, while it waits for its user.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const inputRequired = (task: Task.WorkingTask): Task.InputRequiredTask => {
  const { cancelRequested: _, ...rest } = task
  const request = { method: "roots/list", params: {} } as const
  return { ...rest, status: "input_required", questions: [{ key: "where", request, state: "outstanding" }] }
}

/**
 * The same task, ended with an error.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const failed = (task: Task.WorkingTask): Task.FailedTask => {
  const { cancelRequested: _, running: __, ...rest } = task
  return { ...rest, status: "failed", error: { code: -32603, message: "The kettle is broken" } }
}

/**
 * The same task, ended since its client asked for it.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const cancelled = (task: Task.WorkingTask): Task.CancelledTask => {
  const { cancelRequested: _, running: __, ...rest } = task
  return { ...rest, status: "cancelled" }
}

/**
 * A task as JSON text brings it back: without `-0`, in the order in which its members were written.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const viaJson = (task: Task.Task): Task.Task => JSON.parse(JSON.stringify(task))

const isColumn = (text: string) => text.isWellFormed() && !text.includes("\0")

/**
 * Any task that a store has to keep.
 *
 * @category generators
 * @since 0.1.0
 */
export const anyTask: Arbitrary.Arbitrary<Task.Task> = Arbitrary.filter(
  Arbitrary.schema(Task.Task),
  (task) => isColumn(task.taskId) && isColumn(task.owner) && (task.status !== "completed" || isColumn(task.result))
)

/**
 * Strings that are easily lost on the way to a database and back.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const hostileTexts: ReadonlyArray<readonly [name: string, text: string]> = [
  ["a lone high surrogate", "a\ud800b"],
  ["a lone low surrogate", "a\udc00b"],
  ["NUL", "a\0b"],
  ["emoji", "👩‍👩‍👧 🏳️‍🌈"],
  ["right to left", "שלום \u202eabc\u202c"],
  ["quotes", `'"\`\\ '; DROP TABLE mcp_tasks; --`],
  ["placeholders", "? $1 :name @name %s ${x}"],
  ["line ends", "\r\n\u2028\u2029\u0085"],
  ["not normalised", "e\u0301 \u00e9"],
  ["blanks around", "  x\t "]
]

/**
 * JSON text of an object with keys that assignment would lose.
 *
 * @category fixtures
 * @since 0.1.0
 */
export const hostileKeys =
  `{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":1,"":2,"10":3,"a.b":4}`
