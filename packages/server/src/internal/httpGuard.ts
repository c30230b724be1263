/**
 * What an HTTP request must be before its body is worth reading.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { wellKnown } from "./protectedResource.ts"
import * as stopping from "./stopping.ts"

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
 * (Streamable HTTP, "Security & Endpoint"). Pages of this machine may only call a server that is addressed as one of
 * this machine: what somebody runs on their own port has no business with a server that is reached by a public name.
 *
 * The body must be JSON in UTF-8, as JSON between systems is (RFC 8259, section 8.1), and not compressed.
 *
 * @since 0.1.0
 */
export const make = (allowed: Allowed) => {
  const guardAddress = makeAddressGuard(allowed)
  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Response> | undefined => {
    const { "content-encoding": encoding, "content-type": type } = request.headers
    const forbidden = guardAddress(request)
    if (forbidden !== undefined) return forbidden
    if (request.method !== "POST") return notPost
    if (type === undefined || !isJson(type)) return notJson
    return encoding === undefined || isIdentity(encoding) ? undefined : encoded
  }
}

/**
 * Makes the part of the guard that looks at where a request goes to and comes from.
 *
 * **Details**
 *
 * A second `Host` is refused (RFC 9112, section 3.2), and so are two values of what else may have one only: whoever has
 * looked at the request before may have seen the other one.
 *
 * @since 0.2.0
 */
export const makeAddressGuard = (allowed: Allowed) => {
  const named = new Set((allowed.allowedHosts ?? []).map((host) => host.toLowerCase()))
  const origins = new Set((allowed.allowedOrigins ?? []).map((origin) => origin.toLowerCase()))

  const hostnameOf = rememberingLast(hostname)

  /** Whether a page of this origin may call the server under this host. */
  const isAllowedOrigin = (origin: string, host: string): boolean => {
    if (origins.has(origin.toLowerCase())) return true
    const [, authority] = /^https?:\/\/([^/@]+)$/i.exec(origin) ?? []
    if (authority === undefined) return false
    const page = hostname(authority)
    return named.has(page) || (loopback.has(page) && loopback.has(host))
  }

  return (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Response> | undefined => {
    const { host, origin } = request.headers
    if (isAmbiguous(request)) return ambiguous
    const addressed = host === undefined ? "" : hostnameOf(host)
    if (!loopback.has(addressed) && !named.has(addressed)) return forbiddenHost
    return origin === undefined || isAllowedOrigin(origin, addressed) ? undefined : forbiddenOrigin
  }
}

/**
 * Makes middleware of a whole router that looks at where requests to an endpoint, and to its metadata document, go to
 * and come from, before middleware of the endpoint asks who is calling; and that answers those that the end of the
 * server interrupts meanwhile.
 *
 * @since 0.2.0
 */
export const before = (allowed: Allowed, endpoint: string) => {
  const guardAddress = makeAddressGuard(allowed)
  const ours = routed(endpoint)
  return <E, R>(
    served: Effect.Effect<Response, E, R>
  ): Effect.Effect<Response, E, R | HttpServerRequest.HttpServerRequest> =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request): Effect.Effect<Response, E, R> => {
      const path = request.url === endpoint ? ours : routed(request.url)
      const isOurs = path === ours || path === wellKnown || path.startsWith(`${wellKnown}/`)
      return isOurs ? guardAddress(request) ?? stopping.answered(served, () => stopping.response(null)) : served
    })
}

/** The path of a request as the router reads it: it takes `//mcp`, `/MCP`, `/mcp/` and `/%6dcp` for `/mcp`. */
const routed = (url: string): string => {
  const [path = ""] = url.split(/[?#;]/, 1)
  const decoded = Result.getOrElse(Result.try(() => decodeURIComponent(path)), () => path)
  return decoded.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "").toLowerCase()
}

/** Of these Node keeps the first line and drops the rest, where something in front of it may have read another. */
const single: ReadonlySet<string> = new Set(["host", "content-type", "authorization"])

const lengths: ReadonlySet<number> = new Set(Array.from(single, ({ length }) => length))

/** Whether a request has two lines for what has one value: a second host at all, or another value of the others. */
const isAmbiguous = ({ source }: HttpServerRequest.HttpServerRequest): boolean => {
  const lines = Predicate.hasProperty(source, "rawHeaders") ? source.rawHeaders : undefined
  if (!Array.isArray(lines)) return false
  const first = new Map<string, unknown>()
  for (let at = 0; at < lines.length; at += 2) {
    const written = String(lines[at])
    if (!lengths.has(written.length)) continue
    const name = written.toLowerCase()
    if (!single.has(name)) continue
    const value: unknown = lines[at + 1]
    if (first.has(name) && (name === "host" || first.get(name) !== value)) return true
    if (!first.has(name)) first.set(name, value)
  }
  return false
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** A host without its port. */
const hostname = (host: string): string => host.toLowerCase().replace(/:\d*$/, "")

/** Almost all requests name the host that the one before named; each is looked at twice. */
const rememberingLast = (read: (text: string) => string): (text: string) => string => {
  let last = { text: "", value: read("") }
  return (text) => {
    if (text !== last.text) last = { text, value: read(text) }
    return last.value
  }
}

const isJson = (type: string): boolean =>
  type === "application/json" ||
  /^application\/json\s*(;|$)/i.test(type) && !/;\s*charset\s*=(?!\s*("?)utf-?8\1\s*(;|$))/i.test(type)

const isIdentity = (encoding: string): boolean => /^(identity)?$/i.test(encoding)

const fixed = (response: Response): Effect.Effect<Response> => Effect.succeed(response)

const ambiguous = fixed(refusal(400, "Bad request: a header that has one value was sent with several"))
const forbiddenHost = fixed(refusal(403, "Forbidden: requests for this Host are not served"))
const forbiddenOrigin = fixed(refusal(403, "Forbidden: requests from this Origin are not served"))
const notPost = fixed(
  HttpServerResponse.setHeader(refusal(405, "Method not allowed: messages are sent by POST"), "allow", "POST")
)
const notJson = fixed(refusal(415, "Unsupported media type: the body must be application/json in UTF-8"))
const encoded = fixed(
  HttpServerResponse.setHeader(
    refusal(415, "Unsupported content coding: the body must not be compressed"),
    "accept-encoding",
    "identity"
  )
)
