/**
 * What an HTTP request must be before its body is worth reading.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

interface Allowed {
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
}

type Response = HttpServerResponse.HttpServerResponse

/**
 * An HTTP refusal with the reason as a JSON-RPC error without an id, as the transport allows.
 *
 * @since 0.1.0
 */
export const refusal = (status: number, message: string): Response =>
  HttpServerResponse.text(JsonRpc.error(null, WireError.invalidRequest(message)), {
    status,
    contentType: "application/json"
  })

/**
 * Makes the guard: the response that refuses a request, or `undefined` for one that may be read.
 *
 * **Details**
 *
 * `Host` and `Origin` are both checked, so that a page whose name was rebound to this machine reaches nothing
 * (Streamable HTTP, "Security & Endpoint").
 *
 * @since 0.1.0
 */
export const make = (allowed: Allowed) => {
  const hosts = new Set([...loopback, ...(allowed.allowedHosts ?? []).map((host) => host.toLowerCase())])
  const origins = new Set((allowed.allowedOrigins ?? []).map((origin) => origin.toLowerCase()))

  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Response> | undefined => {
    const { "content-type": type, host, origin } = request.headers
    if (host === undefined || !hosts.has(hostname(host))) return forbiddenHost
    if (origin !== undefined && !origins.has(origin.toLowerCase()) && !isAllowedOrigin(origin, hosts)) {
      return forbiddenOrigin
    }
    if (request.method !== "POST") return notPost
    return type !== undefined && isJson(type) ? undefined : notJson
  }
}

const loopback = ["localhost", "127.0.0.1", "[::1]"]

/** A host without its port. */
const hostname = (host: string): string => host.toLowerCase().replace(/:\d*$/, "")

/** A page that an allowed host serves may call it. */
const isAllowedOrigin = (origin: string, hosts: ReadonlySet<string>): boolean => {
  const found = /^https?:\/\/([^/@]+)$/i.exec(origin)
  return found?.[1] !== undefined && hosts.has(hostname(found[1]))
}

const isJson = (type: string): boolean => /^application\/json\s*(;|$)/i.test(type)

const fixed = (response: Response): Effect.Effect<Response> => Effect.succeed(response)

const forbiddenHost = fixed(refusal(403, "Forbidden: requests for this Host are not served"))
const forbiddenOrigin = fixed(refusal(403, "Forbidden: requests from this Origin are not served"))
const notPost = fixed(
  HttpServerResponse.setHeader(refusal(405, "Method not allowed: messages are sent by POST"), "allow", "POST")
)
const notJson = fixed(refusal(415, "Unsupported media type: the body must be application/json"))
