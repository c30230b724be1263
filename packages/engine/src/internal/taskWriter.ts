/**
 * Reading, deciding and replacing: every change of a task goes through here.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { TaskEvent } from "@effect-mcp-tasks/core/TaskEvent"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { TaskNotFound } from "../TaskEngineError.ts"
import * as TaskOwner from "../TaskOwner.ts"
import type { TaskSignal } from "../TaskSignal.ts"
import { type TaskStore, TaskStoreError, VersionConflict } from "../TaskStore.ts"
import * as answers from "./answers.ts"
import type { Lifecycle } from "./lifecycle.ts"

/** Each lost race means that somebody else got on; this many in a row mean that something is wrong. */
const maxRaces = 100

type WriteError = TaskMachine.TaskRejected | TaskStoreError | VersionConflict

/** A command to a task as it was read. */
interface Wish {
  readonly stored: Task.Stored
  readonly command: TaskCommand
}

interface Services {
  readonly lifecycle: Lifecycle
  readonly store: TaskStore["Service"]
  readonly signal: TaskSignal["Service"]
  readonly now: Effect.Effect<number>
  readonly maxJournalLength: number
}

/**
 * Makes the writer over a store, a signal and a clock, which tells of what it has written.
 *
 * @since 0.1.0
 */
export const make = ({ lifecycle, maxJournalLength, now, signal, store }: Services) => {
  const replace = replacing({ lifecycle, signal, store })

  const write = (wish: Wish): Effect.Effect<Task.Stored, WriteError> => {
    const events = TaskMachine.decide(wish.stored.task, wish.command)
    if (Result.isFailure(events)) return Effect.fail(events.failure)
    return events.success.length === 0 ? Effect.succeed(wish.stored) : replace(wish, events.success)
  }

  const existing = (taskId: string) => found(taskId, store.read)

  /** The task as its owner may see it now: what is overdue has failed, what is forgotten is not there. */
  const current = Effect.fnUntraced(function*(owner: TaskOwner.TaskOwner, taskId: string) {
    const stored = yield* existing(taskId)
    if (stored.task.owner !== TaskOwner.key(owner)) return yield* new TaskNotFound()
    const at = yield* now
    if (!Task.isDue(stored.task, at)) return stored
    return Task.isTerminal(stored.task) ? yield* new TaskNotFound() : yield* unrefused(stored, { _tag: "Expire", at })
  })

  /** For commands that the machine does not refuse a task in this state. */
  const unrefused = (stored: Task.Stored, command: TaskCommand) =>
    Effect.catchTag(write({ stored, command }), "TaskRejected", ({ reason, taskId }) =>
      Effect.die(new Error(`${command._tag} of ${taskId} at version ${stored.version} was refused: ${reason}`)))

  const answer = Effect.fnUntraced(function*(owner: TaskOwner.TaskOwner, taskId: string, given: Schema.JsonObject) {
    const stored = yield* current(owner, taskId)
    if (Task.isTerminal(stored.task)) return
    const checked = answers.checkAll(Task.outstanding(stored.task), given)
    const responses = yield* Effect.fromResult(
      Result.flatMap(checked, (fitting) => answers.checkRoom(stored.task, fitting, maxJournalLength))
    )
    yield* unrefused(stored, { _tag: "Answer", at: yield* now, responses })
  })

  const cancel = Effect.fnUntraced(function*(owner: TaskOwner.TaskOwner, taskId: string) {
    const stored = yield* current(owner, taskId)
    yield* unrefused(stored, { _tag: "Cancel", at: yield* now })
  })

  const afresh = (taskId: string, command: TaskCommand) =>
    racing(Effect.flatMap(existing(taskId), (stored) => write({ stored, command })))

  const apply = (target: string | Task.Stored, command: TaskCommand) => {
    if (typeof target === "string") return afresh(target, command)
    const { taskId } = target.task
    // What is remembered may be old. A change is safe to try, since the version guards it; a refusal, or an
    // acknowledgement without effect, is not to be believed before the task has been read.
    const events = TaskMachine.decide(target.task, command)
    return Result.isFailure(events) || events.success.length === 0
      ? afresh(taskId, command)
      : Effect.catchIf(replace({ stored: target, command }, events.success), isConflict, () => afresh(taskId, command))
  }

  return {
    apply,
    existing,
    view: (taskId: string) => found(taskId, store.view),
    owned: (owner: TaskOwner.TaskOwner, taskId: string) => racing(current(owner, taskId)),
    answer: (owner: TaskOwner.TaskOwner, taskId: string, given: Schema.JsonObject) =>
      racing(answer(owner, taskId, given)),
    cancel: (owner: TaskOwner.TaskOwner, taskId: string) => racing(cancel(owner, taskId))
  }
}

/** Makes what the machine has decided durable, and says so to all who want to know. */
const replacing = ({ lifecycle, signal, store }: Pick<Services, "lifecycle" | "signal" | "store">) =>
({ stored, command }: Wish, events: ReadonlyArray<TaskEvent>) => {
  const next = events.reduce(TaskMachine.evolve, stored.task)
  return store.replace(stored, next).pipe(
    Effect.tap((replaced) =>
      // Told first, so that nothing that follows from it is told before.
      Effect.andThen(
        lifecycle.changed({ stored: replaced, events, command: command._tag }),
        signal.publish(next.taskId)
      )
    ),
    // A write that may have happened is signalled too: to look again costs less than to wait for the heartbeat.
    Effect.tapError((error) =>
      error._tag === "TaskStoreError" && error.mayHaveHappened ? signal.publish(next.taskId) : Effect.void)
  )
}

/** Reads and decides again for as long as somebody else was faster. */
const racing = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, VersionConflict> | TaskStoreError, R> =>
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
const isPossible = (taskId: string): boolean =>
  taskId.length <= 256 && taskId.isWellFormed() && !taskId.includes("\0")

/** What is wrong with one task is said with its id. */
const named = (taskId: string) => (error: TaskStoreError): TaskStoreError =>
  error.isPermanent
    ? new TaskStoreError({ operation: error.operation, reason: error.reason, cause: error.cause, taskId })
    : error

const found = <A>(
  taskId: string,
  read: (taskId: string) => Effect.Effect<Option.Option<A>, TaskStoreError>
): Effect.Effect<A, TaskNotFound | TaskStoreError> =>
  isPossible(taskId)
    ? Effect.flatMap(Effect.mapError(read(taskId), named(taskId)), (option) =>
      Option.isSome(option) ? Effect.succeed(option.value) : Effect.fail(new TaskNotFound()))
    : Effect.fail(new TaskNotFound())
