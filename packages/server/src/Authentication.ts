/**
 * Who is calling, over HTTP: every request is served for the owner that its bearer token stands for, or refused.
 *
 * Guarantee: nothing of a request is read before its caller is known, but its headers. Where it goes to and comes from
 * (`Host`, `Origin`) is checked by `HttpTransport` before that. What is refused says how to be
 * let in, by `WWW-Authenticate` and the protected-resource metadata document. Behind this layer there is no token: not
 * in the request, the logs, the spans, nor with a task. When a verifier cannot decide, nobody is let in and no token is
 * called invalid.
 *
 * Source: MCP, "Authorization"; RFC 6750; RFC 9728.
 *
 * @since 0.1.0
 */
import * as McpHeader from "@effect-mcp-tasks/core/McpHeader"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as bearer from "./internal/bearer.ts"
import { refusal } from "./internal/httpGuard.ts"
import * as outage from "./internal/outage.ts"
import * as protectedResource from "./internal/protectedResource.ts"
import * as webAddress from "./internal/webAddress.ts"
import { type Caller, TokenVerifier, type VerifierUnavailable } from "./TokenVerifier.ts"

/**
 * What a request asks for, as its headers say. Admission refuses it later if its body says something else.
 *
 * @category models
 * @since 0.1.0
 */
export interface Operation {
  readonly method: string | undefined
  /** The tool or the task, for methods that have one. */
  readonly name: string | undefined
}

/**
 * How callers are told apart, and what a client must know to become one.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuthenticationOptions {
  /** The address that clients know this endpoint by, such as `https://mcp.example.com/mcp`. */
  readonly resource: string
  /** The issuers whose tokens are accepted; at least one. */
  readonly authorizationServers: ReadonlyArray<string>
  /** The scopes that a request must have, all of them: the same for each, or by what it asks for. None unless given. */
  readonly scopes?: ReadonlyArray<string> | ((operation: Operation) => ReadonlyArray<string>) | undefined
  /** For a scope that includes others, which ones: who has it need not have them. */
  readonly impliedScopes?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
  /** Serves requests without a token for the anonymous owner; otherwise they are refused with 401. */
  readonly anonymous?: boolean | undefined
  /** `scopes_supported` of the metadata document: what a client needs to begin with. */
  readonly scopesSupported?: ReadonlyArray<string> | undefined
  /** `resource_name` of the metadata document: what people know this server by. */
  readonly name?: string | undefined
  /** `resource_documentation` of the metadata document: an address for developers. */
  readonly documentation?: string | undefined
}

/**
 * Provides the `CurrentOwner` of each request to the routes that this layer is provided to, and serves the
 * protected-resource metadata document beside them.
 *
 * **Details**
 *
 * - No token: 401, and no `error`, since nothing was wrong (RFC 6750, section 3.1).
 * - A token that the verifier refuses: 401 `invalid_token`, with its reason.
 * - A good token that lacks a scope: 403 `insufficient_scope`, with all scopes that this request needs.
 * - A malformed header: 400 `invalid_request`.
 * - A verifier that cannot decide: 503 with `Retry-After`, and its cause in the log.
 *
 * The document is at `/.well-known/oauth-protected-resource` with and without the path of `resource` behind it. Dies
 * with a sentence when the options make no sense.
 *
 * **Example**
 *
 * ```ts
 * const issuer = "https://auth.example.com"
 * const resource = "https://mcp.example.com/mcp"
 *
 * HttpTransport.layer({ allowedHosts: ["mcp.example.com"] }).pipe(
 *   Layer.provide(Authentication.layer({ resource, authorizationServers: [issuer] })),
 *   Layer.provide(JwtVerifier.layer({ issuer, audience: resource, jwksUri: `${issuer}/jwks` })),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: AuthenticationOptions
): Layer.Layer<
  HttpRouter.Request<"Requires", TaskOwner.CurrentOwner>,
  never,
  TokenVerifier | HttpRouter.HttpRouter
> =>
  Layer.unwrap(Effect.gen(function*() {
    const resource = webAddress.parse(options.resource)
    const fault = Result.isFailure(resource) ? `resource ${resource.failure}` : faultOf(options)
    if (Result.isFailure(resource) || fault !== undefined) {
      return yield* Effect.die(`Callers cannot be authenticated: ${fault}`)
    }
    const { verify } = yield* TokenVerifier
    const authenticate = make(options, protectedResource.address(resource.success), observed(verify))
    const middleware = HttpRouter.middleware<{ provides: TaskOwner.CurrentOwner }>()((served) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.matchEffect(authenticate(request.headers), {
          onFailure: Effect.succeed,
          onSuccess: (owner) =>
            served.pipe(
              Effect.provideService(TaskOwner.CurrentOwner, owner),
              Effect.provideService(HttpServerRequest.HttpServerRequest, withoutToken(request))
            )
        }))
    )
    return Layer.merge(middleware.layer, protectedResource.layer(resource.success, options))
  }))

const withoutToken = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  request.modify({ headers: Headers.remove(request.headers, "authorization") })

/** Scopes are written into a header as they are (RFC 6749, section 3.3). */
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]+$/

