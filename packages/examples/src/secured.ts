/**
 * The server that `docs/guides/securing-a-server.md` builds, block by block. A test compares the two and runs it.
 *
 * @since 0.2.0
 */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { Authentication, HttpTransport, JwtVerifier, RateLimits, TaskServer } from "@effect-mcp-tasks/server"
import { Layer } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import * as Tools from "./tools.ts"

/** Where the server is, and whose tokens it takes. */
export interface Deployment {
  /** The address that clients know the server by, such as `https://mcp.example.com/mcp`. */
  readonly resource: string
  readonly issuer: string
  /** Where the issuer publishes its keys: `jwks_uri` in its metadata. */
  readonly jwksUri: string
}

const verifier = ({ issuer, jwksUri, resource }: Deployment) =>
  JwtVerifier.layer({
    issuer,
    jwksUri,
    audience: resource,
    algorithms: ["ES256"],
    type: "at+jwt"
  }).pipe(Layer.provide(FetchHttpClient.layer))

/** What begins, changes or ends work. */
const writing = new Set(["tools/call", "tasks/update", "tasks/cancel"])

const authentication = ({ issuer, resource }: Deployment) =>
  Authentication.layer({
    resource,
    authorizationServers: [issuer],
    scopes: ({ method = "" }) => writing.has(method) ? ["reports:write"] : ["reports:read"],
    impliedScopes: { "reports:write": ["reports:read"] },
    scopesSupported: ["reports:read", "reports:write"],
    name: "Reports"
  })

const rates = RateLimits.layer({
  calls: { limit: 60, window: "1 minute" },
  creates: { limit: 20, window: "1 minute" },
  polls: { limit: 100, window: "10 seconds" }
})

/** Serves the example tools to whoever has a token, with their tasks in memory. */
export const layer = (deployment: Deployment) => {
  const server = TaskServer.layer({
    name: "reports",
    version: "1.0.0",
    toolkit: Tools.Tools,
    allowedHosts: [new URL(deployment.resource).hostname]
  })
  const served = HttpRouter.serve(Layer.provide(server, authentication(deployment)), { disableLogger: true })
  return HttpTransport.layerEndSubscriptions.pipe(
    Layer.provideMerge(Layer.provide(served, HttpTransport.layerRedactQuery)),
    Layer.provide([verifier(deployment), rates, Tools.handlers, TaskStore.layerMemory])
  )
}
