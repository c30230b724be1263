/**
 * How the state of a call that asks in rounds is protected on its way through the client (MCP, "Multi Round-Trip
 * Requests": `requestState`).
 *
 * The state is sealed by authenticated encryption: a client can neither read nor change it. It opens only for the owner
 * it was given to, for the same tool with the same arguments, and until it expires; whoever brings it elsewhere, later
 * or changed learns no more than that it is not taken.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Aead from "effect/crypto/Aead"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/**
 * How states are sealed. Every field has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestStateOptions {
  /**
   * Secrets of 32 random bytes in base64, as `openssl rand -base64 32` makes them. The first seals, all open; a key of
   * its own for each process unless given, so that no other replica, nor the next start, can open what it sealed.
   *
   * **Details**
   *
   * To change the secret: add the new one at the end everywhere, then put it first everywhere, then, once `ttl` has
   * passed, drop the old one.
   */
  readonly keys?: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>] | undefined
  /** How long a client may take for a round; 1 hour. */
  readonly ttl?: Duration.Input | undefined
  /** The longest state that is given out, in characters; 1,000,000. `HttpOptions.maxBodyBytes` must let it back in. */
  readonly maxLength?: number | undefined
}

/**
 * What states are sealed with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sealing extends Omit<RequestStateOptions, "keys"> {
  readonly keys: ReadonlyArray<Aead.Key>
}

/**
 * How states are sealed; with a key of the process's own unless `layer` is provided.
 *
 * @category services
 * @since 0.1.0
 */
export const RequestState: Context.Reference<Sealing> = Context.Reference<Sealing>(
  "@effect-mcp-tasks/server/RequestState",
  { defaultValue: () => ({ keys: [] }) }
)

/**
 * A secret is not 32 bytes in base64.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidStateKey extends Schema.TaggedError<InvalidStateKey>()("InvalidStateKey", {
  /** Which of the keys, counted from 1. */
  position: Schema.Int
}) {
  override get message(): string {
    return `Request state key no. ${this.position} is not 32 bytes in base64. Make one with: openssl rand -base64 32`
  }
}

/**
 * XChaCha20-Poly1305: its nonces are long enough to be drawn at random by any number of replicas with one key.
 *
 * @category constants
 * @since 0.1.0
 */
export const algorithm: Aead.Algorithm = Aead.xchacha20Poly1305

/**
 * Seals states with the secrets that are given.
 *
 * **When to use**
 *
 * Wherever more than one process answers the same clients, and where a restart is not to disturb a user who is just
 * being asked.
 *
 * **Example** (A secret from the environment)
 *
 * ```ts
 * const StateLive = Layer.unwrap(
 *   Effect.map(Config.Redacted("REQUEST_STATE_KEY"), (key) => RequestState.layer({ keys: [key] }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: RequestStateOptions): Layer.Layer<never, InvalidStateKey> =>
  Layer.effect(
    RequestState,
    Effect.map(
      Effect.forEach(options.keys ?? [], (secret, index) => keyOf(secret, index + 1)),
      (keys) => ({ ...options, keys })
    )
  )

const keyOf = (secret: Redacted.Redacted, position: number): Effect.Effect<Aead.Key, InvalidStateKey> =>
  Effect.fromResult(Base64.decode(Redacted.value(secret).trim())).pipe(
    Effect.flatMap((bytes) => Aead.key(algorithm, bytes)),
    Effect.mapError(() => new InvalidStateKey({ position }))
  )
