/**
 * What this process waits for outside of a test's clock: files, sockets, other processes, timers.
 *
 * It is counted by Node, and not by whom it belongs to. So what was there before does not count, but for timers: one of
 * those ends, and the next one in its place looks the same. (Vitest has one in the first tenth of a second of a test.)
 * What does not end within two seconds, such as a server that listens, is not waited for again.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

/** How often it is looked at, once a millisecond. */
const patience = 2_000

const counted = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/**
 * Makes the effect that waits until nothing real is under way, and says whether anything was.
 *
 * @since 0.2.0
 */
export const makeSettled: Effect.Effect<Effect.Effect<boolean>> = Effect.sync(() => {
  let usual = new Map([...counted()].filter(([kind]) => kind !== "Timeout"))
  let hasBegun = false
  let endless: ReadonlyMap<string, number> = new Map()

  const isBusy = () => {
    const now = counted()
    // What was there at first may only have been passing by.
    usual = new Map([...usual].map(([kind, count]) => [kind, Math.min(count, now.get(kind) ?? 0)]))
    return [...now].some(([kind, count]) => count > Math.max(usual.get(kind) ?? 0, endless.get(kind) ?? 0))
  }

  // The test's clock warns by a real timer of tests that let no time pass. This one does.
  const noWarning = Effect.suspend(() => hasBegun ? Effect.void : TestClock.adjust(0))

  return Effect.gen(function*() {
    yield* noWarning
    hasBegun = true
    for (let looks = 0; looks < patience; looks++) {
      yield* Effect.yieldNow
      if (!isBusy()) return looks > 0
      yield* TestClock.withLive(Effect.sleep(1))
    }
    endless = counted()
    return false
  })
})
