/**
 * The document that tells clients who may issue tokens for this server.
 *
 * Source: RFC 9728; MCP, "Authorization Server Discovery": Protected Resource Metadata Discovery Requirements.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import type { AuthenticationOptions } from "../Authentication.ts"

/**
 * The well-known path of the document, which the path of the server may follow.
 *
 * @since 0.2.0
 */
export const wellKnown = "/.well-known/oauth-protected-resource"

const pathOf = (resource: URL): string => resource.pathname === "/" ? "" : resource.pathname

/**
 * Where the document of a server is: its address with the well-known name before the path (RFC 9728, section 3.1).
 *
 * @since 0.1.0
 */
export const address = (resource: URL): string =>
  `${resource.origin}${wellKnown}${pathOf(resource)}${resource.search}`

/**
 * Serves the document to everybody, under the server's own path and under the root.
 *
 * @since 0.1.0
 */
export const layer = (
  resource: URL,
  { authorizationServers, documentation, name, scopesSupported, ...options }: AuthenticationOptions
): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use((router) => {
    const document = HttpServerResponse.text(
      JSON.stringify({
        resource: options.resource,
        authorization_servers: authorizationServers,
        ...(scopesSupported === undefined ? {} : { scopes_supported: scopesSupported }),
        bearer_methods_supported: ["header"],
        ...(name === undefined ? {} : { resource_name: name }),
        ...(documentation === undefined ? {} : { resource_documentation: documentation })
      }),
      { contentType: "application/json" }
    )
    const paths = new Set<HttpRouter.PathInput>([wellKnown, `${wellKnown}${pathOf(resource)}`])
    return Effect.forEach(paths, (path) => router.add("GET", path, Effect.succeed(document)), { discard: true })
  })
