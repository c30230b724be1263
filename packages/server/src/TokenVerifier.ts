/**
 * From a bearer token to the caller it stands for: by JWT (`JwtVerifier`), or by a check of your own.
 *
 * @since 0.1.0
 */
import type { TaskOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/**
 * Whom a token stands for, and what it may be used for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Caller {
  readonly owner: TaskOwner
  readonly scopes: ReadonlyArray<string>
}

/**
 * The token is no proof of anything here. `reason` is told to the client, so it quotes neither the token nor a claim.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenRefused extends Schema.TaggedError<TokenRefused>()("TokenRefused", {
  reason: Schema.String
}) {}

/**
 * Nothing can be said of the token at the moment: it is neither good nor bad. The client is asked to try again.
 *
 * @category errors
 * @since 0.1.0
 */
export class VerifierUnavailable extends Schema.TaggedError<VerifierUnavailable>()("VerifierUnavailable", {
  cause: Schema.Defect(),
  /** When it is worth trying again, in milliseconds. */
  retryAfterMs: Schema.Int
}) {}

/**
 * Tells whom a token stands for.
 *
 * **Gotchas**
 *
 * It must make sure that the token was issued for this server and is not another service's (MCP, "Authorization":
 * Token Handling). The owner is made of the issuer and the subject, never of the token, which is refreshed.
 *
 * @category services
 * @since 0.1.0
 */
export class TokenVerifier extends Context.Service<TokenVerifier, {
  readonly verify: (token: Redacted.Redacted<string>) => Effect.Effect<Caller, TokenRefused | VerifierUnavailable>
}>()("@effect-mcp-tasks/server/TokenVerifier") {}

/**
 * Verifies tokens in a way of your own, such as by introspection (RFC 7662).
 *
 * **Example**
 *
 * ```ts
 * const verifier = TokenVerifier.layer((token) =>
 *   Redacted.value(token) === "let me in"
 *     ? Effect.succeed({ owner: TaskOwner.principal({ issuer: "me", subject: "me" }), scopes: [] })
 *     : Effect.fail(new TokenVerifier.TokenRefused({ reason: "The token is not known" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (verify: TokenVerifier["Service"]["verify"]): Layer.Layer<TokenVerifier> =>
  Layer.succeed(TokenVerifier, { verify })
