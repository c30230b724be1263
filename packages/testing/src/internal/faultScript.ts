/**
 * Faults that wait for the calls they are meant for, and what they do to them.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type Fault, none } from "../Fault.ts"

/** What a call does when it is to fail. */
type Failing<E> = (why: string) => Effect.Effect<never, E>

/** What faults need of the process that suffers them. */
interface Victim {
  /** Waits until another call has been done. */
  readonly hold: Effect.Effect<void>
  /** Dies. */
  readonly crash: Effect.Effect<never>
}

const inflict = <A, E, E2>(
  fault: Fault,
  victim: Victim,
  effect: Effect.Effect<A, E>,
  fail: Failing<E2>
): Effect.Effect<A, E | E2> => {
  switch (fault._tag) {
    case "None":
      return effect
    case "Fail":
      return fail("A fault of this test")
    case "LoseReply":
      return Effect.andThen(Effect.exit(effect), fail("The reply is lost"))
    case "Delay":
      return Effect.delay(effect, fault.by)
    case "Duplicate":
      return Effect.andThen(Effect.exit(effect), effect)
    case "Reorder":
      return Effect.andThen(victim.hold, effect)
    case "Drop":
      return Effect.never
    case "Crash":
      return fault.when === "before" ? victim.crash : Effect.andThen(Effect.exit(effect), victim.crash)
  }
}

/**
 * Makes an empty script. A call names the queues that it takes its fault from, the first that is not empty.
 *
 * @since 0.1.0
 */
export const make = <Key extends string, F extends Fault>() => {
  const queues = new Map<Key, Array<F>>()
  const held: Array<Deferred.Deferred<void>> = []
  let hasCrashed = false

  const take = (keys: ReadonlyArray<Key>): F | undefined =>
    keys.map((key) => queues.get(key)).find((queue) => queue !== undefined && queue.length > 0)?.shift()

  const release = Effect.sync(() => {
    for (const deferred of held.splice(0)) Deferred.doneUnsafe(deferred, Effect.void)
  })

  const victim: Victim = {
    hold: Effect.suspend(() => {
      const next = Deferred.makeUnsafe<void>()
      held.push(next)
      return Deferred.await(next)
    }),
    crash: Effect.suspend(() => {
      hasCrashed = true
      return Effect.never
    })
  }

  return {
    next: (key: Key, ...faults: ReadonlyArray<F>): Effect.Effect<void> =>
      Effect.sync(() => {
        queues.set(key, [...queues.get(key) ?? [], ...faults])
      }),
    restart: Effect.sync(() => {
      queues.clear()
      hasCrashed = false
    }),
    hasCrashed: Effect.sync(() => hasCrashed),
    /** Does what is scripted for the first of the keys that has something, and otherwise what is given here. */
    suffer: <A, E, E2>(
      { keys, otherwise = none }: { readonly keys: ReadonlyArray<Key>; readonly otherwise?: Fault | undefined },
      effect: Effect.Effect<A, E>,
      fail: Failing<E2>
    ): Effect.Effect<A, E | E2> =>
      Effect.suspend(() => {
        if (hasCrashed) return Effect.never
        const fault = take(keys) ?? otherwise
        const suffered = inflict(fault, victim, effect, fail)
        return fault._tag === "Reorder" ? suffered : Effect.ensuring(suffered, release)
      })
  }
}
