/**
 * Faults that wait for the calls they are meant for, and what they do to them.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type Fault, none } from "../Fault.ts"
import { IsAside } from "./aside.ts"
import * as silence from "./silence.ts"

/** What a call does when it is to fail. */
type Failing<E> = (why: string) => Effect.Effect<never, E>

/** What faults need of the process that suffers them. */
interface Victim {
  /** Which call suffers, for whoever waits for it. */
  readonly call: string
  /** Waits until another call has been done. */
  readonly hold: Effect.Effect<void>
  /** Dies. */
  readonly crash: Effect.Effect<never>
  /** Is not heard of again. */
  readonly drop: Effect.Effect<never>
}

/** What a call takes its fault from, and what it suffers when there is none. The first key is the call's own name. */
interface Suffering<Key> {
  /** Names of queues; the first that is not empty counts. */
  readonly keys: ReadonlyArray<Key>
  readonly otherwise?: Fault | undefined
}

const hasDied = "the process has crashed; TestTasks starts another one by restart(\"crash\")"

const delayed = (call: string, by: Duration.Input): string =>
  `its ${call} is delayed by ${Duration.format(Duration.fromInputUnsafe(by))}, by a fault of this test`

const reordered = (call: string): string =>
  `its ${call} waits until another call has been done, by a fault of this test`

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
      return Effect.andThen(silence.hold(delayed(victim.call, fault.by), Effect.sleep(fault.by)), effect)
    case "Duplicate":
      return Effect.andThen(Effect.exit(effect), effect)
    case "Reorder":
      return Effect.andThen(silence.hold(reordered(victim.call), victim.hold), effect)
    case "Drop":
      return victim.drop
    case "Crash":
      return fault.when === "before" ? victim.crash : Effect.andThen(Effect.exit(effect), victim.crash)
  }
}

/**
 * Makes an empty script.
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

  const hold = Effect.suspend(() => {
    const next = Deferred.makeUnsafe<void>()
    held.push(next)
    return Deferred.await(next)
  })

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
      { keys, otherwise = none }: Suffering<Key>,
      effect: Effect.Effect<A, E>,
      fail: Failing<E2>
    ): Effect.Effect<A, E | E2> =>
      Effect.flatMap(IsAside, (isAside) => {
        if (hasCrashed) return silence.keep(hasDied)
        if (isAside) return effect
        const fault = take(keys) ?? otherwise
        const crash = Effect.suspend(() => {
          hasCrashed = true
          return silence.keep(hasDied)
        })
        const call = String(keys[0])
        const victim = { call, hold, crash, drop: silence.keep(`its ${call} was dropped, by a fault of this test`) }
        const suffered = inflict(fault, victim, effect, fail)
        return fault._tag === "Reorder" ? suffered : Effect.ensuring(suffered, release)
      })
  }
}
