/**
 * `notifications/progress` for a plain call whose request carries a `progressToken`.
 *
 * Source: basic/patterns/progress.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as CallProgress from "@effect-mcp-tasks/engine/CallProgress"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type { Send } from "../Dispatcher.ts"

/** Reports that wait for a client which reads slowly; beyond, the oldest are dropped. */
const backlog = 16

/** Reports that are sent at once, however close together. */
const burst = 10

/** How far apart reports are beyond the burst, in milliseconds: the latest of those in between is sent. */
const spacing = 100

/** Makes the sender of a call's progress wake up; it is never sent. */
const wake = ""

/**
 * Who wants to hear of a call's progress, and how long a message may be, in UTF-16 code units.
 *
 * @since 0.1.0
 */
export interface Reader {
  readonly token: JsonRpc.Id
  readonly send: Send
  readonly maxMessageLength: number
}

/**
 * Runs a call, and sends what its handler reports: in order, each ahead of the one before, none after the result.
 *
 * **Details**
 *
 * Ten reports are sent at once, and ten a second from then on (progress, Implementation Notes: rate limiting). Of more,
 * the latest is sent. The last report always is.
 *
 * @since 0.1.0
 */
export const reporting = Effect.fnUntraced(function*<A, E, R>(
  call: Effect.Effect<A, E, R>,
  { maxMessageLength, send, token }: Reader
): Effect.fn.Return<A, E, R> {
  const out = yield* paced(send)
  let last = -Infinity
  const report = (message: string, amount?: CallProgress.Amount) =>
    Effect.suspend(() => {
      const progress = amount?.done ?? Math.max(0, Math.floor(last)) + 1
      if (!Number.isFinite(progress) || progress <= last) return Effect.void
      last = progress
      const total = Number.isFinite(amount?.total) ? { total: amount?.total } : {}
      const params = { progressToken: token, progress, ...total, message: message.slice(0, maxMessageLength) }
      return out.offer(JsonRpc.notification("notifications/progress", JSON.stringify(params)))
    })
  const exit = yield* Effect.exit(Effect.provideService(call, CallProgress.CallProgress, report))
  yield* out.end
  return yield* exit
})

/** Sends messages in order, as fast as the rate allows; `offer` waits for nobody, `end` until the last one is sent. */
const paced = Effect.fnUntraced(function*(send: Send) {
  const queue = yield* Queue.sliding<string, Cause.Done>(backlog)
  const ended = yield* Deferred.make<void>()
  const clock = yield* Clock.Clock
  let allowed = burst
  let countedAt = clock.currentTimeMillisUnsafe()
  /** The latest message, as long as the rate does not allow it; newer than all that are queued. */
  let held: string | undefined

  const count = () => {
    const now = clock.currentTimeMillisUnsafe()
    allowed = Math.min(burst, allowed + Math.max(0, now - countedAt) / spacing)
    countedAt = now
    return allowed
  }
  const queueHeld = Effect.suspend(() => {
    if (held === undefined) return Effect.void
    allowed = count() - 1
    const message = held
    held = undefined
    return Queue.offer(queue, message)
  })
  const rest = Effect.raceFirst(Effect.sleep(spacing), Deferred.await(ended))
  const next = Effect.suspend(() =>
    held !== undefined && Queue.sizeUnsafe(queue) === 0
      ? Effect.asVoid(Effect.andThen(rest, queueHeld))
      : Effect.flatMap(Queue.take(queue), (message) => message === wake ? Effect.void : send(message))
  )
  const sending = yield* Effect.forkChild(Effect.forever(next))
  return {
    offer: (message: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (count() >= 1) {
          allowed -= 1
          held = undefined
          return Effect.asVoid(Queue.offer(queue, message))
        }
        const isFirst = held === undefined
        held = message
        return isFirst ? Effect.asVoid(Queue.offer(queue, wake)) : Effect.void
      }),
    end: queueHeld.pipe(
      Effect.andThen(Queue.end(queue)),
      Effect.andThen(Deferred.succeed(ended, undefined)),
      Effect.andThen(Fiber.await(sending))
    )
  }
})
