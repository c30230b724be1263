/**
 * Reading the body of a request: bounded in size and in time, and nothing but UTF-8.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as deadlines from "./deadlines.ts"
import { refusal } from "./httpGuard.ts"

/**
 * How large and how slow a body may be.
 *
 * @since 0.1.0
 */
export interface BodyLimits {
  readonly maxBytes: number
  readonly timeout: Duration.Duration
}

/**
 * Makes the reader: the text of a body, or the response that refuses it.
 *
 * **Details**
 *
 * Each body is waited for by a fiber that nobody interrupts: the platform would give up reading, and destroy the socket
 * before the refusal of a slow body is on it. The read ends with its connection. Time costs no fiber: one watches all.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*({ maxBytes, timeout }: BodyLimits) {
  const tooLarge = refusal(413, `Content too large: at most ${maxBytes} bytes are read`)
  const tooSlow = HttpServerResponse.setHeader(
    refusal(408, "Request timeout: the body did not arrive in time"),
    "connection",
    "close"
  )
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const wait = yield* deadlines.make(timeout)
  const context = yield* Effect.context<never>()
  const begin = Effect.runForkWith(Context.add(context, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)))

  const decode = (bytes: ArrayBuffer) =>
    Effect.fromResult(Result.try({ try: () => decoder.decode(bytes), catch: () => notUtf8 }))

  const readBytes = (request: HttpServerRequest.HttpServerRequest) =>
    Effect.callback<ArrayBuffer, HttpServerError.HttpServerError | HttpServerResponse.HttpServerResponse>((resume) => {
      const end = wait(() => resume(Effect.fail(tooSlow)))
      begin(request.arrayBuffer).addObserver((exit) => {
        end()
        resume(exit)
      })
      return Effect.sync(end)
    })

  return (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.Effect<string, HttpServerResponse.HttpServerResponse> =>
    Number(request.headers["content-length"] ?? 0) > maxBytes
      ? Effect.fail(tooLarge)
      : readBytes(request).pipe(
        Effect.mapError((error) =>
          HttpServerResponse.isHttpServerResponse(error) ? error : isTooLarge(error) ? tooLarge : broken
        ),
        Effect.flatMap(decode)
      )
})

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"

const broken = refusal(400, "Bad request: the body could not be read")

const notUtf8 = HttpServerResponse.text(JsonRpc.error(null, WireError.parseError("Parse error: not UTF-8")), {
  status: 400,
  contentType: "application/json"
})
