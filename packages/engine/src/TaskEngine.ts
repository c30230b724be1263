/**
 * The only writer of tasks: it reads, asks `TaskMachine`, replaces, tries again when it lost a race, and signals.
 *
 * Everything that acts for a caller takes the caller and answers `TaskNotFound` alike for what does not exist, what
 * has been forgotten, and what belongs to somebody else.
 *
 * @since 0.1.0
 */
import type { Stored, Task, TerminalTask } from "@effect-mcp-tasks/core/Task"
import { isDue, isTerminal, outstanding } from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as answers from "./internal/answers.ts"
import * as taskWaiters from "./internal/taskWaiters.ts"
import { TaskLimits } from "./TaskLimits.ts"
import * as TaskOwner from "./TaskOwner.ts"
import { TaskSignal } from "./TaskSignal.ts"
import type { TaskAlreadyExists, TaskView, TooManyTasks } from "./TaskStore.ts"
import { TaskStore, TaskStoreError, VersionConflict } from "./TaskStore.ts"

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
    task: Omit<TaskMachine.NewTask, "taskId" | "at">,
    options: { readonly started: boolean }
  ) => Effect.Effect<Stored, TaskStoreError | TaskAlreadyExists | TooManyTasks>

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
    target: string | Stored,
    command: TaskCommand
  ) => Effect.Effect<Stored, TaskMachine.TaskRejected | TaskNotFound | TaskStoreError>

  /** Waits until the task has ended, for at most so long; none when it has not. */
  readonly awaitEnd: (
    taskId: string,
    within: Duration.Duration
  ) => Effect.Effect<Option.Option<Stored<TerminalTask>>, TaskNotFound | TaskStoreError>

  /** Forgets an ended task whose outcome has been delivered in another way. */
  readonly forget: (stored: Stored<TerminalTask>) => Effect.Effect<void, TaskStoreError>
}>()("@effect-mcp-tasks/engine/TaskEngine") {}

/** Each lost race means that somebody else got on; this many in a row mean that something is wrong. */
const maxRaces = 100

/** How long a waiter trusts that a missing signal means that nothing happened. */
const heartbeat = Duration.seconds(5)

type WriteError = TaskMachine.TaskRejected | TaskStoreError | VersionConflict

const notFound = Effect.fail(new TaskNotFound())

