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
import * as TaskLimits from "@effect-mcp-tasks/engine/TaskLimits"
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Context from "effect/Context"
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as listen from "./internal/listen.ts"
import * as methods from "./internal/methods.ts"
import * as observe from "./internal/observe.ts"
import * as ownerRates from "./internal/ownerRates.ts"
import * as progress from "./internal/progress.ts"
import * as refusals from "./internal/refusals.ts"
import * as sealedState from "./internal/sealedState.ts"
import * as serverIdentity from "./internal/serverIdentity.ts"
import * as toolHeaders from "./internal/toolHeaders.ts"
import { ToolSwitch } from "./ToolSwitch.ts"

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
 * Takes a notification to the client of the request that it belongs to, as JSON text; waits while the client is slow.
 *
 * @category models
 * @since 0.1.0
 */
export type Send = (message: string) => Effect.Effect<void>

/**
 * An answer that notifications may precede: that of `subscriptions/listen`, and of a call with a `progressToken`.
 *
 * **Details**
 *
 * Nothing happens before `run`, and the reply is its last message. Interrupt it when the client goes away.
 *
 * @category models
 * @since 0.1.0
 */
export interface Streaming {
  readonly run: (send: Send) => Effect.Effect<Reply, never, CurrentOwner>
}

/**
 * What is to be done with one message.
 *
 * **Details**
 *
 * `Request` has been admitted; `id` is its own. A `Notification` needs no answer, and a transport that knows a way to
 * act on it may.
 *
 * @category models
 * @since 0.1.0
 */
export type Received =
  | { readonly _tag: "Refused"; readonly reply: Effect.Effect<Reply> }
  | { readonly _tag: "Notification"; readonly notification: JsonRpc.JsonRpcNotification }
  | Streaming & {
    readonly _tag: "Request"
    readonly id: JsonRpc.Id
    readonly method: string
    /** Whether notifications may precede the answer. */
    readonly mayStream: boolean
  }

/**
 * The reply that an answer ends with, for those to whom no notification can be sent.
 *
 * @category accessors
 * @since 0.2.0
 */
export const finalReply = (answer: Reply | Streaming): Effect.Effect<Reply, never, CurrentOwner> =>
  "run" in answer ? answer.run(() => Effect.void) : Effect.succeed(answer)

/**
 * MCP without a transport.
 *
 * @category services
 * @since 0.1.0
 */
export class Dispatcher extends Context.Service<Dispatcher, {
  /** Admits one message. `headers` only where the transport has them. */
  readonly receive: (input: McpRequest.Input) => Received

  /** Admits one message and answers it for the current owner, or says how to when notifications may precede. */
  readonly handle: (input: McpRequest.Input) => Effect.Effect<Reply | Streaming, never, CurrentOwner>

  /**
   * Ends every subscription in good order: with its result, as the last message. For a transport that goes away;
   * `layer` does it when its scope closes.
   */
  readonly endSubscriptions: Effect.Effect<void>
}>()("@effect-mcp-tasks/server/Dispatcher") {}

/**
 * Serves the tools and tasks of the engine that is provided. With a `ToolSwitch`, the list of tools may change.
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
      const engine = yield* TaskEngine.TaskEngine
      const limits = yield* TaskLimits.TaskLimits
      const toolSwitch = yield* Effect.serviceOption(ToolSwitch)
      const served = methods.make(info, {
        tools: offered(tools, toolSwitch),
        hasFixedTools: Option.isNone(toolSwitch),
        engine,
        runner: yield* TaskRunner.TaskRunner,
        states: yield* sealedState.make,
        rates: yield* ownerRates.make
      })
      const identified = serverIdentity.make(info)
      const outage = refusals.storeOutage()
      const subscriptions = listen.make({ engine, limits, toolSwitch, outage })
      yield* Effect.addFinalizer(() => subscriptions.end)
      const server: McpRequest.Server = {
        supportedVersions: [McpProtocol.ProtocolVersion],
        methods: methods.table,
        paramHeaders: toolHeaders.of(tools)
      }
      /** The result of a request, or a failure; notifications go to `send` on the way. */
      const serve = (request: McpRequest.AdmittedRequest, send: Send) => {
        if (request.method === listen.method) {
          const more = listen.subscription(request.id)
          return Effect.map(subscriptions.listen(request, send), (result) => identified(result, more))
        }
        const token = progressToken(request)
        const result = Effect.map(served(request), (result) => identified(result))
        return token === undefined
          ? result
          : progress.reporting(result, { token, send, maxMessageLength: limits.maxMessageLength })
      }
      const receive: Dispatcher["Service"]["receive"] = (input) => {
        const admitted = McpRequest.admit(input, server)
        if (Result.isFailure(admitted)) return { _tag: "Refused", reply: refuse(admitted.failure) }
        const message = admitted.success
        return message._tag === "Notification" ? { _tag: "Notification", notification: message } : {
          _tag: "Request",
          id: message.id,
          method: message.method,
          mayStream: message.method === listen.method || progressToken(message) !== undefined,
          run: (send) => {
            const name = toolName(message, tools)
            const use = Option.isSome(name) ? `${message.method} ${name.value}` : message.method
            const served = Effect.tap(serve(message, send), () => outage.worked(use))
            const answered = answer(message.id, served, (error) => outage.failed(use, error))
            return Effect.map(observe.request(message, name, answered), ({ reply }) => reply)
          }
        }
      }
      return Dispatcher.of({
        receive,
        endSubscriptions: subscriptions.end,
        handle: (input) => handle(receive(input))
      })
    })
  ).pipe(Layer.provide(sealing))

