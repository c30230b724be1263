/**
 * A simulated user of the client library: calls tools, answers, interrupts, goes away and comes back.
 *
 * @since 0.2.0
 */
import * as InputHandler from "@effect-mcp-tasks/client/InputHandler"
import type * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import type { TaskHandle } from "@effect-mcp-tasks/client/TaskHandle"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { CallAuditor } from "./CallAuditor.ts"
import { type CallFile, CurrentCall } from "./CallFile.ts"
import type { CallEnd } from "./callRules.ts"
import type { FaultName } from "./Faults.ts"
import type { Process } from "./Process.ts"

/**
 * What a user has, and whom they tell what they saw.
 *
 * @since 0.2.0
 */
export interface LibraryPort {
  readonly client: TaskClient.TaskClient["Service"]
  readonly auditor: CallAuditor
  readonly process: Process
  /** Whether the user does nothing but what the scenario says. */
  readonly isSteady: boolean
  readonly onFault: (name: FaultName) => void
  /** Hears of a call that its caller has left, and whose task is to go on. */
  readonly onLeft: (file: CallFile) => void
  /** Tells how a call ended. */
  readonly onOutcome: (outcome: string) => void
}

/** The user cannot answer, and wants no result either. */
class UserFailed extends Schema.TaggedError<UserFailed>()("UserFailed", {}) {}

/** The user had the result, and failed before anything was done with it. */
class UserDropped extends Schema.TaggedError<UserDropped>()("UserDropped", {}) {}

/** How long the server may take to answer a call. */
const timeout = "30 seconds"

const pause = (low: number, high: number) =>
  Effect.flatMap(Random.nextIntBetween(low, high), (ms) => Effect.sleep(ms))

const accept = (content: Schema.JsonObject): Schema.JsonObject => ({ action: "accept", content })

/** What a user does with a question, as the scenario says; never twice with the same word. */
const answer = Effect.fnUntraced(function*(
  port: LibraryPort,
  file: CallFile,
  { isHandled, key }: { readonly key: string; readonly isHandled: boolean }
) {
  const { answerAfterMs, manner } = file.call
  port.auditor.asks(file, key)
  yield* answerAfterMs === undefined ? pause(50, 1_500) : Effect.sleep(answerAfterMs)
  switch (manner) {
    case "late":
      port.onFault("user-late")
      yield* pause(10_000, 40_000)
      return accept({ word: `${key}-late` })
    case "wrong":
      port.onFault("user-wrong")
      return accept({ word: 7, unfit: true })
    case "declines":
      port.onFault("user-declines")
      return InputHandler.declined
    case "never":
      port.onFault("user-never")
      if ((yield* Random.next) < 0.5) return yield* Effect.never
      port.onFault("user-fails")
      // From when on there is a handle, the task is its holder's.
      file.wish ??= isHandled ? "leave" : "cancel"
      return yield* new UserFailed()
    default:
      return accept({ word: `${key}-${file.asked.size}-${file.lives}` })
  }
})

/** Answers, and tells when that is done. */
const answering = (port: LibraryPort, file: CallFile, isHandled: boolean) =>
  InputHandler.make({
    elicit: (_, { key }) =>
      Effect.onExit(answer(port, file, { key, isHandled }), (exit) =>
        Effect.sync(() => Exit.hasInterrupts(exit) ? undefined : port.auditor.replies(file, key)))
  })

/** How a call ended; a defect of the library where it is none of the ways. */
const endOf = (exit: Exit.Exit<TaskClientError.ToolResult, unknown>): CallEnd | undefined => {
  if (Exit.isSuccess(exit)) return { _tag: "Value", value: exit.value }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error instanceof UserFailed || error instanceof UserDropped) return { _tag: "UserFailed" }
  if (TaskClientError.isTaskClientError(error)) return { _tag: "Error", error }
  return Cause.hasInterruptsOnly(exit.cause) ? { _tag: "Interrupted" } : undefined
}

/** Waits for a call to end, in whichever way, and tells of it. */
const conclude = (port: LibraryPort, file: CallFile, exit: Exit.Exit<TaskClientError.ToolResult, unknown>) =>
  Effect.suspend(() => {
    const end = endOf(exit)
    if (end === undefined) return Effect.die(Exit.isFailure(exit) ? Cause.squash(exit.cause) : "no end")
    port.auditor.ends(file, end, port.process)
    if (end._tag === "Interrupted" && file.wish === "leave") port.onLeft(file)
    port.onOutcome(`library: ${end._tag === "Error" ? end.error._tag : end._tag}`)
    return Effect.void
  })

