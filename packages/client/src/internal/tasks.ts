/**
 * Tasks by their id: looked at once, or observed to their end.
 *
 * @since 0.1.0
 */
import * as TaskObserver from "@effect-mcp-tasks/core/TaskObserver"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as InputHandler from "../InputHandler.ts"
import type { ResumeOptions, TaskOptions } from "../TaskClient.ts"
import {
  type InputRefused,
  type RequestError,
  TaskExpired,
  type TaskHandleStoreError
} from "../TaskClientError.ts"
import type { TaskHandle } from "../TaskHandle.ts"
import type { RememberedTask } from "../TaskHandleStore.ts"
import * as memory from "./memory.ts"
import * as observation from "./observation.ts"
import * as outcome from "./outcome.ts"
import type { Parts } from "./parts.ts"
import { readView } from "./readView.ts"

/**
 * A handle, and how to forget its task.
 *
 * @since 0.1.0
 */
export interface Observed<out A, out E> {
  readonly handle: TaskHandle<A, E>
  readonly forget: Effect.Effect<void>
}

/** The errors that say how a task ended. */
const endings: ReadonlySet<unknown> = new Set([
  "TaskFailed",
  "TaskCancelled",
  "TaskExpired",
  "ToolError",
  "InvalidOutput"
])

/**
 * Tells whether an error is how a task ended.
 *
 * @since 0.1.0
 */
export const isEnding = (error: unknown): boolean => Predicate.hasProperty(error, "_tag") && endings.has(error._tag)

/** Whether whoever was given the end of a task has dealt with it: they went on, or failed with just that end. */
const isDealtWith = (exit: Exit.Exit<unknown, unknown>, taskId: string): boolean => {
  if (Exit.isSuccess(exit)) return true
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return isEnding(error) && Predicate.hasProperty(error, "taskId") && error.taskId === taskId
}

/**
 * Begins to remember a task that is first seen now.
 *
 * @since 0.1.0
 */
export const remembered = (
  { server }: Parts,
  taskId: string,
  tool: string | undefined
): Effect.Effect<RememberedTask> =>
  Effect.map(Clock.currentTimeMillis, (firstSeenAt) => ({
    server,
    taskId,
    ...(tool === undefined ? {} : { tool }),
    firstSeenAt,
    answers: []
  }))

/**
 * Observes a task for as long as the scope is open.
 *
 * **Details**
 *
 * The task is forgotten when the scope closes, if its end was given to someone by then who did not fail for another
 * reason, or if it was cancelled through the handle: what nobody has dealt with can be resumed.
 *
 * @since 0.1.0
 */
export const observe = Effect.fnUntraced(function*<A, R, E, R2>(
  parts: Parts,
  view: TaskView.TaskView,
  task: RememberedTask,
  options: ResumeOptions<A, R, E, R2>
): Effect.fn.Return<Observed<A, E>, TaskHandleStoreError, R | R2 | Scope.Scope> {
  const { isListenable, limits, onUnlistenable, rpc, server, store } = parts
  const { firstSeenAt, taskId, tool } = task
  const own = yield* memory.make(store, task)
  const keys = new Map(task.answers.flatMap(({ isSent, key }) => isSent ? [[key, "answered"] as const] : []))
  const at = yield* Clock.currentTimeMillis
  const observed = yield* observation.begin<E | InputRefused, R2>({
    rpc,
    memory: own,
    handler: options.onInput ?? InputHandler.none,
    // One whose record was not readable is as good as new.
    observer: TaskObserver.make({ view, at, limits, keys, firstSeenAt: firstSeenAt === 0 ? at : firstSeenAt }),
    server,
    tool,
    isListenable,
    onUnlistenable
  })
  const wanted = yield* outcome.wanted(parts.tools, tool, options.success)
  let isSeen = false
  const seen = Effect.sync(() => {
    isSeen = true
  })
  let isGivenUp = false
  yield* Effect.addFinalizer((exit) =>
    isGivenUp || (isSeen && isDealtWith(exit, taskId)) ? own.forget : Effect.void
  )
  const result = Effect.tap(observed.ended, seen).pipe(
    Effect.tapError((error) => isEnding(error) ? seen : Effect.void),
    Effect.flatMap((view) => outcome.ofView(wanted, view))
  )
  return {
    forget: own.forget,
    handle: {
      id: Option.some(taskId),
      changes: Stream.tap(observed.changes, (view) => TaskView.isTerminal(view) ? seen : Effect.void),
      await: result,
      answer: observed.answer,
      cancel: Effect.tap(observed.cancel, () =>
        Effect.sync(() => {
          isGivenUp = true
        }))
    }
  }
})

/**
 * Looks at a task once, patiently.
 *
 * @since 0.1.0
 */
export const get = (
  { rpc }: Parts,
  taskId: string,
  capabilities: Schema.JsonObject = {}
): Effect.Effect<TaskView.TaskView, RequestError | TaskExpired> =>
  rpc.repeated({ method: "tasks/get", params: { taskId }, capabilities, taskId, accepts: ["task"] }).pipe(
    Effect.mapError((error) =>
      error._tag === "ProtocolError" && error.error.code === WireError.Code.InvalidParams
        ? new TaskExpired({ taskId, error: error.error })
        : error
    ),
    Effect.flatMap((result) => readView(result, taskId))
  )

/**
 * Goes on with a task, and with the answers that an earlier process has remembered.
 *
 * @since 0.1.0
 */
export const resume = Effect.fnUntraced(function*<A, R, E, R2>(
  parts: Parts,
  taskId: string,
  options: TaskOptions<A, R, E, R2>
): Effect.fn.Return<
  TaskHandle<A, E>,
  RequestError | TaskExpired | TaskHandleStoreError,
  R | R2 | Scope.Scope
> {
  const { server, store } = parts
  const found = store === undefined ? Option.none() : yield* store.read(server, taskId)
  const task = Option.isSome(found) ? found.value : yield* remembered(parts, taskId, options.tool)
  const view = yield* get(parts, taskId, options.onInput?.capabilities).pipe(
    Effect.tapErrorTag("TaskExpired", () => store?.remove(server, taskId) ?? Effect.void)
  )
  const tool = options.tool ?? task.tool
  const { handle } = yield* observe(parts, view, tool === undefined ? task : { ...task, tool }, options)
  return handle
})
