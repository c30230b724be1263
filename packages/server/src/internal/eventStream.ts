/**
 * Messages as Server-Sent Events, with comments in between so that nobody on the way takes the connection for dead.
 *
 * Source: basic/transports/streamable-http, "Receiving Messages".
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Messages } from "./openAnswer.ts"

const utf8 = new TextEncoder()

/** A line that begins with a colon is a comment, which readers skip. */
const comment = utf8.encode(":\n\n")

/** Every message is one line, so one field carries it. */
const event = (message: string) => utf8.encode(`data: ${message}\n\n`)

/**
 * A response that sends messages as they come, and a comment whenever there has been none for so long.
 *
 * @since 0.1.0
 */
export const response = (messages: Messages, keepAlive: Duration.Duration): HttpServerResponse.HttpServerResponse => {
  // Waits without taking: a message that comes as the time runs out is still there for the next round.
  const next = Effect.flatMap(Effect.timeoutOption(Queue.peek(messages), keepAlive), (message) =>
    Option.isNone(message) ? Effect.succeed(comment) : Effect.map(Queue.take(messages), event))
  return HttpServerResponse.stream(Stream.fromEffectRepeat(next), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
}
