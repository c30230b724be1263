/**
 * Ids that nobody can guess: 128 bits from a cryptographic source, in hexadecimal (ext-tasks, "Security
 * Considerations"). They carry no time and no order.
 *
 * @since 0.1.0
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"

const idBytes = 16

/** Asking the source costs far more than its bytes do, so that they are fetched for many ids at a time. */
const idsAtATime = 128

/**
 * Makes the generator of ids.
 *
 * @since 0.1.0
 */
export const make = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> => {
  let bytes = new Uint8Array(0)
  let used = 0
  // The refill and the ids it is for are one step, so that no other fiber draws them in between.
  const draw = (): string => {
    used += idBytes
    return Hex.encode(bytes.subarray(used - idBytes, used))
  }
  const refill = Effect.map(random.randomBytes(idBytes * idsAtATime), (fresh) => {
    bytes = new Uint8Array(fresh)
    used = 0
    return draw()
  })
  return Effect.suspend(() => used < bytes.length ? Effect.succeed(draw()) : refill)
}