/** Answers at once where nothing can precede the answer. */
const handle = (received: Received): Effect.Effect<Reply | Streaming, never, CurrentOwner> => {
  switch (received._tag) {
    case "Refused":
      return received.reply
    case "Notification":
      return Effect.succeed(accepted)
    case "Request":
      return received.mayStream ? Effect.succeed({ run: received.run }) : received.run(unheard)
  }
}

const sealing = Layer.provideMerge(Aead.layerWebCrypto, SecureRandom.layerWebCrypto)

/** The tools that are on. The runner knows all of them: tasks go on. */
const offered = (
  tools: TaskTools.TaskTools["Service"],
  toolSwitch: Option.Option<ToolSwitch["Service"]>
): TaskTools.TaskTools["Service"] => {
  if (Option.isNone(toolSwitch)) return tools
  const { isOn } = toolSwitch.value
  return {
    get all() {
      return tools.all.filter(({ name }) => isOn(name))
    },
    get: (name) => isOn(name) ? tools.get(name) : Option.none()
  }
}

/** Only a tool's handler reports, so other requests are answered as without a token. */
const progressToken = ({ meta, method }: McpRequest.AdmittedRequest): JsonRpc.Id | undefined =>
  method === "tools/call" ? meta.progressToken : undefined

const unheard: Send = () => Effect.void

/** This revision defines no notification for which there is anything to do here. */
const accepted: Reply = { httpStatus: 202, body: undefined }

const refused = ({ error, httpStatus, id }: WireError.Refusal): Reply => ({
  httpStatus,
  body: JsonRpc.error(id, error)
})

const refuse = (refusal: WireError.Refusal): Effect.Effect<Reply> =>
  Effect.as(observe.refused(refusal.error), refused(refusal))

/** The tool that a call names, if there is one: what a client makes up is no name for a span. */
const toolName = (
  { method, params: { name } }: McpRequest.AdmittedRequest,
  tools: TaskTools.TaskTools["Service"]
): Option.Option<string> =>
  method === "tools/call" && typeof name === "string" && Option.isSome(tools.get(name))
    ? Option.some(name)
    : Option.none()

/** A reply, and the code of its error if it is one. */
interface Answered extends observe.Answered {
  readonly reply: Reply
}

const answer = <R>(
  id: JsonRpc.Id,
  result: Effect.Effect<string, refusals.Failure, R>,
  away: Parameters<typeof refusals.toWireError>[1]
): Effect.Effect<Answered, never, R> =>
  result.pipe(
    Effect.map((result): Answered => ({
      code: undefined,
      reply: { httpStatus: 200, body: JsonRpc.result(id, result) }
    })),
    Effect.catch((failure) =>
      Effect.map(refusals.toWireError(failure, away), (error) => {
        const answered = failed(id, error)
        return failure._tag === "TooOften"
          ? { ...answered, reply: { ...answered.reply, httpStatus: 429 as const, retryAfter: failure.retryAfter } }
          : answered
      })
    ),
    Effect.catchCause((cause) => Effect.map(refusals.defect(cause), (error) => failed(id, error)))
  )

const failed = (id: JsonRpc.Id, error: WireError.WireError): Answered => ({
  code: error.code,
  reply: refused(WireError.refusal(id, error))
})
