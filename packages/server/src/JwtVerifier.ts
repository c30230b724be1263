/**
 * Verifies access tokens that are JSON Web Tokens, against the keys that their issuer publishes.
 *
 * Guarantee: a token is accepted only when a key of the issuer signed it with one of the allowed algorithms, all of
 * them asymmetric, and it names this issuer, this audience, a subject, and an expiry that has not passed. The time is
 * that of Effect's `Clock`. When the keys cannot be had, nothing is accepted and nothing is called invalid.
 *
 * Source: RFC 7519, RFC 8725; MCP, "Authorization": Token Handling.
 *
 * @since 0.1.0
 */
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as jose from "jose"
import * as jwks from "./internal/jwks.ts"
import * as webAddress from "./internal/webAddress.ts"
import { type Caller, TokenRefused, TokenVerifier, VerifierUnavailable } from "./TokenVerifier.ts"

/**
 * The signature algorithms that may be allowed. None of them has a secret: a public key cannot be mistaken for one.
 *
 * @category models
 * @since 0.1.0
 */
export type Algorithm =
  | "RS256" | "RS384" | "RS512"
  | "PS256" | "PS384" | "PS512"
  | "ES256" | "ES384" | "ES512"
  | "EdDSA" | "Ed25519"

/**
 * What a token must be like.
 *
 * @category models
 * @since 0.1.0
 */
export interface JwtOptions {
  /** Who must have issued the token: its `iss`, compared exactly. */
  readonly issuer: string
  /** Where the issuer publishes its keys (`jwks_uri`); https, unless on a loopback address. */
  readonly jwksUri: string
  /** Whom the token must be for: one of these is in its `aud`. It is the address that clients know this server by. */
  readonly audience: string | ReadonlyArray<string>
  /** Allowed signatures; RS256, PS256, ES256 and EdDSA. */
  readonly algorithms?: ReadonlyArray<Algorithm> | undefined
  /** What the `typ` header must be, such as `at+jwt` (RFC 9068); anything, unless given. */
  readonly type?: string | undefined
  /**
   * The claim that names the tenant, such as `tid`. When given, a token without it is refused, and equal subjects of
   * two tenants are two owners.
   */
  readonly tenantClaim?: string | undefined
  /** How far the issuer's clock may be off; 5 seconds. */
  readonly clockTolerance?: Duration.Input | undefined
  /** How long keys are trusted before they are fetched again; 10 minutes. A key that was withdrawn lives as long. */
  readonly keysMaxAge?: Duration.Input | undefined
}

/**
 * Makes a verifier.
 *
 * **When to use**
 *
 * To combine it with a verifier of your own. A server with one issuer uses `layer`, with several `layerIssuers`.
 *
 * **Details**
 *
 * Scopes are read from `scope` (RFC 8693: a text) or `scp` (a text or a list). A subject and a tenant have at most 255
 * characters (OpenID Connect Core, section 2). A token that names another issuer is refused before any key is fetched.
 * Dies with a sentence when the options make no sense.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options: JwtOptions
): Effect.fn.Return<TokenVerifier["Service"], never, HttpClient.HttpClient> {
  const { audience, clockTolerance, issuer, jwksUri, keysMaxAge, tenantClaim, type } = options
  const algorithms = [...options.algorithms ?? defaultAlgorithms]
  const fault = faultOf(options, algorithms)
  if (fault !== undefined) return yield* Effect.die(`The JWT verifier cannot be used: ${fault}`)
  const keys = yield* jwks.make({ uri: jwksUri, maxAge: Duration.fromInputUnsafe(keysMaxAge ?? "10 minutes") })
  const expected: jose.JWTVerifyOptions = {
    issuer,
    audience: typeof audience === "string" ? audience : [...audience],
    algorithms,
    requiredClaims: ["exp", "sub"],
    clockTolerance: Math.ceil(Duration.toSeconds(Duration.fromInputUnsafe(clockTolerance ?? "5 seconds"))),
    ...(type === undefined ? {} : { typ: type })
  }

  const verifyWith = (token: string, known: jwks.Keys) =>
    Effect.flatMap(DateTime.now, (now) =>
      Effect.tryPromise({
        try: () => jose.jwtVerify(token, known, { ...expected, currentDate: DateTime.toDateUtc(now) }),
        catch: toRefusal
      }))

  return {
    verify: Effect.fnUntraced(function*(redacted) {
      const token = Redacted.value(redacted)
      // Before the keys: who is not asked about a token need not be reachable to say so.
      if ((yield* Effect.fromResult(claimedIssuer(token))) !== issuer) return yield* foreign
      const known = yield* keys.known
      const { payload } = yield* verifyWith(token, known).pipe(
        // The issuer may have a new key since. A second look within a moment finds the same keys, and is not taken.
        Effect.catchIf((error) => error === unknownKey, (error) =>
          Effect.flatMap(keys.latest, (latest) => latest === known ? Effect.fail(error) : verifyWith(token, latest)))
      )
      return yield* Effect.fromResult(callerOf(payload, issuer, tenantClaim))
    })
  }
})

/**
 * Verifies tokens of several issuers, each by its own options. Which one is asked is chosen by the `iss` of the token,
 * which is not trusted before that one has verified it: an issuer that cannot be reached concerns its own tokens only.
 *
 * **Details**
 *
 * Dies with a sentence when two have the same issuer, when there is none, or when the options of one make no sense.
 *
 * **Example**
 *
 * ```ts
 * const audience = "https://mcp.example.com/mcp"
 *
 * JwtVerifier.layerIssuers([
 *   { issuer: "https://staff.example.com", jwksUri: "https://staff.example.com/jwks", audience },
 *   { issuer: "https://guests.example.com", jwksUri: "https://guests.example.com/jwks", audience }
 * ])
 * ```
 *
 * @category layers
 * @since 0.2.0
 */
