/**
 * MCP without a transport: one message in, one answer out.
 *
 * Dispatch never fails. What goes wrong becomes a JSON-RPC error in short words, and its cause goes to the log. Only
 * an interruption stays what it is, since then nobody waits for an answer.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as methods from "./internal/methods.ts"
import * as ownerRates from "./internal/ownerRates.ts"
import * as refusals from "./internal/refusals.ts"
import * as serverIdentity from "./internal/serverIdentity.ts"
import * as toolHeaders from "./internal/toolHeaders.ts"

/**
 * What a server says of itself: in `server/discover`, and all but its instructions in every result.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly websiteUrl?: string | undefined
  /** How to use the server, for the model to read. */
  readonly instructions?: string | undefined
}

/**
 * The answer to one message: a status for transports that have one, and JSON text unless nothing is to be said.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reply {
  readonly httpStatus: 200 | 202 | 400 | 404 | 429
  readonly body: string | undefined
  /** When the client may try again, where it is told to. */
  readonly retryAfter?: Duration.Duration
}

/**
 * MCP without a transport.
 *
 * @category services
 * @since 0.1.0
 */
export class Dispatcher extends Context.Service<Dispatcher, {
  /** Admits one message and answers it on behalf of the current owner. `headers` only where the transport has them. */
  readonly handle: (input: McpRequest.Input) => Effect.Effect<Reply, never, CurrentOwner>
}>()("@effect-mcp-tasks/server/Dispatcher") {}

/**
 * Serves the tools and tasks of the engine that is provided.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  info: ServerInfo
): Layer.Layer<Dispatcher, never, TaskTools.TaskTools | TaskEngine.TaskEngine | TaskRunner.TaskRunner> =>
  Layer.effect(
    Dispatcher,
    Effect.gen(function*() {
      const tools = yield* TaskTools.TaskTools
      const served = methods.make(info, {
        tools,
        engine: yield* TaskEngine.TaskEngine,
        runner: yield* TaskRunner.TaskRunner,
        rates: yield* ownerRates.make
      })
      const identified = serverIdentity.make(info)
      const server: McpRequest.Server = {
        supportedVersions: [McpProtocol.ProtocolVersion],
        methods: methods.table,
        paramHeaders: toolHeaders.of(tools)
      }
      return Dispatcher.of({
        handle: (input) => {
          const admitted = McpRequest.admit(input, server)
          if (Result.isFailure(admitted)) return Effect.succeed(refused(admitted.failure))
          const message = admitted.success
          return message._tag === "Notification" ? Effect.succeed(accepted) : answer(served, identified, message)
        }
      })
    })
  )

/** This revision defines no notification for which there is anything to do here. */
const accepted: Reply = { httpStatus: 202, body: undefined }

const refused = ({ error, httpStatus, id }: WireError.Refusal): Reply => ({
  httpStatus,
  body: JsonRpc.error(id, error)
})

const answer = (
  served: methods.Methods,
  identified: (result: string) => string,
  request: McpRequest.AdmittedRequest
): Effect.Effect<Reply, never, CurrentOwner> =>
  served(request).pipe(
    Effect.map((result): Reply => ({ httpStatus: 200, body: JsonRpc.result(request.id, identified(result)) })),
    Effect.catch((failure) =>
      Effect.map(refusals.toWireError(failure), (error) => ({
        ...failed(request.id, error),
        ...(failure._tag === "TooOften" ? { httpStatus: 429 as const, retryAfter: failure.retryAfter } : {})
      }))
    ),
    Effect.catchCause((cause) => Effect.map(refusals.defect(cause), (error) => failed(request.id, error)))
  )

const failed = (id: JsonRpc.Id, error: WireError.WireError): Reply =>
  refused(WireError.refusal(id, error))
