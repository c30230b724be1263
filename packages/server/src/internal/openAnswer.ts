/**
 * From an answer that may be preceded by notifications to what a transport of requests and responses can send: one
 * reply, when nothing precedes it, or else a stream of messages of which the last is the reply.
 *
 * @since 0.1.0
 */
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { Reply, Streaming } from "../Dispatcher.ts"

/**
 * The messages of an answer, in order; the queue ends after the reply.
 *
 * @since 0.1.0
 */
export type Messages = Queue.Dequeue<string, Cause.Done>

/**
 * Starts working on an answer, and waits until it is known which of both it will be. Closing the scope stops the work.
 *
 * **Details**
 *
 * One message waits to be read. Whoever sends another waits with it, so a slow reader makes nothing pile up.
 *
 * @since 0.1.0
 */
export const open = Effect.fnUntraced(function*(
  answer: Streaming
): Effect.fn.Return<Reply | Messages, never, CurrentOwner | Scope.Scope> {
  const messages = yield* Queue.bounded<string, Cause.Done>(1)
  const first = Deferred.makeUnsafe<Option.Option<Reply>>()
  const begin = (reply: Option.Option<Reply>) => Deferred.doneUnsafe(first, Effect.succeed(reply))
  const work = answer.run((message) => {
    begin(Option.none())
    return Effect.asVoid(Queue.offer(messages, message))
  })
  yield* work.pipe(
    Effect.flatMap((reply) =>
      begin(Option.some(reply)) || reply.body === undefined
        ? Effect.void
        : Effect.andThen(Queue.offer(messages, reply.body), Queue.end(messages))
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  return Option.getOrElse(yield* Deferred.await(first), (): Messages => messages)
})
