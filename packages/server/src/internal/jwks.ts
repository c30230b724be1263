/**
 * The public keys of an issuer, fetched when they are needed and kept for a while.
 *
 * Guarantee: at most one fetch is under way, and at most one is made in each `cooldown`, whatever tokens are sent. An
 * outage costs nobody whose key is known and fresh; everybody else is told that the issuer cannot be reached.
 *
 * @since 0.1.0
 */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import * as jose from "jose"
import { VerifierUnavailable } from "../TokenVerifier.ts"

/**
 * The keys as they were when they were fetched; finds the one that a token names.
 *
 * @since 0.1.0
 */
export type Keys = jose.LocalJWKSet

/**
 * Where the keys are, and how long they may be trusted without looking again.
 *
 * @since 0.1.0
 */
export interface Source {
  readonly uri: string
  readonly maxAge: Duration.Duration
}

/** How long after a fetch a token with an unknown key causes no other. Issuers publish a key before they use it. */
const cooldown = Duration.seconds(30)

/** How long after a failed fetch nobody waits for another. */
const pause = Duration.seconds(5)

const timeout = Duration.seconds(5)

const KeySet = Schema.Struct({ keys: Schema.Array(Schema.JsonObject) })

/**
 * Makes the keys of a source. `known` gives what is kept and fresh, and fetches otherwise; `latest` fetches unless
 * that was done a moment ago.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*({ maxAge, uri }: Source) {
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  let kept: { readonly keys: Keys; readonly until: number } | undefined

  const fetch = client.get(uri, { acceptJson: true }).pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(KeySet)),
    Effect.flatMap((set) => Effect.try(() => jose.createLocalJWKSet(set as unknown as jose.JSONWebKeySet))),
    Effect.timeout(timeout),
    // A redirect could lead from https to http.
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "error" }),
    Effect.mapError((cause) => new VerifierUnavailable({ cause, retryAfterMs: Duration.toMillis(pause) })),
    Effect.tap((keys) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        kept = { keys, until: now + Duration.toMillis(maxAge) }
      })
    )
  )

  const attempts = yield* Cache.makeWith((_: "keys") => fetch, {
    capacity: 1,
    timeToLive: (exit) => Exit.isSuccess(exit) ? Duration.min(cooldown, maxAge) : pause
  })
  const latest = Cache.get(attempts, "keys")

  return {
    latest,
    known: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      kept !== undefined && now < kept.until ? Effect.succeed(kept.keys) : latest)
  }
})
