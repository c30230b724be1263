/**
 * The only writer of tasks: it reads, asks `TaskMachine`, replaces, tries again when it lost a race, and signals.
 *
 * Everything that acts for a caller takes the caller and answers `TaskNotFound` alike for what does not exist, what
 * has been forgotten, and what belongs to somebody else.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as lifecycles from "./internal/lifecycle.ts"
import * as storeTime from "./internal/storeTime.ts"
import * as taskIds from "./internal/taskIds.ts"
import * as taskWaiters from "./internal/taskWaiters.ts"
import * as taskWriter from "./internal/taskWriter.ts"
import { TaskClock } from "./TaskClock.ts"
import { type InvalidAnswer, TaskNotFound } from "./TaskEngineError.ts"
import { TaskLimits } from "./TaskLimits.ts"
import * as TaskOwner from "./TaskOwner.ts"
import { TaskSignal } from "./TaskSignal.ts"
import { TaskStore } from "./TaskStore.ts"
import type { TaskAlreadyExists, TaskStoreError, TaskView, TooManyTasks } from "./TaskStore.ts"

/**
 * @since 0.1.0
 */
export { InvalidAnswer, TaskNotFound } from "./TaskEngineError.ts"

/**
 * Some tasks under observation.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskWatch {
  /**
   * Waits until something may have changed, and says which of the tasks to look at again: those whose signal has come
   * since the last time, or all of them when a heartbeat has passed without one. For one fiber at a time.
   */
  readonly next: Effect.Effect<ReadonlyArray<string>>
}

/**
 * The only writer of tasks.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskEngine extends Context.Service<TaskEngine, {
  /** The time that tasks are judged by, in epoch milliseconds: `TaskClock`. */
  readonly now: Effect.Effect<number>

  /** Makes a new task durable. `started` claims the first attempt in the same write. */
  readonly create: (
    task: Omit<TaskMachine.NewTask, "taskId" | "at">,
    options: { readonly started: boolean }
  ) => Effect.Effect<Task.Stored, TaskStoreError | TaskAlreadyExists | TooManyTasks>

  /** What `tasks/get` answers with (ext-tasks, "Task Polling"). A live task past its deadline is failed first. */
  readonly view: (owner: TaskOwner.TaskOwner, taskId: string) => Effect.Effect<TaskView, TaskNotFound | TaskStoreError>

  /**
   * Answers outstanding questions, all or none; other keys are ignored (ext-tasks, "Task Update Requests").
   *
   * **Details**
   *
   * Read-your-writes: the next `view`, by anyone, shows the questions gone. An ended task takes no answer and says
   * nothing of it.
   */
  readonly answer: (
    owner: TaskOwner.TaskOwner,
    taskId: string,
    responses: Schema.JsonObject
  ) => Effect.Effect<void, TaskNotFound | InvalidAnswer | TaskStoreError>

  /** Asks the task to stop (ext-tasks, "Task Cancellation"). An ended task stays as it ended. */
  readonly cancel: (owner: TaskOwner.TaskOwner, taskId: string) => Effect.Effect<void, TaskNotFound | TaskStoreError>

  /**
   * Gives a command to a task on behalf of a worker or of time, and says what became of the task.
   *
   * **Details**
   *
   * Whoever remembers the task as it last was saves a read by giving that instead of the id.
   */
  readonly apply: (
    target: string | Task.Stored,
    command: TaskCommand
  ) => Effect.Effect<Task.Stored, TaskMachine.TaskRejected | TaskNotFound | TaskStoreError>

  /** Waits until the task has ended, for at most so long; none when it has not. */
  readonly awaitEnd: (
    taskId: string,
    within: Duration.Duration
  ) => Effect.Effect<Option.Option<Task.Stored<Task.TerminalTask>>, TaskNotFound | TaskStoreError>

  /** Watches tasks until the scope closes. Whoever looks at them after this misses no change. */
  readonly watch: (taskIds: Iterable<string>) => Effect.Effect<TaskWatch, never, Scope.Scope>

  /** Forgets an ended task whose outcome has been delivered in another way. */
  readonly forget: (stored: Task.Stored<Task.TerminalTask>) => Effect.Effect<void, TaskStoreError>
}>()("@effect-mcp-tasks/engine/TaskEngine") {}