export const layerIssuers = (
  issuers: ReadonlyArray<JwtOptions>
): Layer.Layer<TokenVerifier, never, HttpClient.HttpClient> =>
  Layer.effect(
    TokenVerifier,
    Effect.gen(function*() {
      const made = yield* Effect.forEach(issuers, (options) =>
        Effect.map(make(options), (verifier) => [options.issuer, verifier] as const))
      const verifiers = new Map<unknown, TokenVerifier["Service"]>(made)
      if (verifiers.size === 0) return yield* Effect.die("The JWT verifier cannot be used: no issuer is named")
      if (verifiers.size < made.length) {
        return yield* Effect.die("The JWT verifier cannot be used: an issuer is named twice")
      }
      return {
        verify: (token) =>
          Effect.flatMap(Effect.fromResult(claimedIssuer(Redacted.value(token))), (issuer) =>
            verifiers.get(issuer)?.verify(token) ?? foreign)
      }
    })
  )

/**
 * Verifies tokens of one issuer. Fetches its keys by the `HttpClient`, when the first token comes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: JwtOptions): Layer.Layer<TokenVerifier, never, HttpClient.HttpClient> =>
  Layer.effect(TokenVerifier, make(options))

const defaultAlgorithms: ReadonlyArray<Algorithm> = ["RS256", "PS256", "ES256", "EdDSA"]

const asymmetric = /^(?:RS|PS|ES)(?:256|384|512)$|^EdDSA$|^Ed25519$/

const faultOf = ({ audience, issuer, jwksUri }: JwtOptions, algorithms: ReadonlyArray<string>): string | undefined => {
  if (issuer === "") return "the issuer is empty"
  if (audience.length === 0 || [audience].flat().includes("")) return "the audience is empty, so any token would do"
  if (algorithms.length === 0 || !algorithms.every((name) => asymmetric.test(name))) {
    return "the algorithms must be asymmetric signatures"
  }
  return Result.match(webAddress.parse(jwksUri), {
    onFailure: (reason) => `jwksUri ${reason}`,
    onSuccess: () => undefined
  })
}

const refused = (reason: string): TokenRefused => new TokenRefused({ reason })

const foreign = Effect.fail(refused("The token is from another issuer"))

/** Whom a token says it is from, which proves nothing. */
const claimedIssuer = (token: string): Result.Result<unknown, TokenRefused> =>
  Result.try({
    try: (): unknown => jose.decodeJwt(token).iss,
    catch: () => refused("The token is not a valid JWT")
  })

const unknownKey = refused("The key of the token is not known")

/**
 * What is wrong with a token, without a word of it. An error that does not come from the token comes from the keys.
 */
const toRefusal = (error: unknown): TokenRefused | VerifierUnavailable => {
  if (error instanceof jose.errors.JWTExpired) return refused("The token has expired")
  if (error instanceof jose.errors.JWTClaimValidationFailed) {
    return refused(claimFaults.get(error.claim) ?? "A claim of the token does not fit")
  }
  if (error instanceof jose.errors.JWKSNoMatchingKey) return unknownKey
  if (error instanceof jose.errors.JWKSMultipleMatchingKeys) return refused("The token does not say which key it needs")
  if (error instanceof jose.errors.JOSEAlgNotAllowed) return refused("The signature algorithm is not allowed")
  if (error instanceof jose.errors.JWKInvalid || error instanceof jose.errors.JWKSInvalid) return broken(error)
  return error instanceof jose.errors.JOSEError ? refused("The token is not a valid JWT") : broken(error)
}

const broken = (cause: unknown) => new VerifierUnavailable({ cause, retryAfterMs: 5_000 })

const claimFaults: ReadonlyMap<string, string> = new Map([
  ["iss", "The token is from another issuer"],
  ["aud", "The token is not for this server"],
  ["sub", "The token names no subject"],
  ["exp", "The token does not say when it expires"],
  ["nbf", "The token is not valid yet"],
  ["typ", "The token is of another type"]
])

const Name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255))
const Scopes = Schema.Union([Schema.String, Schema.Array(Schema.String)])

const Claims = Schema.Struct({
  sub: Name,
  scope: Schema.optionalKey(Scopes),
  scp: Schema.optionalKey(Scopes)
})

const decodeClaims = Schema.decodeUnknownResult(Claims)
const decodeName = Schema.decodeUnknownResult(Name)

const callerOf = (
  payload: jose.JWTPayload,
  issuer: string,
  tenantClaim: string | undefined
): Result.Result<Caller, TokenRefused> => {
  const claims = decodeClaims(payload)
  if (Result.isFailure(claims)) {
    return Result.fail(refused("The subject or the scopes of the token cannot be read"))
  }
  const { scope, scp, sub: subject } = claims.success
  const scopes = [scope ?? scp ?? []].flat().flatMap((text) => text.split(" ").filter((name) => name !== ""))
  if (tenantClaim === undefined) {
    return Result.succeed({ owner: TaskOwner.principal({ issuer, subject }), scopes })
  }
  return Result.mapBoth(decodeName(Object.hasOwn(payload, tenantClaim) ? payload[tenantClaim] : undefined), {
    onFailure: () => refused("The token names no tenant"),
    onSuccess: (tenant) => ({ owner: TaskOwner.principal({ issuer, subject, tenant }), scopes })
  })
}
