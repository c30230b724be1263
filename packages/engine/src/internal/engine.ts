/**
 * The engine over a store and a signal: every write of a task goes through `write`.
 *
 * @since 0.1.0
 */
import type { Stored, Task, TerminalTask } from "@effect-mcp-tasks/core/Task"
import { isDue, isTerminal, outstanding } from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { InvalidAnswer, TaskNotFound } from "../TaskEngine.ts"
import type { TaskEngine } from "../TaskEngine.ts"
import { TaskLimits } from "../TaskLimits.ts"
import * as TaskOwner from "../TaskOwner.ts"
import { TaskSignal } from "../TaskSignal.ts"
import { TaskStore, TaskStoreError, VersionConflict } from "../TaskStore.ts"
import * as answers from "./answers.ts"
import * as taskWaiters from "./taskWaiters.ts"

/** Each lost race means that somebody else got on; this many in a row mean that something is wrong. */
const maxRaces = 100

/** How long a waiter trusts that a missing signal means that nothing happened. */
const heartbeat = Duration.seconds(5)

type WriteError = TaskMachine.TaskRejected | TaskStoreError | VersionConflict

const notFound = Effect.fail(new TaskNotFound())

/**
 * Makes the engine.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
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
