/**
 * Which workers are alive, as far as one of them can tell from watching the counts of all.
 *
 * @since 0.2.0
 */

interface Watched {
  readonly beat: number
  /** When this count was first seen, in milliseconds of the watcher's monotonic clock. */
  readonly since: number
}

/**
 * Which workers are alive.
 *
 * **Details**
 *
 * A worker is dead when its count has stood still for as long as a lease, while the watcher was looking. A watcher
 * that has not looked for half a lease (it was stopped, or the store was away) begins to watch anew: then nobody could
 * show that it is alive, and each gets a whole lease to do so.
 *
 * @since 0.2.0
 */
export class WorkerWatch {
  private watched = new Map<string, Watched>()
  private lookedAt = Number.NEGATIVE_INFINITY
  private readonly lease: number

  /** The lease is in milliseconds. */
  constructor(lease: number) {
    this.lease = lease
  }

  /** Takes note of the counts as they are at an instant of the monotonic clock. */
  readonly look = (beats: ReadonlyMap<string, number>, at: number): void => {
    const isAnew = at - this.lookedAt > this.lease / 2
    const next = new Map<string, Watched>()
    for (const [worker, beat] of beats) {
      const known = this.watched.get(worker)
      next.set(worker, known === undefined || isAnew || known.beat !== beat ? { beat, since: at } : known)
    }
    this.watched = next
    this.lookedAt = at
  }

  /** Whether a worker was on the list, and not dead, when last looked at. */
  readonly isAlive = (worker: string): boolean => {
    const known = this.watched.get(worker)
    return known !== undefined && this.lookedAt - known.since < this.lease
  }

  /** The count of a worker that is on the list, when last looked at. */
  readonly beatOf = (worker: string): number | undefined => this.watched.get(worker)?.beat

  /** The workers that are alive, in the order of their names. */
  get alive(): ReadonlyArray<string> {
    return [...this.watched.keys()].filter(this.isAlive).toSorted()
  }

  /** The workers that are on the list and dead. */
  get dead(): ReadonlyArray<string> {
    return [...this.watched.keys()].filter((worker) => !this.isAlive(worker))
  }
}
