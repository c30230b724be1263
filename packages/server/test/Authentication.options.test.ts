/** With which options callers are authenticated, and with which a server does not start. */
import { Authentication, TokenVerifier } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { issuer } from "./Issuer.ts"

const options: Authentication.AuthenticationOptions = {
  resource: "https://mcp.example/mcp",
  authorizationServers: [issuer]
}

const unused = TokenVerifier.layer(() => Effect.die("No request is made"))

describe("options that make no sense, offline_access among them [K8]", () => {
  const samples: ReadonlyArray<readonly [Partial<Authentication.AuthenticationOptions>, string]> = [
    [{ resource: "/mcp" }, "resource is not an absolute URL"],
    [{ resource: "http://mcp.example/mcp" }, "resource must be an https address"],
    [{ resource: "https://mcp.example/mcp#part" }, "resource must not have a fragment"],
    [{ authorizationServers: [] }, "no authorization server is named"],
    [{ authorizationServers: ["issuer"] }, "authorization server issuer is not an absolute URL"],
    [{ scopes: ["a b"] }, `"a b" is not a scope`],
    [{ scopes: ["a'b", "a\\b"] }, "\"a\\\\b\" is not a scope"],
    [{ scopesSupported: [""] }, `"" is not a scope`],
    [{ scopesSupported: ["tasks", "offline_access"] }, "offline_access is no scope of a resource"]
  ]
  for (const [changed, reason] of samples) {
    it.effect(`die with a sentence: ${JSON.stringify(changed)}`, () =>
      Effect.gen(function*() {
        const layer = Authentication.layer({ ...options, ...changed }).pipe(
          Layer.provide([unused, HttpRouter.layer, FetchHttpClient.layer])
        )
        const exit = yield* Effect.exit(Layer.build(layer))
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit).replaceAll("\\\"", "\""), `Callers cannot be authenticated: ${reason}`)
      }))
  }

  it.effect("but a sound one is built", () =>
    Effect.gen(function*() {
      const layer = Authentication.layer(options).pipe(Layer.provide([unused, HttpRouter.layer]))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Layer.build(layer))))
    }))
})
