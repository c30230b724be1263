/**
 * How a test waits for the reply to a request: every one ends, with the reply or in words.
 *
 * @since 0.2.0
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { RealWorld } from "./realWorld.ts"
import * as silence from "./silence.ts"

/**
 * How time passes for whoever waits.
 *
 * @since 0.2.0
 */
export interface Time extends RealWorld {
  /** Lets the clock go on to the next moment at which something wakes. */
  readonly goOn: Effect.Effect<void>
  /** Whether a handler of the test is at work, and goes on as time does. */
  readonly isAtWork: () => boolean
}

/** For how many turns of the clock a reply may be late: at one turn a minute, which is the sweeper's, for 16 hours. */
const patience = 1_000

/** For how many turns of the clock handlers may be at work meanwhile: at one each 5 seconds for more than five days. */
const forbearance = 100_000

/** How much longer a reply is waited for that a fault holds up, or something real, a millisecond of it each turn. */
const indulgence = 4

/** For how long, in milliseconds, a request may wait for a clock that nobody lets go on. */
const stillness = 2_000

/** How often that is looked at, in milliseconds. */
const look = 20

/** How many times other fibers have their turn before a request counts as waiting, and then before each turn. */
const first = 50
const further = 5

const isPending = <A, E>({ reply }: silence.Asking<A, E>): boolean => !Deferred.isDoneUnsafe(reply)

/** Lets the fibers go on that can. */
const settle = <A, E>(asking: silence.Asking<A, E>, yields = first) =>
  Effect.gen(function*() {
    for (let turn = 0; turn < yields && isPending(asking); turn++) yield* Effect.yieldNow
  })

/** Ends a request that nobody waits for any more; one that cannot be interrupted is left alone. */
const abandon = <A, E>(asking: silence.Asking<A, E>, { settled }: Time) =>
  Effect.gen(function*() {
    yield* Effect.forkDetach(Fiber.interrupt(asking.fiber), { startImmediately: true })
    for (let turn = 0; turn < first && asking.fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
    if (asking.fiber.pollUnsafe() === undefined) yield* settled
  })

const noReply = <A, E>(method: string, asking: silence.Asking<A, E>, why: string) => {
  const held = [...asking.holds].map((hold) => `${hold}; `).join("")
  return Effect.die(new silence.NoReply({ method, why: `${held}${why}` }))
}

interface Request<A, E, R> {
  readonly method: string
  readonly request: Effect.Effect<A, E, R>
  readonly time: Time
}

const awaiting = Effect.fnUntraced(function*<A, E, R>(
  { method, request, time }: Request<A, E, R>,
  wait: (asking: silence.Asking<A, E>) => Effect.Effect<void>
) {
  const asking = yield* silence.ask(method, request)
  return yield* Effect.onExit(
    Effect.andThen(wait(asking), Deferred.await(asking.reply)),
    () => asking.fiber.pollUnsafe() === undefined ? abandon(asking, time) : Effect.void
  )
})

/**
 * Sends a request and waits for its reply; lets time pass where that takes some. Dies with `NoReply` where it will not
 * come, or has not come after a thousand turns of the clock in which no handler was at work.
 *
 * @since 0.2.0
 */
export const whileTimePasses = <A, E, R>(
  method: string,
  request: Effect.Effect<A, E, R>,
  time: Time
): Effect.Effect<A, E, R> =>
  awaiting({ method, request, time }, (asking) =>
    Effect.gen(function*() {
      let left = patience * indulgence
      let worked = 0
      const begun = yield* Clock.currentTimeMillis
      for (let turn = 0; isPending(asking); turn++) {
        if (left <= 0 || worked >= forbearance) {
          const took = Duration.format(Duration.millis((yield* Clock.currentTimeMillis) - begun))
          const why = `it has not come in ${turn} turns of the clock, which are ${took}`
          return yield* noReply(method, asking, worked >= forbearance ? `${why}${slow}` : why)
        }
        yield* settle(asking, turn === 0 ? first : further)
        if (isPending(asking)) yield* time.settled
        if (!isPending(asking)) return
        const isBusy = yield* time.isBusy
        if (isBusy) yield* time.rest(1)
        const isAtWork = time.isAtWork()
        if (isAtWork) worked += 1
        else left -= isBusy || asking.holds.size > 0 ? 1 : indulgence
        yield* time.goOn
      }
    }))

const slow = "; a tool was at work all the time: it is slow, or it never ends"

/**
 * Sends a request and waits for its reply, and leaves it to the test to let time pass. Dies with `NoReply` where it
 * will not come, or waits for time while nobody lets it pass.
 *
 * @since 0.2.0
 */
export const whileTimeStands = <A, E, R>(
  method: string,
  request: Effect.Effect<A, E, R>,
  time: Time
): Effect.Effect<A, E, R> =>
  awaiting({ method, request, time }, (asking) =>
    Effect.gen(function*() {
      yield* settle(asking)
      let seenAt = yield* Clock.currentTimeMillis
      for (let still = 0; isPending(asking); still += look) {
        if (still >= stillness) return yield* noReply(method, asking, standsStill)
        yield* Effect.raceFirst(Effect.exit(Deferred.await(asking.reply)), time.rest(look))
        const now = yield* Clock.currentTimeMillis
        if (now !== seenAt || (yield* time.isBusy)) still = 0
        seenAt = now
      }
    }))

const standsStill = "it waits for time to pass, and lets none pass itself: fork it, and adjust the clock"
