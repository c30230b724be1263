/**
 * Shares one connection: a transaction, a stream or a reservation has it alone, a single statement needs no lease.
 *
 * A statement runs in one synchronous step, so nothing can come between; it only has to find the connection free in
 * that very step. That spares each statement the semaphore, its mask and its finalizer.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Borrower, Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as RawConnection from "./connection.ts"

/** What `SqlClient.make` needs to know about leasing. */
export interface Lease {
  readonly acquirer: Effect.Effect<Connection, SqlError, Scope.Scope>
  readonly transactionAcquirer: Effect.Effect<Connection, SqlError, Scope.Scope>
  readonly borrower: Borrower
  /** Takes a step in the fiber that asks for it: at once where the connection is free. */
  readonly take: <A>(step: RawConnection.Step<A>, fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<A, SqlError>
  readonly onCommitFailure: (connection: Connection) => Effect.Effect<void, SqlError>
  readonly isTransaction: (connection: Connection) => boolean
}

/** Makes the leases of one connection. */
export const make = (opened: RawConnection.Opened): Lease => {
  const { db } = opened
  const connection = RawConnection.make(opened, Effect.withFiber)
  // Asking a closed connection throws; the statement that follows reports it as an error.
  const isTransaction = (): boolean => db.isOpen && db.isTransaction
  const acquirers = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore: Semaphore.makeUnsafe(1),
    isTransaction
  })
  let leased = 0

  // A transaction no lease accounts for was begun by hand or left by a failed rollback: the semaphore and its
  // clean-up decide then.
  const isFree = (): boolean => leased === 0 && !isTransaction()

  const leasing = Effect.flatMap(acquirers.acquirer, (held) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        leased++
        return held
      }),
      () => Effect.sync(() => {
        leased--
      })
    ))

  // The fiber may yield between the choice in `borrower` and the statement, so the step itself looks again.
  const take: Lease["take"] = (step, fiber) =>
    isFree() ? step(fiber) : acquirers.borrower(() => Effect.withFiber(step))
  const unleased = RawConnection.make(opened, (step) => Effect.withFiber((fiber) => take(step, fiber)))

  return {
    acquirer: leasing,
    transactionAcquirer: leasing,
    take,
    borrower: (use) => isFree() ? use(unleased) : acquirers.borrower(use),
    onCommitFailure: acquirers.onCommitFailure,
    isTransaction
  }
}
