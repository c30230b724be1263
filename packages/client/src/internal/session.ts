/**
 * What the fibers of one observation share: what is known of the task, and the requests about it.
 *
 * @since 0.1.0
 */
import * as TaskObserver from "@effect-mcp-tasks/core/TaskObserver"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Queue from "effect/Queue"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { isTransient, type RequestError, type TaskHandleStoreError } from "../TaskClientError.ts"
import type { Memory } from "./memory.ts"
import { readView } from "./readView.ts"
import type { Rpc } from "./rpc.ts"

/** The observer, and how the observation ended once it has. */
interface State<out E> {
  readonly observer: TaskObserver.TaskObserver
  readonly end: Exit.Exit<unknown, E> | undefined
}

/**
 * One task, as the fibers that observe it see it.
 *
 * @since 0.1.0
 */
export interface Session<in out E> {
  readonly taskId: string
  readonly rpc: Rpc
  readonly memory: Memory
  readonly capabilities: Schema.JsonObject
  readonly state: SubscriptionRef.SubscriptionRef<State<E>>
  /** The questions that are being asked, by their key. */
  readonly asks: FiberMap.FiberMap<string>
  /** Holds something when a wait is to be thought over. */
  readonly wake: Queue.Queue<void>
  readonly scope: Scope.Scope
  /** The server's word that there is no such task. */
  missing: WireError.WireError | undefined
  isListening: boolean
  /** Whether to poll without waiting. */
  isPollDue: boolean
  /** Who wants to know what a poll shows that begins after now. */
  readonly asking: Array<Deferred.Deferred<void>>
}

/**
 * Begins a session, for as long as the scope is open.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*<E>(
  options: Pick<Session<E>, "rpc" | "memory" | "capabilities"> & { readonly observer: TaskObserver.TaskObserver }
): Effect.fn.Return<Session<E>, never, Scope.Scope> {
  const { capabilities, memory, observer, rpc } = options
  return {
    taskId: observer.view.taskId,
    rpc,
    memory,
    capabilities,
    state: yield* SubscriptionRef.make<State<E>>({ observer, end: undefined }),
    asks: yield* FiberMap.make<string>(),
    wake: yield* Queue.sliding<void>(1),
    scope: yield* Effect.scope,
    missing: undefined,
    isListening: false,
    isPollDue: false,
    asking: []
  }
})

/**
 * What is known of the task now.
 *
 * @since 0.1.0
 */
export const observer = <E>({ state }: Session<E>): TaskObserver.TaskObserver =>
  SubscriptionRef.getUnsafe(state).observer

/**
 * Changes what is known.
 *
 * @since 0.1.0
 */
export const move = <E>(
  session: Session<E>,
  change: (now: TaskObserver.TaskObserver) => TaskObserver.TaskObserver
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const now = observer(session)
    const next = change(now)
    return next === now ? Effect.void : SubscriptionRef.update(session.state, ({ end }) => ({ observer: next, end }))
  })

/**
 * Ends the observation for whoever follows it.
 *
 * @since 0.1.0
 */
export const end = <E>({ asking, state }: Session<E>, exit: Exit.Exit<unknown, E>): Effect.Effect<void> =>
  Effect.andThen(SubscriptionRef.update(state, (now) => ({ ...now, end: exit })), seen(asking))

const seen = (asking: Array<Deferred.Deferred<void>>): Effect.Effect<void> =>
  Effect.forEach(asking.splice(0), (asked) => Deferred.succeed(asked, undefined), { discard: true })

/**
 * Thinks the current wait over.
 *
 * @since 0.1.0
 */
export const wakeUp = <E>({ wake }: Session<E>): Effect.Effect<void> => Effect.asVoid(Queue.offer(wake, undefined))

/**
 * Takes what the server says about the task. A question that is no longer outstanding is not asked any further.
 *
 * @since 0.1.0
 */