/** How long a waiter trusts that a missing signal means that nothing happened. */
const heartbeat = Duration.seconds(5)

/** A store that is asked again by its own client, after a reply that was lost, answers that the task is there. */
const isUnclear = (error: TaskStoreError | TaskAlreadyExists | TooManyTasks) =>
  error._tag === "TaskAlreadyExists" || (error._tag === "TaskStoreError" && error.mayHaveHappened)

/** Whether a task that was found is the one that was to be created, whatever has become of it since. */
const isSame = (found: Task.Task, created: Task.Task): boolean =>
  found.owner === created.owner && found.tool === created.tool && found.createdAt === created.createdAt

const make = Effect.gen(function*() {
  const store = storeTime.measured(yield* TaskStore)
  const nextId = taskIds.make(yield* SecureRandom.SecureRandom)
  const limits = yield* TaskLimits
  const signal = yield* TaskSignal
  const now = yield* TaskClock
  const lifecycle = yield* lifecycles.make
  const writer = taskWriter.make({ store, signal, now, lifecycle, maxJournalLength: limits.maxJournalLength })
  const waiters = yield* taskWaiters.make(signal)

  const view: TaskEngine["Service"]["view"] = Effect.fnUntraced(function*(owner, taskId) {
    const found = yield* writer.view(taskId)
    if (found.owner !== TaskOwner.key(owner)) return yield* new TaskNotFound()
    if (found.dueAt === null || found.dueAt > (yield* now)) return found
    // Overdue: it is failed now, or it is forgotten.
    yield* writer.owned(owner, taskId)
    return yield* writer.view(taskId)
  })

  /** Nobody else knows the id: a task that is there although the store did not say so is the one created here. */
  const confirmed = <E>(created: Task.Task, error: E) =>
    Effect.flatMap(
      Effect.orElseSucceed(store.read(created.taskId), () => Option.none<Task.Stored>()),
      Option.match({
        onNone: () => Effect.fail(error),
        onSome: (found) => isSame(found.task, created) ? Effect.succeed(found) : Effect.fail(error)
      })
    )

  const create: TaskEngine["Service"]["create"] = Effect.fnUntraced(function*(task, { started }) {
    const at = yield* now
    const created = TaskMachine.create({ ...task, at, taskId: yield* nextId(at) })
    const events = started ? Result.getOrElse(TaskMachine.decide(created, { _tag: "Start", at }), () => []) : []
    const first = events.reduce<Task.Task>(TaskMachine.evolve, created)
    const stored = yield* Effect.catchIf(
      store.create(first, { maxLive: limits.maxLiveTasks }),
      isUnclear,
      (error) => confirmed(first, error)
    )
    yield* lifecycle.created(stored)
    yield* lifecycle.changed({ stored, events, command: "Start" })
    return stored
  })

  const awaitEnd: TaskEngine["Service"]["awaitEnd"] = Effect.fn("TaskEngine.awaitEnd")(function*(taskId, within) {
    const latch = yield* waiters.latch(taskId)
    const ended = Effect.gen(function*() {
      while (true) {
        latch.closeUnsafe()
        const { task, version } = yield* writer.existing(taskId)
        if (Task.isTerminal(task)) return { task, version }
        yield* Effect.timeoutOption(latch.await, heartbeat)
      }
    })
    return yield* Effect.timeoutOption(ended, within)
  }, Effect.scoped)

  return TaskEngine.of({
    now,
    create,
    view,
    awaitEnd,
    answer: writer.answer,
    cancel: writer.cancel,
    apply: writer.apply,
    watch: waiters.watch,
    forget: ({ task, version }) => Effect.asVoid(store.remove(task.taskId, version))
  })
})

/**
 * Writes to whatever store and signals through whatever signal are provided. Task ids hold 128 random bits
 * from a cryptographic source.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskEngine, never, TaskStore | TaskSignal | SecureRandom.SecureRandom> = Layer.effect(
  TaskEngine,
  make
)
