/**
 * Requests and their answers: what goes into each message, what counts as an answer, and what is tried again.
 *
 * `once` sends a request one time. `repeated` is for requests that may be sent again without harm, and is patient with
 * failures that pass. Both send once more when the server refuses the revision but names it as one it speaks.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpHeader from "@effect-mcp-tasks/core/McpHeader"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { InvalidResponse, isTransient, ProtocolError, type RequestError, TransportError } from "../TaskClientError.ts"
import type { Incoming, Outgoing, Transport } from "../Transport.ts"

/**
 * A request, and how to go about it.
 *
 * @since 0.1.0
 */
export interface Request {
  readonly method: string
  readonly params: Schema.JsonObject
  /** What the client can do, besides tasks. */
  readonly capabilities?: Schema.JsonObject | undefined
  /** Headers that mirror a tool's arguments. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How long to wait for the answer. */
  readonly timeout?: Duration.Input | undefined
  /** The task that errors are to name. */
  readonly taskId?: string | undefined
  /** The least time between two attempts, in milliseconds. */
  readonly atLeastMs?: number | undefined
  /** Whether nothing has begun yet, so that a server which is not there is better told of soon. */
  readonly isPreliminary?: boolean | undefined
  /** The kinds of result that may come, besides a complete one. */
  readonly accepts?: ReadonlyArray<string> | undefined
}

/**
 * How patient requests are.
 *
 * @since 0.1.0
 */
export interface Patience {
  readonly requestTimeout: Duration.Duration
  /** How long failures that pass are borne, from the first one on, in milliseconds. */
  readonly retryForMs: number
  /** How long they are borne of a server that has never answered, for whatever request, in milliseconds. */
  readonly firstContactMs: number | undefined
}

/**
 * Sends requests to one server.
 *
 * @since 0.1.0
 */
export interface Rpc {
  readonly once: (request: Request) => Effect.Effect<Schema.JsonObject, RequestError>
  readonly repeated: (request: Request) => Effect.Effect<Schema.JsonObject, RequestError>
  /** Every message that belongs to the request, with the id it was sent under. */
  readonly stream: (request: Request) => Stream.Stream<readonly [JsonRpc.Id, Incoming], TransportError>
}

/** How long a server that has never answered is waited for before anything has begun, unless the caller says. */
const usualFirstContactMs = 5000
const firstDelayMs = 500
const longestDelayMs = 30_000

/** The parameter that `Mcp-Name` mirrors, by method (Streamable HTTP, "Standard Request Headers"; ext-tasks). */
const nameParams: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const headersOf = ({ headers = {}, method, params }: Request): Readonly<Record<string, string>> => {
  const name = params[nameParams.get(method) ?? ""]
  return {
    ...headers,
    [McpHeader.HeaderName.protocolVersion]: McpProtocol.ProtocolVersion,
    [McpHeader.HeaderName.method]: method,
    ...(typeof name === "string" ? { [McpHeader.HeaderName.name]: McpHeader.encodeHeaderValue(name) } : {})
  }
}

/** Capabilities with the tasks extension, which every request declares (ext-tasks, "Capability Negotiation"). */
const declaring = (capabilities: Schema.JsonObject = {}): Schema.JsonObject => {
  const { extensions } = capabilities
  return {
    ...capabilities,
    extensions: { ...(JsonRpc.isJsonObject(extensions) ? extensions : {}), [McpProtocol.TasksExtension]: {} }
  }
}

/** The trace that a request belongs to, for servers that go on with it (basic/index, `traceparent`). */
const traced: Effect.Effect<Schema.JsonObject> = Effect.match(Effect.currentSpan, {
  onFailure: () => ({}),
  onSuccess: (span) => ({ [McpProtocol.MetaKey.traceparent]: HttpTraceContext.toHeaders(span)["traceparent"] ?? "" })
})

const message = (
  request: Request,
  id: number,
  trace: Schema.JsonObject,
  clientInfo: Schema.JsonObject
): Outgoing => {
  const { method } = request
  const given = request.params["_meta"]
  const _meta = {
    ...trace,
    ...(JsonRpc.isJsonObject(given) ? given : {}),
    [McpProtocol.MetaKey.protocolVersion]: McpProtocol.ProtocolVersion,
    [McpProtocol.MetaKey.clientCapabilities]: declaring(request.capabilities),
    [McpProtocol.MetaKey.clientInfo]: clientInfo
  }
  const params = { ...request.params, _meta }
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params })
  return { id, method, params, headers: headersOf(request), body }
}

/**
 * Makes the sender of requests.
 *
 * @since 0.1.0
 */
