/**
 * Virtual time of a plan: what happens when. What is put down for one instant happens in the order it was put down.
 *
 * @since 0.2.0
 */

interface Entry {
  readonly at: number
  readonly order: number
  readonly happen: () => void
}

const isBefore = (self: Entry, that: Entry): boolean =>
  self.at < that.at || (self.at === that.at && self.order < that.order)

/**
 * Virtual time of a plan.
 *
 * @since 0.2.0
 */
export class Agenda {
  /** Milliseconds since the plan began. */
  now = 0
  private order = 0
  private readonly heap: Array<Entry> = []

  /** Lets something happen at an instant; at once, after all that happens now, where that has passed. */
  at(instant: number, happen: () => void): void {
    const entry = { at: Math.max(instant, this.now), order: this.order++, happen }
    const { heap } = this
    let index = heap.push(entry) - 1
    while (index > 0) {
      const above = (index - 1) >> 1
      if (!isBefore(entry, heap[above] as Entry)) break
      heap[index] = heap[above] as Entry
      index = above
    }
    heap[index] = entry
  }

  /** Lets something happen after so many milliseconds. */
  after(ms: number, happen: () => void): void {
    this.at(this.now + ms, happen)
  }

  /** Goes on until nothing is left to happen, or to an instant, what happens at it included. */
  run(until = Number.POSITIVE_INFINITY): void {
    let next = this.heap[0]
    while (next !== undefined && next.at <= until) {
      this.takeFirst()
      this.now = next.at
      next.happen()
      next = this.heap[0]
    }
    if (Number.isFinite(until)) this.now = Math.max(this.now, until)
  }

  private takeFirst(): void {
    const { heap } = this
    const last = heap.pop() as Entry
    if (heap.length === 0) return
    let index = 0
    while (true) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child++
      if (!isBefore(heap[child] as Entry, last)) break
      heap[index] = heap[child] as Entry
      index = child
    }
    heap[index] = last
  }
}
