/**
 * The dispatcher in the same process: headers and text in, an answer or a stream of messages out.
 *
 * @since 0.1.0
 */
import type * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Dispatcher, type Reply } from "./Dispatcher.ts"
import * as openAnswer from "./internal/openAnswer.ts"

/**
 * An answer that notifications precede; the last message is the reply.
 *
 * **Gotchas**
 *
 * Can be read once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Streamed {
  readonly messages: Stream.Stream<string>
}

/**
 * The dispatcher in the same process.
 *
 * **When to use**
 *
 * For tests, and for clients that live in the server's process. What a message is answered with, and whether it is a
 * stream, is what Streamable HTTP would do; with `headers` left out the rules for headers are, as on stdio.
 *
 * @category services
 * @since 0.1.0
 */
export class InMemoryTransport extends Context.Service<InMemoryTransport, {
  /** Sends one message for the current owner. Closing the scope is what going away is for other transports. */
  readonly send: (
    headers: McpRequest.Input["headers"],
    text: string
  ) => Effect.Effect<Reply | Streamed, never, CurrentOwner | Scope.Scope>
}>()("@effect-mcp-tasks/server/InMemoryTransport") {}

/**
 * Serves the dispatcher in the same process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<InMemoryTransport, never, Dispatcher> = Layer.effect(
  InMemoryTransport,
  Effect.map(Dispatcher, (dispatcher) =>
    InMemoryTransport.of({
      send: Effect.fnUntraced(function*(headers, text) {
        const answer = yield* dispatcher.handle({ headers, body: text })
        if (!("run" in answer)) return answer
        const opened = yield* openAnswer.open(answer)
        return "body" in opened ? opened : { messages: Stream.fromQueue(opened) }
      })
    }))
)