export const make = (
  transport: Transport["Service"],
  clientInfo: Schema.JsonObject,
  patience: Patience
): Rpc => {
  let lastId = 0
  let hasAnswered = false

  const outgoing = (request: Request): Effect.Effect<Outgoing> =>
    Effect.map(traced, (trace) => {
      lastId += 1
      return message(request, lastId, trace, clientInfo)
    })

  const exchange = (request: Request): Effect.Effect<Schema.JsonObject, RequestError> =>
    Effect.flatMap(outgoing(request), (sent) =>
      transport.send(sent).pipe(
        Stream.filter(isResponse),
        Stream.runHead,
        Effect.tap((response) =>
          Effect.sync(() => {
            hasAnswered ||= Option.isSome(response)
          })
        ),
        Effect.flatMap((response) => answer(request, sent, Option.getOrUndefined(response))),
        Effect.timeoutOrElse({
          duration: request.timeout ?? patience.requestTimeout,
          orElse: () =>
            Effect.fail(
              new TransportError({ method: request.method, reason: "Timeout", detail: "there was no answer in time" })
            )
        })
      ))

  const once = (request: Request) =>
    exchange(request).pipe(
      Effect.catchIf(isOwnVersionRefused, () => exchange(request)),
      Effect.mapError((error) => naming(error, request.taskId))
    )

  return {
    once,
    repeated: (request) =>
      Effect.suspend(() => {
        const { firstContactMs, retryForMs } = patience
        const unmetMs = firstContactMs ??
          (request.isPreliminary === true ? Math.min(retryForMs, usualFirstContactMs) : retryForMs)
        return patiently(once(request), hasAnswered ? retryForMs : unmetMs, request.atLeastMs ?? 0)
      }),
    stream: (request) =>
      Stream.unwrap(Effect.map(outgoing(request), (sent) =>
        Stream.map(transport.send(sent), (message) => [sent.id, message] as const)))
  }
}

type Response = Exclude<Incoming, { readonly _tag: "Notification" | "Ignored" }>

/**
 * Tells a response from what may come before it.
 *
 * @since 0.1.0
 */
export const isResponse = (message: Incoming): message is Response =>
  message._tag === "Success" || message._tag === "Failure"

const answer = (
  { accepts = [], method }: Request,
  sent: Outgoing,
  response: Response | undefined
): Effect.Effect<Schema.JsonObject, RequestError> => {
  if (response === undefined) {
    return Effect.fail(
      new TransportError({ method, reason: "Lost", detail: "the connection ended before there was an answer" })
    )
  }
  if (response.id !== sent.id && response.id !== null) {
    return Effect.fail(new InvalidResponse({ method, detail: "the answer to another request" }))
  }
  if (response._tag === "Failure") return Effect.fail(new ProtocolError({ method, error: response.error }))
  const { resultType = "complete" } = response.result
  return resultType === "complete" || accepts.some((kind) => kind === resultType)
    ? Effect.succeed(response.result)
    : Effect.fail(new InvalidResponse({ method, detail: `a result of type ${JSON.stringify(resultType)}` }))
}

/** A server that refuses the revision and names it as supported is asked once more (basic/versioning). */
const isOwnVersionRefused = (error: RequestError): boolean => {
  if (error._tag !== "ProtocolError" || error.error.code !== WireError.Code.UnsupportedProtocolVersion) return false
  const { data } = error.error
  const supported = JsonRpc.isJsonObject(data) ? data["supported"] : undefined
  return Array.isArray(supported) && supported.includes(McpProtocol.ProtocolVersion)
}

const naming = (error: RequestError, taskId: string | undefined): RequestError => {
  if (taskId === undefined) return error
  switch (error._tag) {
    case "TransportError":
      return new TransportError({ ...error, taskId })
    case "ProtocolError":
      return new ProtocolError({ ...error, taskId })
    case "InvalidResponse":
      return new InvalidResponse({ ...error, taskId })
  }
}

/**
 * Tries again while what goes wrong is of the kind that passes, each time later, and never past the deadline that
 * begins with the first failure.
 *
 * @since 0.1.0
 */
export const patiently = <A>(
  attempt: Effect.Effect<A, RequestError>,
  retryForMs: number,
  atLeastMs: number
): Effect.Effect<A, RequestError> =>
  Effect.gen(function*() {
    let delayMs = firstDelayMs
    let deadline: number | undefined
    while (true) {
      const tried = yield* Effect.result(attempt)
      if (Result.isSuccess(tried)) return tried.success
      const error = tried.failure
      // How long is told by a clock that nobody sets.
      const now = Number(yield* Clock.monotonicTimeNanos) / 1e6
      deadline ??= now + retryForMs
      const asked = error._tag === "TransportError" ? error.retryAfterMs ?? 0 : 0
      const spread = 1 + 0.2 * (yield* Random.next)
      const waitMs = Math.max(delayMs * spread, asked, Math.min(atLeastMs, longestDelayMs))
      if (!isTransient(error) || now + waitMs > deadline) return yield* error
      yield* Effect.logDebug(`${error.message}; trying again in ${Math.round(waitMs)} ms`)
      yield* Effect.sleep(waitMs)
      delayMs = Math.min(delayMs * 2, longestDelayMs)
    }
  })
