/**
 * What carries messages to a server and back. It decides nothing, and repeats nothing by itself.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as incoming from "./internal/incoming.ts"
import { TransportError } from "./TaskClientError.ts"

/**
 * A request on its way out.
 *
 * **Details**
 *
 * `body` is the message as one line of JSON. `headers` are those of the protocol that go with it, for transports that
 * have headers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outgoing {
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: Schema.JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * A message from the server.
 *
 * @category models
 * @since 0.1.0
 */
export type Incoming = incoming.Incoming

/**
 * Carries messages to one server.
 *
 * @category services
 * @since 0.1.0
 */
export class Transport extends Context.Service<Transport, {
  /**
   * Sends a request, and gives every message that belongs to it: notifications first, and its response last. Whoever
   * interrupts the stream withdraws the request, in the way of the transport.
   */
  readonly send: (request: Outgoing) => Stream.Stream<Incoming, TransportError>
  /** Whether a server of an earlier revision could take a call for one of its own, so that it is asked first. */
  readonly isAmbiguous: boolean
}>()("@effect-mcp-tasks/client/Transport") {}

/**
 * Reads a message that arrived for a request.
 *
 * @category decoding
 * @since 0.1.0
 */
export const readMessage = (method: string, text: string): Effect.Effect<Incoming, TransportError> =>
  Effect.fromResult(Result.mapError(
    incoming.read(text),
    ({ detail, reason }) => new TransportError({ method, reason, detail })
  ))

/**
 * Answers a message with text: the shape of a server without a transport.
 *
 * @category models
 * @since 0.1.0
 */
export type Handle = (message: {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}) => Effect.Effect<{ readonly body: string | undefined }>

/**
 * Calls a function instead of a server elsewhere.
 *
 * **When to use**
 *
 * To join a client with the dispatcher of a server in one process, in tests above all. Header names are in lower case.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (handle: Handle): Layer.Layer<Transport> =>
  Layer.succeed(
    Transport,
    Transport.of({
      isAmbiguous: false,
      send: ({ body, headers, method }) => {
        const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
        return Stream.fromEffect(Effect.flatMap(handle({ headers: named, body }), (reply) =>
          reply.body === undefined
            ? Effect.fail(new TransportError({ method, reason: "Malformed", detail: "there was no answer" }))
            : readMessage(method, reply.body)))
      }
    })
  )
