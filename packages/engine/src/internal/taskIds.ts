/**
 * Ids that nobody can guess: the time in milliseconds, then 128 bits from a cryptographic source, all in hexadecimal
 * (ext-tasks, "Security Considerations").
 *
 * The time says nothing that `createdAt` does not. It is there for databases: tasks that are made, changed and asked
 * for together then lie together in every index (ADR 0007).
 *
 * @since 0.1.0
 */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"

const idBytes = 16

/** Asking the source costs far more than its bytes do, so that they are fetched for many ids at a time. */
const idsAtATime = 128

/** Twelve digits last until the year 10889; a clock that is off makes ids that sort elsewhere, and nothing more. */
const timestamp = (at: number): string => Math.max(0, Math.trunc(at)).toString(16).padStart(12, "0")

/**
 * Makes the generator of ids: given the time, in epoch milliseconds.
 *
 * @since 0.1.0
 */
export const make = (random: SecureRandom.SecureRandom["Service"]): (at: number) => Effect.Effect<string> => {
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
  const next = Effect.suspend(() => used < bytes.length ? Effect.succeed(draw()) : refill)
  return (at) => Effect.map(next, (drawn) => timestamp(at) + drawn)
}
