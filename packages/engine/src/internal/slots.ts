/**
 * How many handlers may run at the same moment, and whose turn it is.
 *
 * A handler that waits for input gives its slot back and takes one again before it goes on: ahead of tasks that have
 * not begun, since it stands in the queue before whoever looks for new work.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/**
 * One handler's claim on a slot.
 *
 * @since 0.2.0
 */
export interface Seat {
  isTaken: boolean
  /** Whether the handler is to end, and need not wait for a slot any more. */
  isExcused: boolean
  /** Where it waits for a slot; made when it has to. */
  turn: Latch.Latch | undefined
  /** Hears that the slot is given back. */
  onFree?: (() => void) | undefined
}

/**
 * A fixed number of slots.
 *
 * @since 0.2.0
 */
export class Slots {
  private free: number
  private readonly waiting = new Set<Seat>()
  private readonly vacancy: Latch.Latch

  constructor(count: number) {
    this.free = count
    this.vacancy = Latch.makeUnsafe(count > 0)
    this.vacant = this.vacancy.await
  }

  /** Waits until there is a slot that nobody has been waiting for. */
  readonly vacant: Effect.Effect<void>

  /** Whether there is a slot that nobody has been waiting for. */
  get isVacant(): boolean {
    return this.free > 0
  }

  /** Takes a slot if there is one that nobody has been waiting for. */
  readonly tryTake = (): Seat | undefined => {
    if (this.free <= 0) return undefined
    this.count(-1)
    return { isTaken: true, isExcused: false, turn: undefined }
  }

  /** Takes a slot again, one however often it is called. Ends without one only when excused, or released meanwhile. */
  readonly retake = (seat: Seat): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (seat.isExcused || seat.isTaken) return Effect.void
      if (this.free > 0) {
        this.count(-1)
        seat.isTaken = true
        return Effect.void
      }
      const turn = this.waiting.has(seat) && seat.turn !== undefined ? seat.turn : Latch.makeUnsafe(false)
      seat.turn = turn
      this.waiting.add(seat)
      return turn.await
    })

  /** Gives the slot to whoever has waited longest. A seat that waits for one no longer does, and goes on without. */
  readonly release = (seat: Seat): void => {
    if (this.waiting.delete(seat)) seat.turn?.openUnsafe()
    if (!seat.isTaken) return
    seat.isTaken = false
    seat.onFree?.()
    for (const next of this.waiting) {
      this.waiting.delete(next)
      next.isTaken = true
      next.turn?.openUnsafe()
      return
    }
    this.count(1)
  }

  /** Lets a handler go on to its end without a slot; one that it has stays taken until it is released. */
  readonly excuse = (seat: Seat): void => {
    seat.isExcused = true
    this.waiting.delete(seat)
    seat.turn?.openUnsafe()
  }

  /** Gives the slot back for good: what a handler has left running when it ended never has one again. */
  readonly leave = (seat: Seat): void => {
    seat.isExcused = true
    this.release(seat)
  }

  private count(change: 1 | -1): void {
    this.free += change
    if (this.free > 0) this.vacancy.openUnsafe()
    else this.vacancy.closeUnsafe()
  }
}