const make = Effect.gen(function*() {
  const store = yield* TaskStore
  const signal = yield* TaskSignal
  const random = yield* SecureRandom.SecureRandom
  const limits = yield* TaskLimits
  const waitFor = yield* taskWaiters.make(signal)

  const write = (stored: Stored, command: TaskCommand): Effect.Effect<Stored, WriteError> => {
    const next = TaskMachine.step(stored.task, command)
    if (Result.isFailure(next)) return Effect.fail(next.failure)
    if (next.success === stored.task) return Effect.succeed(stored)
    return Effect.tap(store.replace(stored, next.success), signal.publish(stored.task.taskId))
  }

  const existing = Effect.fnUntraced(function*(taskId: string) {
    const stored = isPossible(taskId) ? yield* store.read(taskId) : Option.none<Stored>()
    return Option.isSome(stored) ? stored.value : yield* notFound
  })

  /** The task as its owner may see it now: what is overdue has failed, what is forgotten is not there. */
  const owned = Effect.fnUntraced(function*(owner: TaskOwner.TaskOwner, taskId: string) {
    const stored = yield* existing(taskId)
    if (stored.task.owner !== TaskOwner.key(owner)) return yield* notFound
    const at = yield* Clock.currentTimeMillis
    if (!isDue(stored.task, at)) return stored
    return isTerminal(stored.task) ? yield* notFound : yield* acknowledged(stored, { _tag: "Expire", at })
  })

  const apply: TaskEngine["Service"]["apply"] = Effect.fn("TaskEngine.apply")(function*(target, command) {
    if (typeof target !== "string") {
      const next = TaskMachine.step(target.task, command)
      // What is remembered may be old. A change is safe to try, since the version guards it; a refusal or an
      // acknowledgement without effect is not to be believed before the task has been read.
      if (Result.isSuccess(next) && next.success !== target.task) {
        const replaced = yield* Effect.result(store.replace(target, next.success))
        if (Result.isSuccess(replaced)) return yield* Effect.as(signal.publish(target.task.taskId), replaced.success)
      }
    }
    const taskId = typeof target === "string" ? target : target.task.taskId
    return yield* racing(Effect.flatMap(existing(taskId), (stored) => write(stored, command)))
  })

  const answer = Effect.fn("TaskEngine.answer")(
    function*(owner: TaskOwner.TaskOwner, taskId: string, responses: Schema.JsonObject) {
      const stored = yield* owned(owner, taskId)
      if (isTerminal(stored.task)) return
      const checked = checkAnswers(stored.task, responses)
      if (Result.isFailure(checked)) return yield* Effect.fail(checked.failure)
      const at = yield* Clock.currentTimeMillis
      yield* acknowledged(stored, { _tag: "Answer", at, responses: checked.success })
    }
  )

  const cancel = Effect.fn("TaskEngine.cancel")(function*(owner: TaskOwner.TaskOwner, taskId: string) {
    const stored = yield* owned(owner, taskId)
    yield* acknowledged(stored, { _tag: "Cancel", at: yield* Clock.currentTimeMillis })
  })

  /** For commands that the machine cannot refuse a task in this state. */
  const acknowledged = (stored: Stored, command: TaskCommand) =>
    Effect.catchTag(
      write(stored, command),
      "TaskRejected",
      ({ reason, taskId }) =>
        Effect.die(new Error(`${command._tag} of ${taskId} at version ${stored.version} was refused: ${reason}`))
    )

  const view = Effect.fnUntraced(function*(owner: TaskOwner.TaskOwner, taskId: string) {
    const found = isPossible(taskId) ? yield* store.view(taskId) : Option.none()
    if (Option.isNone(found) || found.value.owner !== TaskOwner.key(owner)) return yield* notFound
    if (found.value.dueAt === null || found.value.dueAt > (yield* Clock.currentTimeMillis)) return found.value
    yield* racing(owned(owner, taskId))
    const settled = yield* store.view(taskId)
    return Option.isSome(settled) ? settled.value : yield* notFound
  })

  const create: TaskEngine["Service"]["create"] = Effect.fn("TaskEngine.create")(function*(task, { started }) {
    const at = yield* Clock.currentTimeMillis
    const created = TaskMachine.create({ ...task, at, taskId: yield* random.uuidV4() })
    const first = started ? Result.getOrElse(TaskMachine.step(created, { _tag: "Start", at }), () => created) : created
    return yield* store.create(first, { maxLive: limits.maxLiveTasks })
  })

  const awaitEnd = Effect.fn("TaskEngine.awaitEnd")(function*(taskId: string, within: Duration.Duration) {
    const latch = yield* waitFor(taskId)
    const ended = Effect.gen(function*() {
      while (true) {
        latch.closeUnsafe()
        const { task, version } = yield* existing(taskId)
        if (isTerminal(task)) return { task, version }
        yield* Effect.timeoutOption(latch.await, heartbeat)
      }
    })
    return yield* Effect.timeoutOption(ended, within)
  }, Effect.scoped)

  return {
    apply,
    awaitEnd,
    cancel: (owner: TaskOwner.TaskOwner, taskId: string) => racing(cancel(owner, taskId)),
    answer: (owner: TaskOwner.TaskOwner, taskId: string, responses: Schema.JsonObject) =>
      racing(answer(owner, taskId, responses)),
    create,
    forget: ({ task, version }: Stored<TerminalTask>) => Effect.asVoid(store.remove(task.taskId, version)),
    view
  }
})

/** Reads and decides again for as long as somebody else was faster. */
const racing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, VersionConflict> | TaskStoreError, R> =>
  effect.pipe(
    Effect.retry({ while: isConflict, times: maxRaces }),
    Effect.mapError((error) =>
      isConflict(error)
        ? new TaskStoreError({ operation: "replace", reason: "Unavailable", cause: error })
        : error as Exclude<E, VersionConflict>
    )
  )

const isConflict = (error: unknown): error is VersionConflict => error instanceof VersionConflict

/** No store needs to be asked for what cannot be an id, and some cannot even be asked. */
const isPossible = (taskId: string): boolean => taskId.length <= 256 && !taskId.includes("\0")

const checkAnswers = (task: Task, responses: Schema.JsonObject) => {
  const checked: Array<{ readonly key: string; readonly response: Schema.Json }> = []
  for (const { key, request } of outstanding(task)) {
    const response = Object.hasOwn(responses, key) ? responses[key] : undefined
    if (response === undefined) continue
    const result = answers.check(request, response)
    if (Result.isFailure(result)) return Result.fail(new InvalidAnswer({ key, message: result.failure }))
    checked.push({ key, response: result.success })
  }
  return Result.succeed(checked)
}

/**
 * Writes to whatever store and signals through whatever signal are provided. Task ids are random UUIDs (version 4,
 * 122 random bits) from a cryptographic source.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskEngine, never, TaskStore | TaskSignal | SecureRandom.SecureRandom> = Layer.effect(
  TaskEngine,
  make
)
