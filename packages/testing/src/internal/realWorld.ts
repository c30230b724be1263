/**
 * What this process waits for outside of a test's clock: files, sockets, other processes, timers.
 *
 * It is counted by Node, and not by whom it belongs to. So what was there before does not count, but for timers: one of
 * those ends, and the next one in its place looks the same. (Vitest has one in the first tenth of a second of a test.)
 * What does not end within two seconds, such as a server that listens, is not waited for again. Files are waited for
 * longer: what is asked of a disk ends, though others may keep it busy.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

/** How often it is looked at, once a millisecond; and how often while there is something that a disk is to do. */
const patience = 2_000
const patienceWithDisks = 30_000

const isOfDisk = (kind: string): boolean => kind.startsWith("FSReq")

/** How many rest at the moment: their timers are nobody's work. */
let resting = 0

const counted = (): ReadonlyMap<string, number> => {
  const counts = new Map([["Timeout", -resting]])
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/**
 * What there is outside of a test's clock.
 *
 * @since 0.2.0
 */
export interface RealWorld {
  /** Waits until nothing real is under way, for two seconds, and half a minute for files; says whether anything was. */
  readonly settled: Effect.Effect<boolean>
  /** Whether something took longer than that, so that time went on without it. */
  readonly hasOverrun: () => boolean
  /** Whether anything real is under way, though it were waited for before. */
  readonly isBusy: Effect.Effect<boolean>
  /** Lets so many milliseconds pass, of which others do not see that something is under way. */
  readonly rest: (millis: number) => Effect.Effect<void>
}

const rest = (millis: number): Effect.Effect<void> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      resting += 1
    }),
    // A timer still counts while what it woke runs.
    () => Effect.andThen(TestClock.withLive(Effect.sleep(millis)), Effect.yieldNow),
    () =>
      Effect.sync(() => {
        resting -= 1
      })
  )

/**
 * Looks at what there is now, and tells later what has come since.
 *
 * @since 0.2.0
 */
export const make: Effect.Effect<RealWorld> = Effect.sync(() => {
  let usual = new Map([...counted()].filter(([kind]) => kind !== "Timeout"))
  let hasBegun = false
  let hasOverrun = false
  let endless: ReadonlyMap<string, number> = new Map()

  const news = (known: ReadonlyMap<string, number>) => {
    const now = counted()
    // What was there at first may only have been passing by.
    usual = new Map([...usual].map(([kind, count]) => [kind, Math.min(count, now.get(kind) ?? 0)]))
    return [...now].flatMap(([kind, count]) =>
      count > Math.max(usual.get(kind) ?? 0, known.get(kind) ?? 0) ? [kind] : []
    )
  }

  // The test's clock warns by a real timer of tests that let no time pass. This one does.
  const noWarning = Effect.suspend(() => hasBegun ? Effect.void : TestClock.adjust(0))

  const settled = Effect.gen(function*() {
    yield* noWarning
    hasBegun = true
    for (let looks = 0; looks < patienceWithDisks; looks++) {
      yield* Effect.yieldNow
      const now = news(endless)
      if (now.length === 0) return looks > 0
      if (looks >= patience && !now.some(isOfDisk)) break
      yield* TestClock.withLive(Effect.sleep(1))
    }
    endless = counted()
    hasOverrun = true
    return false
  })

  return { settled, hasOverrun: () => hasOverrun, isBusy: Effect.sync(() => news(new Map()).length > 0), rest }
})
