/**
 * A deadline for each of many waits, kept by one fiber.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

interface Deadline {
  /** Milliseconds on the monotonic clock. */
  readonly at: number
  readonly expire: () => void
}

/**
 * Makes the function that begins a wait: `expire` is called if it has not been ended after so long. What it returns
 * ends it.
 *
 * **Details**
 *
 * All waits are equally long, so the first that began is the first to expire, and a set in the order of beginnings is
 * all there is to search. The fiber sleeps until then; beginnings and ends do not wake it, unless there was none to
 * wait for. A step of the wall clock moves no deadline.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  after: Duration.Duration
): Effect.fn.Return<(expire: () => void) => () => void, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000
  const millis = Duration.toMillis(after)
  const waits = new Set<Deadline>()
  const isWaiting = Latch.makeUnsafe()

  const watch = Effect.suspend(() => {
    const [first] = waits
    if (first === undefined) {
      isWaiting.closeUnsafe()
      return isWaiting.await
    }
    const left = first.at - now()
    if (left > 0) return Effect.sleep(left)
    waits.delete(first)
    return Effect.sync(first.expire)
  })
  yield* Effect.forkScoped(Effect.forever(watch))

  return (expire) => {
    const deadline = { at: now() + millis, expire }
    waits.add(deadline)
    isWaiting.openUnsafe()
    return () => {
      waits.delete(deadline)
    }
  }
})
