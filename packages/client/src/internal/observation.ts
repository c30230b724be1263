/**
 * A task from its id to its end: what `TaskObserver` decides, done.
 *
 * One fiber polls and waits, one listens, and one for each question asks. The first two tell the observer what they
 * see, and it says what to do. All of them end with the scope that they began in.
 *
 * @since 0.1.0
 */
import * as TaskObserver from "@effect-mcp-tasks/core/TaskObserver"
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { InputHandler } from "../InputHandler.ts"
import {
  NotOutstanding,
  type RequestError,
  TaskExpired,
  type TaskHandleStoreError,
  TaskStuck
} from "../TaskClientError.ts"
import * as listening from "./listening.ts"
import type { Memory } from "./memory.ts"
import type { Rpc } from "./rpc.ts"
import * as session from "./session.ts"

/**
 * A task to observe, and with what.
 *
 * @since 0.1.0
 */
export interface Subject<out E, out R> {
  readonly rpc: Rpc
  readonly memory: Memory
  readonly handler: InputHandler<E, R>
  readonly observer: TaskObserver.TaskObserver
  readonly server: string
  readonly tool: string | undefined
  /** Whether to listen; asked when the observation begins. */
  readonly isListenable: Effect.Effect<boolean>
  /** Told that the server does not know how to be listened to. */
  readonly onUnlistenable: Effect.Effect<void>
}

/**
 * Everything that ends an observation without a view of the task's end.
 *
 * @since 0.1.0
 */
export type Failure = RequestError | TaskExpired | TaskStuck | TaskHandleStoreError

/**
 * A task under observation.
 *
 * @since 0.1.0
 */
export interface Observation<out E> {
  readonly changes: Stream.Stream<TaskView.TaskView, Failure | E>
  readonly ended: Effect.Effect<TaskView.Terminal, Failure | E>
  readonly answer: (
    key: string,
    response: Schema.JsonObject
  ) => Effect.Effect<void, RequestError | NotOutstanding | TaskHandleStoreError>
  readonly cancel: Effect.Effect<void, RequestError>
}

type Session<E> = session.Session<Failure | E>

/** Asks whoever is to answer, unless an earlier process did and has the answer. */
const ask = Effect.fnUntraced(function*<E, R>(
  subject: Subject<E, R>,
  task: Session<E>,
  { key, request }: TaskObserver.Question
) {
  const { handler, memory, server, tool } = subject
  const remembered = memory.find(key)
  if (remembered?.response !== undefined) return yield* session.deliver(task, key, remembered.response)
  yield* memory.asked(key)
  const response = yield* handler.answer({
    key,
    method: request.method,
    params: request.params ?? {},
    server,
    tool,
    taskId: task.taskId,
    isRepeated: remembered !== undefined
  })
  if (yield* memory.answered(key, response)) yield* session.deliver(task, key, response)
})

const conclude = <E>(
  { missing, taskId }: Session<E>,
  outcome: TaskObserver.Outcome
): Effect.Effect<TaskView.Terminal, TaskExpired | TaskStuck> => {
  switch (outcome._tag) {
    case "Ended":
      return Effect.succeed(outcome.view)
    case "Expired":
      return Effect.fail(new TaskExpired({ taskId, ...(missing === undefined ? {} : { error: missing }) }))
    case "Stuck":
      return Effect.fail(new TaskStuck({ taskId, idleMs: outcome.idleMs }))
  }
}

/** Whether an effect came to its end before there was something to think over. */
const unlessWoken = <A, E2, E>(effect: Effect.Effect<A, E2>, { wake }: Session<E>): Effect.Effect<boolean, E2> =>
  Effect.raceFirst(Effect.as(effect, true), Effect.as(Queue.take(wake), false))

/**
 * Does what the observer says until it says that all is done. What is heard meanwhile cuts a wait short, and not a
 * poll that is on its way: it would only be sent again.
 */
const drive = Effect.fnUntraced(function*<E, R>(
  subject: Subject<E, R>,
  task: Session<E>,
  failed: Deferred.Deferred<never, Failure | E>
) {
  let poll: Fiber.Fiber<void, RequestError> | undefined
  while (true) {
    const moment = { at: yield* Clock.currentTimeMillis, jitter: yield* Random.next, listening: task.isListening }
    const [next, action] = TaskObserver.next(session.observer(task), moment)
    yield* session.move(task, () => next)
    if (action._tag === "Done") return yield* conclude(task, action.outcome)
    if (action._tag === "Answer") {
      for (const question of action.questions) {
        const asking = Effect.catchCause(ask(subject, task, question), (cause) => Deferred.failCause(failed, cause))
        yield* FiberMap.run(task.asks, question.key, asking)
      }
      continue
    }
    if (task.isPollDue) {
      // One from before the subscription may have been too early, or wait long for its next try.
      if (poll !== undefined) yield* Fiber.interrupt(poll)
      poll = undefined
    } else if (poll === undefined && !(yield* unlessWoken(Effect.sleep(action.ms), task))) {
      continue
    }
    poll ??= yield* Effect.forkChild(session.look(task))
    if (yield* unlessWoken(Fiber.join(poll), task)) poll = undefined
  }
})

const listen = Effect.fnUntraced(function*<E, R>(subject: Subject<E, R>, task: Session<E>) {
  if (!(yield* subject.isListenable)) return
  const { capabilities, rpc, taskId } = task
  const end = yield* listening.listen({
    rpc,
    taskId,
    capabilities,
    onView: (view) => Effect.andThen(session.take(task, view), session.wakeUp(task)),
    onListening: (isListening) => {
      task.isListening = isListening
      // What happened before the subscription was agreed on is seen by a poll.
      if (isListening) task.isPollDue = true
      return session.wakeUp(task)
    }
  })
  if (end === "unsupported") yield* subject.onUnlistenable
})

/**
 * Begins to observe a task, for as long as the scope is open.
 *
 * @since 0.1.0
 */
export const begin = Effect.fnUntraced(function*<E, R>(
  subject: Subject<E, R>
): Effect.fn.Return<Observation<E>, never, R | Scope.Scope> {
  const { handler: { capabilities }, memory, observer, rpc } = subject
  const task: Session<E> = yield* session.make<Failure | E>({ rpc, memory, capabilities, observer })
  const { taskId } = task
  const failed = yield* Deferred.make<never, Failure | E>()
  const ended = yield* Deferred.make<TaskView.Terminal, Failure | E>()

  const finish = (exit: Exit.Exit<TaskView.Terminal, Failure | E>) =>
    session.end(task, exit).pipe(
      Effect.andThen(Deferred.done(ended, exit)),
      Effect.andThen(FiberMap.clear(task.asks))
    )
  yield* Effect.raceFirst(drive(subject, task, failed), Deferred.await(failed)).pipe(
    Effect.raceFirst(Effect.andThen(listen(subject, task), Effect.never)),
    Effect.onExit(finish),
    Effect.ignoreCause,
    Effect.forkIn(task.scope)
  )

  return {
    changes: session.changes(task),
    ended: Deferred.await(ended),
    cancel: Effect.asVoid(rpc.repeated({ method: "tasks/cancel", params: { taskId }, capabilities, taskId })),
    answer: Effect.fnUntraced(function*(key, response) {
      const isOpen = TaskObserver.isAnswerable(session.observer(task), key)
      // One that is on its way may have arrived, whatever became of its reply: no other one may follow it.
      if (!isOpen || !(yield* memory.answered(key, response))) return yield* new NotOutstanding({ taskId, key })
      yield* FiberMap.remove(task.asks, key)
      yield* session.deliver(task, key, response)
    })
  }
})
