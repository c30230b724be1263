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
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as methods from "./internal/methods.ts"
import * as refusals from "./internal/refusals.ts"
import * as sealedState from "./internal/sealedState.ts"
import * as toolHeaders from "./internal/toolHeaders.ts"

/**
 * What a server says of itself in `server/discover`.
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
  readonly httpStatus: 200 | 202 | 400 | 404
  readonly body: string | undefined
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
        states: yield* sealedState.make
      })
      const server: McpRequest.Server = {
        supportedVersions: [McpProtocol.ProtocolVersion],
        methods: methods.table,
        paramHeaders: toolHeaders.of(tools)
      }
      return Dispatcher.of({
        handle: (input) => {
          const admitted = McpRequest.admit(input, server)
          if (Result.isFailure(admitted)) return Effect.succeed(refused(admitted.failure))
          return admitted.success._tag === "Notification" ? Effect.succeed(accepted) : answer(served, admitted.success)
        }
      })
    })
  ).pipe(Layer.provide(sealing))

const sealing = Layer.provideMerge(Aead.layerWebCrypto, SecureRandom.layerWebCrypto)

/** This revision defines no notification for which there is anything to do here. */
const accepted: Reply = { httpStatus: 202, body: undefined }

const refused = ({ error, httpStatus, id }: WireError.Refusal): Reply => ({
  httpStatus,
  body: JsonRpc.error(id, error)
})

const answer = (
  served: methods.Methods,
  request: McpRequest.AdmittedRequest
): Effect.Effect<Reply, never, CurrentOwner> =>
  served(request).pipe(
    Effect.map((result): Reply => ({ httpStatus: 200, body: JsonRpc.result(request.id, result) })),
    Effect.catch((failure) => Effect.map(refusals.toWireError(failure), (error) => failed(request.id, error))),
    Effect.catchCause((cause) => Effect.map(refusals.defect(cause), (error) => failed(request.id, error)))
  )

const failed = (id: JsonRpc.Id, error: WireError.WireError): Reply =>
  refused(WireError.refusal(id, error))
