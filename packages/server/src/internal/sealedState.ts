/**
 * Sealing the state of a call for its way through the client, and opening what comes back.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@effect-mcp-tasks/core/CanonicalJson"
import * as CallRound from "@effect-mcp-tasks/engine/CallRound"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Clock from "effect/Clock"
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as RequestState from "../RequestState.ts"

/**
 * The call that a state belongs to, and whose it is.
 *
 * @since 0.1.0
 */
export interface Call {
  readonly owner: TaskOwner.TaskOwner
  readonly tool: string
  readonly arguments: Schema.JsonObject
}

/**
 * Seals and opens states.
 *
 * @since 0.1.0
 */
export interface SealedState {
  /** The state as text for the client; none when it is too long to be carried. */
  readonly seal: (call: Call, state: CallRound.CallState) => Effect.Effect<Option.Option<string>>
  /**
   * The state that was sealed for this call; none for anything else, whatever is the matter with it: one answer for
   * all, so that nobody learns how far an attempt went.
   */
  readonly open: (call: Call, text: string) => Effect.Effect<Option.Option<CallRound.CallState>>
}

const Envelope = Schema.fromJsonString(Schema.Struct({ ...CallRound.CallState.fields, expiresAt: Schema.Int }))
const encodeEnvelope = Schema.encodeEffect(Envelope)
const decodeEnvelope = Schema.decodeEffect(Envelope)

const bytes = new TextEncoder()
const utf8 = new TextDecoder()

/** What is authenticated without being carried: the retry brings it itself, and must bring the same. */
const bindingOf = ({ arguments: given, owner, tool }: Call): Uint8Array =>
  bytes.encode(CanonicalJson.encode(["effect-mcp-tasks/requestState/1", TaskOwner.key(owner), tool, given]))

const { nonceLength } = RequestState.algorithm

/** Encoding again refuses the other spellings of the same bytes that a decoder lets through. */
const unpacked = (text: string): Uint8Array | undefined => {
  const packed = Base64Url.decode(text)
  return Result.isSuccess(packed) && packed.success.length > nonceLength && Base64Url.encode(packed.success) === text
    ? packed.success
    : undefined
}

/**
 * Makes the sealing that is configured, or one with a key of this process's own.
 *
 * @since 0.1.0
 */
export const make = Effect.gen(function*() {
  const { keys: given, maxLength = 1_000_000, ttl = "1 hour" } = yield* RequestState.RequestState
  const aead = yield* Aead.Aead
  const random = yield* SecureRandom.SecureRandom
  const sealing = given[0] ?? (yield* Effect.orDie(aead.generateKey(RequestState.algorithm)))
  const keys = [sealing, ...given.slice(1)]
  const lifeMs = Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(ttl)))
  const warned = yield* Effect.cached(
    given.length > 0 ? Effect.void : Effect.logWarning(
      "requestState is sealed with a key that only this process has: a retry that reaches another replica, or the " +
        "next start, is refused. Provide RequestState.layer with a shared key"
    )
  )

  const seal: SealedState["seal"] = Effect.fnUntraced(function*(call, state) {
    yield* warned
    const expiresAt = Math.min((yield* Clock.currentTimeMillis) + lifeMs, Number.MAX_SAFE_INTEGER)
    const plain = bytes.encode(yield* encodeEnvelope({ ...state, expiresAt }))
    const nonce = yield* random.randomBytes(nonceLength)
    const sealed = yield* aead.encrypt(sealing, plain, { nonce, aad: bindingOf(call) })
    const packed = new Uint8Array(nonce.length + sealed.length)
    packed.set(nonce)
    packed.set(sealed, nonce.length)
    const text = Base64Url.encode(packed)
    return text.length > maxLength ? Option.none() : Option.some(text)
  }, Effect.orDie)

  const open: SealedState["open"] = Effect.fnUntraced(function*(call, text) {
    const packed = text.length > maxLength ? undefined : unpacked(text)
    if (packed === undefined) return Option.none()
    const nonce = packed.subarray(0, nonceLength)
    const sealed = packed.subarray(nonceLength)
    const aad = bindingOf(call)
    const plain = yield* Effect.firstSuccessOf(keys.map((key) => aead.decrypt(key, sealed, { nonce, aad })))
    const { expiresAt, ...state } = yield* decodeEnvelope(utf8.decode(plain))
    return expiresAt > (yield* Clock.currentTimeMillis) ? Option.some(state) : Option.none()
  }, Effect.catch(() => Effect.succeed(Option.none())))

  const sealed: SealedState = { seal, open }
  return sealed
})
