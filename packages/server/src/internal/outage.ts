/**
 * Something that requests need, and that is away: the log hears of it once, and once more when it is back, not with
 * every request.
 *
 * @since 0.2.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * What is told of the outages of one thing.
 *
 * @since 0.2.0
 */
export interface Outage {
  /** Says that what was to be done failed. An error in the log where that is news, and a message for debugging else. */
  readonly failed: (use: string, error: unknown) => Effect.Effect<void>
  /** Says that it has been done. The outage ends when all has been done again that failed in it. */
  readonly worked: (use: string) => Effect.Effect<void>
}

/** The words for the beginning of an outage, for each failure after the first, and for the end. */
interface Words {
  readonly broken: string
  readonly again: string
  readonly mended: string
}

/** What fails after so many milliseconds without a failure is a new outage, though nobody has seen the old one end. */
const memory = 60_000

/**
 * Makes what tells of one thing's outages. There are as many uses as it has kinds, not as many as requests.
 *
 * @since 0.2.0
 */
export const make = ({ again, broken, mended }: Words): Outage => {
  const failing = new Set<string>()
  let failures = 0
  let failedAt = 0

  return {
    failed: (use, error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const isNews = failing.size === 0 || Math.abs(now - failedAt) > memory
        if (isNews) failing.clear()
        failing.add(use)
        failedAt = now
        failures = isNews ? 1 : failures + 1
        return isNews ? Effect.logError(broken, error) : Effect.logDebug(again, error)
      }),
    worked: (use) =>
      Effect.suspend(() => {
        const isOver = failing.delete(use) && failing.size === 0
        return isOver ? Effect.annotateLogs(Effect.logInfo(mended), { failures }) : Effect.void
      })
  }
}
