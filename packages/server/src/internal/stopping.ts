/**
 * What a request is answered with that the end of the server interrupts. A request whose own client went away is
 * interrupted too, and not answered: nobody waits for it.
 *
 * @since 0.2.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import type { Reply } from "../Dispatcher.ts"

const stopping = WireError.internalError("The server is stopping, and did not finish this request")

/**
 * The answer to a request that was read.
 *
 * @since 0.2.0
 */
export const reply = (id: JsonRpc.Id): Reply & { readonly body: string } => ({
  httpStatus: 200,
  body: JsonRpc.error(id, stopping)
})

/**
 * The response to a request, whose id is `null` as long as it was not read.
 *
 * @since 0.2.0
 */
export const response = (id: JsonRpc.Id | null): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JsonRpc.error(id, stopping), {
    status: id === null ? 503 : 200,
    contentType: "application/json",
    headers: { connection: "close" }
  })

/**
 * Answers a request when it is interrupted by anything but its client.
 *
 * **Details**
 *
 * The response travels as a defect, since an interrupted fiber succeeds with nothing any more; whatever serves HTTP
 * sends a defect that is a response as it is.
 *
 * @since 0.2.0
 */
export const answered = <A, E, R>(
  serve: Effect.Effect<A, E, R>,
  onStop: () => HttpServerResponse.HttpServerResponse
): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.catchCause(restore(serve), (cause) =>
      Cause.hasInterruptsOnly(cause) && !isByClient(cause) ? Effect.die(onStop()) : Effect.failCause(cause))
  )

const isByClient = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some((reason) => Cause.isInterruptReason(reason) && reason.annotations.has(HttpServerError.ClientAbort.key))

/**
 * Opens when event streams are to say their last, shortly before everything is interrupted; `HttpStartup` has it.
 *
 * @since 0.2.0
 */
export const LastWords: Context.Reference<Option.Option<Latch.Latch>> = Context.Reference<Option.Option<Latch.Latch>>(
  "@effect-mcp-tasks/server/internal/stopping/LastWords",
  { defaultValue: Option.none }
)
