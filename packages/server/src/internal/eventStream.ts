/**
 * Messages as Server-Sent Events, with comments in between so that nobody on the way takes the connection for dead,
 * for as long as somebody reads.
 *
 * Source: basic/transports/streamable-http, "Receiving Messages".
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Messages } from "./openAnswer.ts"

/**
 * How long a stream may be silent, and how long its client may leave what was sent unread.
 *
 * @since 0.1.0
 */
export interface StreamTimes {
  readonly keepAlive: Duration.Duration
  readonly readTimeout: Duration.Duration
}

const utf8 = new TextEncoder()

/** A line that begins with a colon is a comment, which readers skip. */
const comment = utf8.encode(":\n\n")

/** Every message is one line, so one field carries it. */
const event = (message: string) => utf8.encode(`data: ${message}\n\n`)

const headers = { "cache-control": "no-store", "x-accel-buffering": "no" }

/**
 * Makes the response to the current request: it sends messages as they come, and a comment when there has been none
 * for `keepAlive`.
 *
 * **Details**
 *
 * The next message is asked for once the socket has taken the last one. When that is not within `readTimeout`, nobody
 * reads any more: the request is interrupted, which destroys its socket.
 *
 * @since 0.1.0
 */
export const make = ({ keepAlive, readTimeout }: StreamTimes) =>
(messages: Messages): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope> =>
  Effect.withFiber((serving) =>
    Effect.map(Effect.scope, (scope) => {
      const giveUp = Effect.andThen(Effect.sleep(readTimeout), Effect.sync(() => serving.interruptUnsafe()))
      let givingUp: Fiber.Fiber<void> | undefined
      const watched = (chunk: Uint8Array) =>
        Effect.map(Effect.forkIn(giveUp, scope), (fiber) => {
          givingUp = fiber
          return chunk
        })
      // Waits without taking: a message that comes as the time runs out is still there for the next round.
      const message = Effect.suspend(() => {
        givingUp?.interruptUnsafe()
        return Effect.timeoutOption(Queue.peek(messages), keepAlive)
      })
      const next = Effect.flatMap(message, (message) =>
        Option.isNone(message) ? watched(comment) : Effect.flatMap(Queue.take(messages), (it) => watched(event(it))))
      return HttpServerResponse.stream(Stream.fromEffectRepeat(next), { contentType: "text/event-stream", headers })
    })
  )