export const take = Effect.fnUntraced(function*<E>(session: Session<E>, view: TaskView.TaskView) {
  const at = yield* Clock.currentTimeMillis
  yield* move(session, (now) => TaskObserver.observe(now, view, at))
  const { outstanding } = observer(session)
  for (const [key] of session.asks) {
    // In a fiber of its own: the one that asks may be the one that took this view.
    if (!outstanding.has(key)) yield* Effect.forkIn(FiberMap.remove(session.asks, key), session.scope)
  }
})

/**
 * Asks the server how the task is, patiently, and takes what it says, be it that there is no such task.
 *
 * @since 0.1.0
 */
export const look = <E>(session: Session<E>): Effect.Effect<void, RequestError> => {
  const { capabilities, rpc, taskId } = session
  return Effect.suspend(() => {
    session.isPollDue = false
    return rpc.repeated({
      method: "tasks/get",
      params: { taskId },
      capabilities,
      taskId,
      atLeastMs: observer(session).pollMs,
      // Against the specification's text, but so in two of its examples.
      accepts: ["task"]
    })
  }).pipe(
    Effect.flatMap((result) => readView(result, taskId)),
    Effect.flatMap((view) => take(session, view)),
    Effect.catchTag("ProtocolError", (error) => {
      if (error.error.code !== WireError.Code.InvalidParams) return Effect.fail(error)
      session.missing = error.error
      return move(session, TaskObserver.gone)
    }),
    Effect.andThen(Effect.suspend(() => session.isPollDue ? Effect.void : seen(session.asking)))
  )
}

/**
 * Has the task polled at once, and waits until that was done. There is one poll at a time, whoever wants it.
 */
const lookAgain = <E>(session: Session<E>): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (SubscriptionRef.getUnsafe(session.state).end !== undefined) return Effect.void
    const asked = Deferred.makeUnsafe<void>()
    session.asking.push(asked)
    session.isPollDue = true
    return Effect.andThen(wakeUp(session), Deferred.await(asked))
  })

/**
 * Sends an answer, unless its question is no longer outstanding; never one that the server has acknowledged.
 *
 * @since 0.1.0
 */
export const deliver = Effect.fnUntraced(function*<E>(
  session: Session<E>,
  key: string,
  response: Schema.JsonObject
): Effect.fn.Return<void, RequestError | TaskHandleStoreError> {
  const { capabilities, memory, rpc, taskId } = session
  const isAnswerable = () => TaskObserver.isAnswerable(observer(session), key)
  if (!isAnswerable()) return
  const params = { taskId, inputResponses: { [key]: response } }
  // Another fiber may have the same answer acknowledged while this one waits for its next try.
  const settled = SubscriptionRef.changes(session.state).pipe(Stream.takeUntil(() => !isAnswerable()), Stream.runDrain)
  yield* Effect.raceFirst(rpc.repeated({ method: "tasks/update", params, capabilities, taskId }), settled).pipe(
    // The task may have ended meanwhile, and not every server takes a late answer in silence.
    Effect.catchTag("ProtocolError", (error) => {
      const refused = isTransient(error) ? Effect.void : memory.refused(key)
      const failed = Effect.suspend(() => isAnswerable() ? Effect.andThen(refused, Effect.fail(error)) : Effect.void)
      return Effect.andThen(lookAgain(session), failed)
    })
  )
  const at = yield* Clock.currentTimeMillis
  yield* Effect.uninterruptible(
    Effect.andThen(move(session, (now) => TaskObserver.answered(now, key, at)), memory.sent(key))
  )
})

/**
 * Every view that looks different from the one before, and then how the observation ended, if not with a view.
 *
 * @since 0.1.0
 */
export const changes = <E>({ state }: Session<E>): Stream.Stream<TaskView.TaskView, E> =>
  Stream.suspend(() => {
    let last: TaskView.TaskView | undefined
    return SubscriptionRef.changes(state).pipe(
      Stream.takeUntil(({ end }) => end !== undefined),
      Stream.flatMap(({ end, observer: { view } }) => {
        const isNew = last === undefined || !TaskView.isSame(last, view)
        last = view
        const views = isNew ? Stream.succeed(view) : Stream.empty
        return end !== undefined && Exit.isFailure(end) ? Stream.concat(views, Stream.failCause(end.cause)) : views
      })
    )
  })
