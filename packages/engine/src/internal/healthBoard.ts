/**
 * Where background loops report, and what follows from their reports.
 *
 * @since 0.2.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { LoopState, Readiness } from "../Health.ts"

/**
 * What a loop reports to.
 *
 * @since 0.2.0
 */
export interface LoopReport {
  /** A round begins. */
  readonly begin: Effect.Effect<void>
  /** The round waits for something to do, and cannot be late. Whether that works remains to be seen. */
  readonly wait: Effect.Effect<void>
  /** A round has ended well. */
  readonly rest: Effect.Effect<void>
  /** A round has failed. */
  readonly fail: Effect.Effect<void>
  /** The loop is no more, as was intended. */
  readonly leave: Effect.Effect<void>
  /** How it is doing. */
  readonly state: Effect.Effect<LoopState>
}

/**
 * Where background loops report.
 *
 * @since 0.2.0
 */
export interface HealthBoard {
  /** Adds a loop whose rounds may take so many milliseconds. */
  readonly join: (name: string, limit: number) => LoopReport
  /** Says that the process goes away. */
  readonly stop: Effect.Effect<void>
  readonly readiness: Effect.Effect<Readiness>
}

interface Entry {
  readonly name: string
  readonly limit: number
  /** When the current round began, in milliseconds of the monotonic clock; none while the loop rests. */
  begun: number | undefined
  /** Since when it has been waiting for something to do. */
  waiting: number | undefined
  /** Whether a round has failed, and none has ended well since. */
  isFailing: boolean
}

const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** In milliseconds. The longest pause between two tries of a loop is as long. */
const peaceMs = 5_000

/** Who waits for so long does so in peace: what brings nothing, but does not fail, works. */
const isAtPeace = ({ waiting }: Entry, at: number): boolean => waiting !== undefined && at - waiting > peaceMs

const stateOf = (entry: Entry, at: number): LoopState => {
  const { begun, isFailing, limit } = entry
  if (begun !== undefined && at - begun > limit) return "stuck"
  return isFailing && !isAtPeace(entry, at) ? "failing" : "turning"
}

/**
 * Makes an empty board.
 *
 * @since 0.2.0
 */
export const make = Effect.sync((): HealthBoard => {
  const entries = new Set<Entry>()
  let isStopping = false

  return {
    join: (name, limit) => {
      const entry: Entry = { name, limit, begun: undefined, waiting: undefined, isFailing: false }
      const become = (begun: number | undefined, waiting: number | undefined, isFailing: boolean) => {
        entry.begun = begun
        entry.waiting = waiting
        entry.isFailing = isFailing
      }
      entries.add(entry)
      return {
        begin: Effect.map(now, (at) => become(at, undefined, entry.isFailing && !isAtPeace(entry, at))),
        wait: Effect.map(now, (at) => become(undefined, at, entry.isFailing)),
        rest: Effect.sync(() => become(undefined, undefined, false)),
        fail: Effect.sync(() => become(undefined, undefined, true)),
        leave: Effect.sync(() => {
          entries.delete(entry)
        }),
        state: Effect.map(now, (at) => stateOf(entry, at))
      }
    },
    stop: Effect.sync(() => {
      isStopping = true
    }),
    readiness: Effect.map(now, (at) => {
      const loops = Object.fromEntries([...entries].map((entry) => [entry.name, stateOf(entry, at)]))
      const isTurning = entries.size > 0 && Object.values(loops).every((state) => state === "turning")
      return { isReady: isTurning && !isStopping, isStopping, loops }
    })
  }
})