/** Calls as if the tool were a short one. */
const plain = Effect.fnUntraced(function*(port: LibraryPort, file: CallFile) {
  const { cancelAfterMs, giveUpAfterMs, script, tool } = file.call
  const afterMs = cancelAfterMs ?? giveUpAfterMs
  const onInterrupt = afterMs === giveUpAfterMs && giveUpAfterMs !== undefined ? "leave" : "cancel"
  const onInput = answering(port, file, onInterrupt === "leave")
  const calling = yield* Effect.forkChild(port.client.call(tool, { script }, { onInput, onInterrupt, timeout }))
  if (afterMs !== undefined) {
    const interrupting = Effect.andThen(Effect.sleep(afterMs), Effect.suspend(() => {
      port.onFault(onInterrupt === "leave" ? "user-gives-up" : "user-interrupts")
      file.wish ??= onInterrupt
      file.wishMs = port.process.world.now
      return Fiber.interrupt(calling)
    }))
    yield* Effect.raceFirst(Fiber.await(calling), Effect.andThen(interrupting, Effect.never))
  }
  return yield* Fiber.await(calling)
})

/** How often a user is given the result of a task, and then fails with it in hand. */
const dropping = 0.15

/**
 * Follows a task by its handle, answers through it too where the user answers twice, and cancels through it. With the
 * result in hand the user may fail.
 */
const follow = Effect.fnUntraced(function*<E>(
  port: LibraryPort,
  file: CallFile,
  handle: TaskHandle<TaskClientError.ToolResult, E>
) {
  const { call: { cancelAfterMs, manner } } = file
  yield* handle.changes.pipe(
    Stream.runForEach((view) =>
      Effect.gen(function*() {
        port.auditor.shows(file, view)
        if (manner !== "twice" || view.status !== "input_required") return
        for (const key of view.inputRequests.keys()) {
          const again = Effect.andThen(pause(50, 3_000), handle.answer(key, accept({ word: `${key}-again` })))
          yield* Effect.forkChild(Effect.ignore(again))
          port.onFault("user-twice")
        }
      })
    ),
    Effect.ignore,
    Effect.forkScoped
  )
  if (cancelAfterMs !== undefined) {
    const cancelling = Effect.andThen(Effect.sleep(cancelAfterMs), Effect.suspend(() => {
      port.onFault("user-cancels")
      file.wish = "cancel"
      return Effect.tapError(handle.cancel, (error) => Effect.sync(() => port.auditor.cancelFails(file, error)))
    }))
    yield* Effect.forkScoped(Effect.ignore(cancelling))
  }
  const result = yield* handle.await
  if (port.isSteady || Option.isNone(handle.id) || (yield* Random.next) >= dropping) return result
  port.onFault("user-fails")
  return yield* new UserDropped()
})

/** Looks whether the task of a user who failed with its result in hand is remembered: it can be resumed. */
const thenLooks = (port: LibraryPort, file: CallFile) => <A, E>(exit: Exit.Exit<A, E>) =>
  Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UserDropped
    ? Effect.as(Effect.tap(port.client.open, (open) => Effect.sync(() => port.auditor.remembers(file, open))), exit)
    : Effect.succeed(exit)

/** Begins a call, and has its handle. */
const started = (port: LibraryPort, file: CallFile) => {
  const { script, tool } = file.call
  const onInput = answering(port, file, true)
  return Effect.flatMap(
    port.client.start(tool, { script }, { onInput, timeout }),
    (handle) => follow(port, file, handle)
  ).pipe(Effect.scoped, Effect.exit, Effect.flatMap(thenLooks(port, file)))
}

/**
 * Makes a call, from its time on to its end.
 *
 * @since 0.2.0
 */
export const call = Effect.fnUntraced(function*(port: LibraryPort, file: CallFile) {
  const isPlain = port.isSteady || file.call.giveUpAfterMs !== undefined || (yield* Random.next) < 0.6
  const exit = yield* Effect.provideService(isPlain ? plain(port, file) : started(port, file), CurrentCall, file)
  yield* conclude(port, file, exit)
})

/**
 * Goes on with a task that an earlier process of the client has begun.
 *
 * @since 0.2.0
 */
export const resume = Effect.fnUntraced(function*(port: LibraryPort, file: CallFile, taskId: string) {
  const exit = yield* Effect.flatMap(
    port.client.resume(taskId, { onInput: answering(port, file, true) }),
    (handle) => follow(port, file, handle)
  ).pipe(Effect.scoped, Effect.exit, Effect.flatMap(thenLooks(port, file)), Effect.provideService(CurrentCall, file))
  yield* conclude(port, file, exit)
})
