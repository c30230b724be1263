/**
 * Calls of tools: to their result, or to a handle.
 *
 * @since 0.1.0
 */
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as InputHandler from "../InputHandler.ts"
import type { CallOptions } from "../TaskClient.ts"
import { type InputRefused, isTaskClientError, NotOutstanding, type TaskClientError } from "../TaskClientError.ts"
import type { TaskHandle } from "../TaskHandle.ts"
import type { Restore } from "./asking.ts"
import * as calling from "./calling.ts"
import * as outcome from "./outcome.ts"
import type { Parts } from "./parts.ts"
import * as tasks from "./tasks.ts"

/**
 * A call as its caller gives it.
 *
 * @since 0.1.0
 */
export interface Given<out A, out R, out E, out R2> {
  readonly tool: string
  readonly args: Schema.JsonObject
  readonly options: CallOptions<A, R, E, R2>
}

/** Errors that end a call without anyone having given it up: the task has ended by itself, or can be resumed. */
const isNobodysWish = (error: unknown): boolean => isTaskClientError(error) && error._tag !== "InputRefused"

/** Interrupted, or failed by whoever was to answer: nobody wants the result any more. */
const isGivenUp = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && !isNobodysWish(Option.getOrUndefined(Cause.findErrorOption(exit.cause)))

const answered = <A>(
  result: Effect.Effect<A, TaskClientError>
): TaskHandle<A, never> => ({
  id: Option.none(),
  changes: Stream.empty,
  await: result,
  answer: (key) => Effect.fail(new NotOutstanding({ key })),
  cancel: Effect.void
})

/** Into how many parts the grace is cut, so that a request that is lost is not the only one. */
const tries = 3

/** Cancels a task that nobody wants any more, if the server takes it soon. */
const cancelling = ({ grace, rpc }: Parts) => (taskId: string): Effect.Effect<void> =>
  rpc.repeated({
    method: "tasks/cancel",
    params: { taskId },
    taskId,
    timeout: Duration.millis(Duration.toMillis(grace) / tries)
  }).pipe(
    Effect.timeout(grace),
    Effect.asVoid,
    Effect.catch((error) => Effect.logWarning(`Task ${taskId} could not be cancelled: ${error.message}`))
  )

/**
 * Makes the calls of a client whose own scope is given.
 *
 * @since 0.1.0
 */
export const make = (parts: Parts, scope: Scope.Scope) => {
  const { grace, rpc, server, store, tools } = parts
  const call = calling.make(rpc, tools, scope)

  const cancel = cancelling(parts)

  /** A task whose id came too late for its caller. */
  const orphaned = (tool: string, isLeft: boolean) => (view: TaskView.Working): Effect.Effect<void> =>
    isLeft && store !== undefined
      ? Effect.flatMap(tasks.remembered(parts, view.taskId, tool), store.save).pipe(
        Effect.catch((error) => Effect.logWarning(error.message, error))
      )
      : isLeft
      ? Effect.logInfo(`Task ${view.taskId} is left to itself`)
      : cancel(view.taskId)

  const begin = Effect.fnUntraced(function*<A, R, E, R2>(given: Given<A, R, E, R2>, restore: Restore) {
    const { args, options, tool } = given
    const begun = yield* call<E | InputRefused, R2>({
      server,
      tool,
      args,
      handler: options.onInput ?? InputHandler.none,
      timeout: Duration.fromInputUnsafe(options.timeout ?? "10 minutes"),
      grace,
      onOrphan: orphaned(tool, options.onInterrupt === "leave"),
      restore
    })
    if (begun._tag === "Task") {
      return yield* tasks.observe(parts, begun.view, yield* tasks.remembered(parts, begun.view.taskId, tool), options)
    }
    const wanted = yield* outcome.wanted(tools, tool, options.success)
    return { handle: answered(outcome.ofResult(wanted, begun.result, undefined)), forget: Effect.void }
  })

  const started = <A, R, E, R2>(given: Given<A, R, E, R2>, restore: Restore) =>
    Effect.andThen(restore(parts.probe), begin(given, restore))

  return {
    start: <A, R, E, R2>(
      given: Given<A, R, E, R2>
    ): Effect.Effect<TaskHandle<A, E>, TaskClientError | E, R | R2 | Scope.Scope> =>
      Effect.suspend(() => {
        let taskId = Option.none<string>()
        // The caller may be interrupted in the moment in which the handle is on its way to them.
        return Effect.uninterruptibleMask((restore) =>
          Effect.map(started(given, restore), ({ handle }): TaskHandle<A, E> => {
            taskId = handle.id
            return handle
          })
        ).pipe(Effect.onInterrupt(() =>
          Option.isSome(taskId) && given.options.onInterrupt !== "leave" ? cancel(taskId.value) : Effect.void
        ))
      }),
    call: <A, R, E, R2>(given: Given<A, R, E, R2>): Effect.Effect<A, TaskClientError | InputRefused | E, R | R2> =>
      Effect.scoped(Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(started(given, restore), ({ forget, handle }) => {
          const wait: Effect.Effect<A, TaskClientError | E> = handle.await
          return Effect.onExit(restore(wait), (exit) =>
            Option.isSome(handle.id) && given.options.onInterrupt !== "leave" && isGivenUp(exit)
              ? Effect.andThen(cancel(handle.id.value), forget)
              : Effect.void)
        })
      ))
  }
}
