/**
 * Writes that are asked for at the same moment share one transaction.
 *
 * SQLite commits one transaction at a time, and a commit costs far more than the statement within it: locks, log
 * frames, and with `synchronous = FULL` a flush to disk. Under load, requests therefore wait for the end of the
 * current turn of the event loop and are committed together. Each still succeeds or fails by itself, and none hears of
 * it before the commit.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as SqlClient from "effect/sql/SqlClient"
import type * as SqlError from "effect/sql/SqlError"

interface Job {
  /** Runs the write; the effect that it ends with tells its caller, once that is safe. */
  readonly run: Effect.Effect<() => void>
  readonly fail: (cause: Cause.Cause<SqlError.SqlError>) => void
}

/**
 * Commits a write together with others. `alone` is what takes its place in a transaction of its caller.
 *
 * @since 0.1.0
 */
export type Together = <A, E>(
  write: Effect.Effect<A, E>,
  alone?: Effect.Effect<A, E>
) => Effect.Effect<A, E | SqlError.SqlError>

/** How many writes share a transaction at the most, so that nobody waits for a crowd. */
const maxBatch = 64

/**
 * Makes the function that commits a write together with others.
 *
 * **Details**
 *
 * A write within a transaction of its caller belongs to that transaction and is left alone. Only SQLite gains from
 * this, and only there does a refused statement leave its transaction whole: on other databases every write is
 * committed by itself. Once the scope is closed, so is every write here: whatever comes so late fails by itself.
 *
 * `onLost` is called when writes that have been run are not committed.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, onLost: () => void) {
  const scope = yield* Effect.scope
  const isShared = sql.onDialectOrElse({ sqlite: () => true, orElse: () => false })
  let waiting: Array<Job> = []
  let isOpen = true
  yield* Effect.addFinalizer(() => Effect.sync(() => {
    isOpen = false
  }))

  const commit = (jobs: ReadonlyArray<Job>) =>
    Effect.matchCause(sql.withTransaction(Effect.forEach(jobs, ({ run }) => run)), {
      onSuccess: (told) => {
        for (const tell of told) tell()
      },
      onFailure: (cause) => {
        onLost()
        for (const { fail } of jobs) fail(cause)
      }
    })

  const flush = Effect.gen(function*() {
    yield* Effect.yieldNow
    const jobs = waiting
    waiting = []
    for (let start = 0; start < jobs.length; start += maxBatch) yield* commit(jobs.slice(start, start + maxBatch))
  })

  const join = <A, E>(write: Effect.Effect<A, E>) => {
    const ended = Deferred.makeUnsafe<A, E | SqlError.SqlError>()
    // Whoever comes first also sees to the commit, whatever becomes of that caller.
    return Effect.uninterruptibleMask((restore) => {
      waiting.push({
        run: Effect.map(Effect.exit(write), (exit) => () => Deferred.doneUnsafe(ended, exit)),
        fail: (cause) => Deferred.doneUnsafe(ended, Effect.failCause(cause))
      })
      const told = restore(Deferred.await(ended))
      return waiting.length > 1 ? told : Effect.andThen(Effect.forkIn(Effect.uninterruptible(flush), scope), told)
    })
  }

  const together: Together = <A, E>(write: Effect.Effect<A, E>, alone = write) =>
    Effect.contextWith((context: Context.Context<never>): Effect.Effect<A, E | SqlError.SqlError> => {
      if (!isShared || Option.isSome(Context.getOption(context, sql.transactionService))) return alone
      return isOpen ? join(write) : sql.withTransaction(alone)
    })
  return together
})