const faultOf = ({ authorizationServers, scopes, scopesSupported = [] }: AuthenticationOptions): string | undefined => {
  if (authorizationServers.length === 0) return "no authorization server is named"
  for (const server of authorizationServers) {
    const address = webAddress.parse(server)
    if (Result.isFailure(address)) return `authorization server ${server} ${address.failure}`
  }
  const named = [...(typeof scopes === "object" ? scopes : []), ...scopesSupported]
  // A refresh token is the client's affair (MCP, "Authorization": Refresh Tokens).
  if (named.includes("offline_access")) return "offline_access is no scope of a resource"
  const wrong = named.find((scope) => !scopePattern.test(scope))
  return wrong === undefined ? undefined : `"${wrong}" is not a scope`
}

/** Answers a request's headers with the owner to serve it for, or fails with the response that refuses it. */
const make = (
  { anonymous = false, impliedScopes = {}, scopes = [] }: AuthenticationOptions,
  metadata: string,
  verify: TokenVerifier["Service"]["verify"]
) => {
  const implied = new Map(Object.entries(impliedScopes))
  const allOf = (held: ReadonlyArray<string>): ReadonlySet<string> =>
    new Set(held.flatMap((scope) => [scope, ...implied.get(scope) ?? []]))

  return Effect.fnUntraced(function*(
    headers: Headers.Headers
  ): Effect.fn.Return<TaskOwner.TaskOwner, HttpServerResponse.HttpServerResponse> {
    const needed = typeof scopes === "function" ? scopes(operationOf(headers)) : scopes
    const refuse = (it: Omit<bearer.Challenge, "scopes" | "metadata">) =>
      Effect.fail(bearer.challenge({ ...it, scopes: needed, metadata }))
    const credentials = bearer.read(headers["authorization"])
    switch (credentials._tag) {
      case "None":
        return anonymous && needed.length === 0
          ? TaskOwner.anonymous
          : yield* refuse({ status: 401, description: "Unauthorized: a bearer token is needed" })
      case "Malformed":
        return yield* refuse({
          status: 400,
          error: "invalid_request",
          description: "The Authorization header holds no bearer token that can be read"
        })
      case "Token": {
        const caller: Caller = yield* verify(credentials.token).pipe(
          Effect.catchTags({
            TokenRefused: ({ reason }) => refuse({ status: 401, error: "invalid_token", description: reason }),
            VerifierUnavailable: (error) => Effect.fail(unavailable(error))
          })
        )
        const held = allOf(caller.scopes)
        return needed.every((scope) => held.has(scope))
          ? caller.owner
          : yield* refuse({
            status: 403,
            error: "insufficient_scope",
            description: "The token does not allow this request"
          })
      }
    }
  })
}

const operationOf = (headers: Headers.Headers): Operation => {
  const read = (name: string, decode: (value: string) => Result.Result<string, string>) => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? undefined : Result.getOrUndefined(decode(value))
  }
  return {
    method: read(McpHeader.HeaderName.method, McpHeader.readHeaderValue),
    name: read(McpHeader.HeaderName.name, McpHeader.decodeHeaderValue)
  }
}

/** Tells the log of a verifier that is away. One that refuses a token is not. */
const observed = (verify: TokenVerifier["Service"]["verify"]): TokenVerifier["Service"]["verify"] => {
  const { failed, worked } = outage.make({
    broken: "Callers cannot be verified, and are refused until they can",
    again: "A caller could not be verified",
    mended: "Callers are verified again"
  })
  return (token) =>
    verify(token).pipe(
      Effect.tap(() => worked("token")),
      Effect.tapError((error) =>
        error._tag === "VerifierUnavailable" ? failed("token", Cause.fail(error)) : worked("token"))
    )
}

const unavailable = (error: VerifierUnavailable) =>
  HttpServerResponse.setHeader(
    refusal(503, "Service unavailable: callers cannot be verified at the moment"),
    "retry-after",
    Headers.formatRetryAfter(Headers.retryAfterDuration(Duration.millis(error.retryAfterMs)))
  )
