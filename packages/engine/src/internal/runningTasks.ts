/**
 * The handlers that run in this process: started, watched, and handed back when the process goes away.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import { CurrentTask } from "../CurrentTask.ts"
import { TaskEngine } from "../TaskEngine.ts"
import { TaskLimits } from "../TaskLimits.ts"
import { TaskSignal } from "../TaskSignal.ts"
import { TaskStore } from "../TaskStore.ts"
import type { ToolCall, ToolOutcome } from "../TaskTools.ts"
import { Attempt, type AttemptCommand, patiently } from "./attempt.ts"
import * as taskHandle from "./taskHandle.ts"

/** How long a running handler may go without hearing that its task was cancelled, when every signal is lost. */
const heartbeat = Duration.seconds(30)

interface Running {
  readonly attempt: Attempt
  readonly fiber: Fiber.Fiber<ToolOutcome>
}

/**
 * Makes the place where handlers run, and starts watching their tasks.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  const engine = yield* TaskEngine
  const store = yield* TaskStore
  const limits = yield* TaskLimits
  const signal = yield* TaskSignal
  const running = new Map<string, Running>()
  const handlers = yield* Scope.make()

  const finish = (attempt: Attempt, exit: Exit.Exit<ToolOutcome>) => {
    attempt.hasEnded = true
    const command = ending(attempt, exit)
    return Effect.ensuring(
      Option.isNone(command) ? Effect.void : attempt.give(command.value),
      Effect.sync(() => running.delete(attempt.task.taskId))
    )
  }

  /** Runs the handler of a task whose current attempt is ours. */
  const run = Effect.fnUntraced(function*(stored: Task.Stored, call: ToolCall) {
    const attempt = new Attempt(engine, stored)
    const fiber = yield* call.run.pipe(
      Effect.provideService(CurrentTask, taskHandle.make(attempt, limits)),
      Effect.onExit((exit) => finish(attempt, exit)),
      Effect.forkIn(handlers)
    )
    running.set(stored.task.taskId, { attempt, fiber })
  })

  /** Looks at a task that runs here, and stops its handler when it is no longer wanted. */
  const look = Effect.fnUntraced(function*({ attempt, fiber }: Running) {
    const stored = yield* patiently(store.read(attempt.task.taskId), () => attempt.standing === "current")
    if (Option.isSome(stored)) attempt.see(stored.value)
    else attempt.standing = "superseded"
    if (attempt.standing !== "current") stop({ attempt, fiber })
  }, Effect.catchTag("TaskStoreError", () => Effect.void))

  const subscription = yield* signal.subscribe
  const onSignal = Effect.flatMap(PubSub.take(subscription), (taskId) => {
    const here = running.get(taskId)
    return here === undefined || here.attempt.hasEnded ? Effect.void : look(here)
  })
  const onHeartbeat = Effect.delay(
    Effect.suspend(() => Effect.forEach([...running.values()], look, { discard: true })),
    heartbeat
  )
  yield* Effect.forkScoped(Effect.forever(onSignal))
  yield* Effect.forkScoped(Effect.forever(onHeartbeat))

  // Handlers have a scope of their own, since each must know that its process goes away before it is interrupted.
  yield* Effect.addFinalizer((exit) =>
    Effect.suspend(() => {
      for (const here of running.values()) {
        if (here.attempt.standing === "current") here.attempt.standing = "released"
        stop(here)
      }
      return Scope.close(handlers, exit)
    })
  )
  return { run }
})

/** Interrupts a handler, also where it waits for an answer and cannot be interrupted: none will come. */
const stop = ({ attempt, fiber }: Running): void => {
  fiber.interruptUnsafe()
  attempt.abandon()
}

/** What an attempt that has ended says of it; nothing when it has lost the right to. */
const ending = (attempt: Attempt, exit: Exit.Exit<ToolOutcome>): Option.Option<AttemptCommand> => {
  if (Exit.isSuccess(exit)) {
    const outcome = exit.value
    return Option.some(
      outcome._tag === "Result"
        ? { _tag: "Complete", result: outcome.result, isError: outcome.isError }
        : { _tag: "Fail", error: outcome.error }
    )
  }
  switch (attempt.standing) {
    case "superseded":
      return Option.none()
    case "released":
      return Option.some({ _tag: "Release" })
    default:
      return Option.some({ _tag: "Stop" })
  }
}
