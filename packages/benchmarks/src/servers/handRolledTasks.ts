/**
 * Tasks the way they are written by hand beside the official SDK: a `Map` in the process, a promise per task.
 *
 * It is meant to be fair: it does what the protocol asks of the benchmark's tools and nothing slow. It does not
 * offer durability, ownership, validated answers, or a bound on memory; a server that does should still be compared
 * with it, since it is what people have.
 *
 * @since 0.1.0
 */
import { pollIntervalMs, ttlMs } from "../protocol.ts"

/** Is a finished tool result. */
export interface ToolResult {
  readonly content: ReadonlyArray<{ readonly type: "text"; readonly text: string }>
}

/** Lets a running tool ask the client, and learn that it was cancelled. */
export interface TaskContext {
  readonly ask: (key: string, request: object) => Promise<unknown>
  readonly signal: AbortSignal
}

interface Question {
  readonly request: object
  readonly answer: (response: unknown) => void
}

interface TaskRecord {
  readonly taskId: string
  readonly createdAt: number
  readonly questions: Map<string, Question>
  readonly abort: AbortController
  status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  lastUpdatedAt: number
  result?: ToolResult
  error?: { readonly code: number; readonly message: string }
}

const tasks = new Map<string, TaskRecord>()

setInterval(() => {
  const now = Date.now()
  for (const [taskId, task] of tasks) if (task.createdAt + ttlMs < now) tasks.delete(taskId)
}, 60_000).unref()

const isOver = (task: TaskRecord): boolean => task.status !== "working" && task.status !== "input_required"

const move = (task: TaskRecord, status: TaskRecord["status"]): void => {
  task.status = status
  task.lastUpdatedAt = Date.now()
}

const summary = (task: TaskRecord) => ({
  taskId: task.taskId,
  status: task.status,
  createdAt: new Date(task.createdAt).toISOString(),
  lastUpdatedAt: new Date(task.lastUpdatedAt).toISOString(),
  ttlMs,
  pollIntervalMs
})

const ask = (task: TaskRecord, key: string, request: object): Promise<unknown> =>
  new Promise((answer) => {
    task.questions.set(key, { request, answer })
    move(task, "input_required")
  })

const run = async (task: TaskRecord, handler: (context: TaskContext) => Promise<ToolResult>): Promise<void> => {
  try {
    const result = await handler({ ask: (key, request) => ask(task, key, request), signal: task.abort.signal })
    if (isOver(task)) return
    task.result = result
    move(task, "completed")
  } catch (cause) {
    if (isOver(task)) return
    task.error = { code: -32603, message: cause instanceof Error ? cause.message : "Internal error" }
    move(task, "failed")
  }
}

/** Starts a handler as a task, and returns the task as `CreateTaskResult` shows it, without its `resultType`. */
export const createTask = (handler: (context: TaskContext) => Promise<ToolResult>) => {
  const now = Date.now()
  const task: TaskRecord = {
    taskId: crypto.randomUUID(),
    createdAt: now,
    lastUpdatedAt: now,
    questions: new Map(),
    abort: new AbortController(),
    status: "working"
  }
  tasks.set(task.taskId, task)
  const seed = summary(task)
  void run(task, handler)
  return seed
}

/** Returns the task as `tasks/get` shows it, or `undefined` where it is unknown. */
export const getTask = (taskId: string) => {
  const task = tasks.get(taskId)
  if (task === undefined) return undefined
  switch (task.status) {
    case "input_required":
      return {
        ...summary(task),
        inputRequests: Object.fromEntries(Array.from(task.questions, ([key, { request }]) => [key, request]))
      }
    case "completed":
      return { ...summary(task), result: { ...task.result, resultType: "complete" } }
    case "failed":
      return { ...summary(task), error: task.error }
    default:
      return summary(task)
  }
}

/** Delivers answers to outstanding questions and ignores the others; `false` where the task is unknown. */
export const updateTask = (taskId: string, responses: Readonly<Record<string, unknown>>): boolean => {
  const task = tasks.get(taskId)
  if (task === undefined) return false
  for (const [key, response] of Object.entries(responses)) {
    const question = task.questions.get(key)
    if (question === undefined || isOver(task)) continue
    task.questions.delete(key)
    move(task, task.questions.size === 0 ? "working" : "input_required")
    question.answer(response)
  }
  return true
}

/** Cancels a live task and leaves a finished one as it is; `false` where the task is unknown. */
export const cancelTask = (taskId: string): boolean => {
  const task = tasks.get(taskId)
  if (task === undefined) return false
  if (!isOver(task)) {
    move(task, "cancelled")
    task.abort.abort()
  }
  return true
}
