/**
 * Streamable HTTP: each request a POST, answered by one JSON document or by a stream of server-sent events.
 *
 * Nothing is repeated here, and nothing is ever sent as a response. Interrupting a request closes its stream, which is
 * how a request is withdrawn on this transport.
 *
 * Source: basic/transports/streamable-http.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isTransientStatus, TransportError } from "./TaskClientError.ts"
import { type Incoming, type Outgoing, readMessage, Transport } from "./Transport.ts"

/**
 * Where the server is, and what to add to each request.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions {
  readonly url: string | URL
  /** Sent with every request, such as `authorization`. The protocol's own headers win. */
  readonly headers?: Headers.Input | undefined
  /** The largest answer that is read, in bytes; 16 MiB. */
  readonly maxMessageBytes?: number | undefined
}

/**
 * What a server is called towards users: its address, without what may be secret in it.
 *
 * @category conversions
 * @since 0.1.0
 */
export const nameOf = (url: string | URL): string =>
  String(url).replace(/^(\w+:\/\/)[^/]*@/, "$1").replace(/[?#].*$/s, "")

/**
 * Reaches a server over HTTP, with the HTTP client that is provided.
 *
 * **Gotchas**
 *
 * A token that changes is best added by the HTTP client itself (`HttpClient.mapRequestEffect`).
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: HttpOptions): Layer.Layer<Transport, never, HttpClient.HttpClient> =>
  Layer.effect(
    Transport,
    Effect.gen(function*() {
      const client = HttpClient.withScope(yield* HttpClient.HttpClient)
      const own = Headers.fromInput(options.headers)
      const maxBytes = options.maxMessageBytes ?? 16 * 1024 * 1024
      const where = nameOf(options.url)
      return Transport.of({
        isAmbiguous: false,
        send: (request) =>
          Stream.unwrap(
            post(options.url, own, request).pipe(
              client.execute,
              Effect.catch((error) => unanswered(request, where, error)),
              Effect.map((response) => read(response, request, maxBytes))
            )
          )
      })
    })
  )

const post = (url: string | URL, own: Headers.Headers, { body, headers }: Outgoing) =>
  HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeaders(own),
    HttpClientRequest.setHeaders({ ...headers, accept: "application/json, text/event-stream" }),
    HttpClientRequest.bodyText(body, "application/json")
  )

/** A client that makes errors of error statuses (`filterStatusOk`) has the response in its error. */
const unanswered = (
  { method }: Outgoing,
  where: string,
  cause: HttpClientError.HttpClientError
): Effect.Effect<HttpClientResponse.HttpClientResponse, TransportError> =>
  cause.response === undefined
    ? Effect.fail(new TransportError({ method, reason: "Unreachable", detail: `${where} was not reached`, cause }))
    : Effect.succeed(cause.response)

const mediaType = ({ headers }: HttpClientResponse.HttpClientResponse): string =>
  headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? ""

type Messages = Stream.Stream<Incoming, TransportError>

const read = (response: HttpClientResponse.HttpClientResponse, request: Outgoing, maxBytes: number): Messages => {
  const { method } = request
  const { status } = response
  const type = mediaType(response)
  const isJson = type === "application/json"
  if (status < 200 || status >= 300) {
    const failed = Effect.flatMap(httpStatus(response, method), Effect.fail)
    // An error status may carry a JSON-RPC error, and then that says more. Overload is told by the status alone.
    const said = document(response, method, maxBytes).pipe(
      Effect.filterOrElse((message) => message._tag === "Failure", () => failed),
      Effect.catch(() => failed)
    )
    return Stream.fromEffect(isJson && !isTransientStatus(status) ? said : failed)
  }
  if (isJson) return Stream.fromEffect(document(response, method, maxBytes))
  if (type === "text/event-stream") return events(response, method, maxBytes)
  const [reason, detail] = status === 202 || status === 204
    ? ["Malformed", "the request was taken for a notification"] as const
    : ["NotJson", `the answer has type ${type === "" ? "unknown" : type}, not JSON`] as const
  return Stream.fail(new TransportError({ method, reason, detail, status }))
}

const bytes = (response: HttpClientResponse.HttpClientResponse, method: string) =>
  Stream.mapError(
    response.stream,
    (cause) => new TransportError({ method, reason: "Lost", detail: "the connection broke before the end", cause })
  )

const tooLarge = (method: string, maxBytes: number) =>
  new TransportError({ method, reason: "TooLarge", detail: `the answer is larger than ${maxBytes} bytes` })

const document = (response: HttpClientResponse.HttpClientResponse, method: string, maxBytes: number) =>
  bytes(response, method).pipe(
    Stream.limitBytes(maxBytes, () => Stream.fail(tooLarge(method, maxBytes))),
    Stream.decodeText(),
    Stream.mkString,
    Effect.flatMap((text) => readMessage(method, text))
  )

const events = (response: HttpClientResponse.HttpClientResponse, method: string, maxBytes: number): Messages =>
  Stream.suspend(() => {
    const arrived: Array<string> = []
    // Streams cannot be resumed in this revision: ids and retry times are without meaning, comments are skipped.
    const parser = Sse.makeParser((event) => {
      if (event._tag === "Event" && event.data !== "") arrived.push(event.data)
    }, { maxEventSize: maxBytes })
    return bytes(response, method).pipe(
      Stream.decodeText(),
      Stream.flatMap((chunk) => {
        // The parser bounds what is not complete yet.
        const isTooLarge = parser.feed(chunk) !== undefined || arrived.some((data) => data.length > maxBytes)
        const complete = Stream.fromIterable(arrived.splice(0).filter((data) => data.length <= maxBytes))
        return isTooLarge ? Stream.concat(complete, Stream.fail(tooLarge(method, maxBytes))) : complete
      }),
      Stream.mapEffect((data) => readMessage(method, data))
    )
  })

const httpStatus = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse, method: string) {
  const { headers, status } = response
  const { location } = headers
  const elsewhere = status >= 300 && status < 400 && location !== undefined ? `, and names ${nameOf(location)}` : ""
  const retryAfterMs = headers["retry-after"] === undefined ? undefined : yield* retryAfter(headers["retry-after"])
  return new TransportError({
    method,
    reason: "HttpStatus",
    detail: `the server answered with HTTP status ${status}${elsewhere}`,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs })
  })
})

/** Seconds, or a date (RFC 9110, section 10.2.3); `undefined` where it is neither. */
const retryAfter = Effect.fnUntraced(function*(value: string) {
  if (/^\s*\d+\s*$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const until = DateTime.make(value)
  if (Option.isNone(until)) return undefined
  return Math.max(0, DateTime.toEpochMillis(until.value) - DateTime.toEpochMillis(yield* DateTime.now))
})
