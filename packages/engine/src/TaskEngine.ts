/**
 * The only writer of tasks: it reads, asks `TaskMachine`, replaces, tries again when it lost a race, and signals.
 *
 * Everything that acts for a caller takes the caller and answers `TaskNotFound` alike for what does not exist, what
 * has been forgotten, and what belongs to somebody else.
 *
 * @since 0.1.0
 */
import type { Stored, TerminalTask } from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { NewTask, TaskRejected } from "@effect-mcp-tasks/core/TaskMachine"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as engine from "./internal/engine.ts"
import type { TaskOwner } from "./TaskOwner.ts"
import type { TaskSignal } from "./TaskSignal.ts"
import type { TaskAlreadyExists, TaskStore, TaskStoreError, TaskView, TooManyTasks } from "./TaskStore.ts"

/**
 * There is no such task for this caller.
 *
 * @category errors
 * @since 0.1.0
 */
export class TaskNotFound extends Schema.TaggedError<TaskNotFound>()("TaskNotFound", {}) {}

/**
 * An answer does not fit its question; no answer of the same request was applied.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidAnswer extends Schema.TaggedError<InvalidAnswer>()("InvalidAnswer", {
  key: Schema.String,
  message: Schema.String
}) {}

/**
 * The only writer of tasks.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskEngine extends Context.Service<TaskEngine, {
  /** Makes a new task durable. `started` claims the first attempt in the same write. */
  readonly create: (
    task: Omit<NewTask, "taskId" | "at">,
    options: { readonly started: boolean }
  ) => Effect.Effect<Stored, TaskStoreError | TaskAlreadyExists | TooManyTasks>

  /** What `tasks/get` answers with (ext-tasks, "Task Polling"). A live task past its deadline is failed first. */
  readonly view: (owner: TaskOwner, taskId: string) => Effect.Effect<TaskView, TaskNotFound | TaskStoreError>

  /**
   * Answers outstanding questions, all or none; other keys are ignored (ext-tasks, "Task Update Requests").
   *
   * **Details**
   *
   * Read-your-writes: the next `view`, by anyone, shows the questions gone. An ended task takes no answer and says
   * nothing of it.
   */
  readonly answer: (
    owner: TaskOwner,
    taskId: string,
    responses: Schema.JsonObject
  ) => Effect.Effect<void, TaskNotFound | InvalidAnswer | TaskStoreError>

  /** Asks the task to stop (ext-tasks, "Task Cancellation"). An ended task stays as it ended. */
  readonly cancel: (owner: TaskOwner, taskId: string) => Effect.Effect<void, TaskNotFound | TaskStoreError>

  /**
   * Gives a command to a task on behalf of a worker or of time, and says what became of the task.
   *
   * **Details**
   *
   * Whoever remembers the task as it last was saves a read by giving that instead of the id.
   */
  readonly apply: (
    target: string | Stored,
    command: TaskCommand
  ) => Effect.Effect<Stored, TaskRejected | TaskNotFound | TaskStoreError>

  /** Waits until the task has ended, for at most so long; none when it has not. */
  readonly awaitEnd: (
    taskId: string,
    within: Duration.Duration
  ) => Effect.Effect<Option.Option<Stored<TerminalTask>>, TaskNotFound | TaskStoreError>

  /** Forgets an ended task whose outcome has been delivered in another way. */
  readonly forget: (stored: Stored<TerminalTask>) => Effect.Effect<void, TaskStoreError>
}>()("@effect-mcp-tasks/engine/TaskEngine") {}

/**
 * Writes to whatever store and signals through whatever signal are provided. Task ids are random UUIDs (version 4,
 * 122 random bits) from a cryptographic source.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskEngine, never, TaskStore | TaskSignal | SecureRandom.SecureRandom> = Layer.effect(
  TaskEngine,
  Effect.suspend(() => engine.make)
)
