/**
 * Virtual time of a plan: what happens when. What is put down for one instant happens in the order it was put down.
 *
 * @since 0.2.0
 */
import TinyQueue from "tinyqueue"

interface Entry {
  readonly at: number
  readonly order: number
  readonly happen: () => void
}

/**
 * Virtual time of a plan.
 *
 * @since 0.2.0
 */
export class Agenda {
  /** Milliseconds since the plan began. */
  now = 0
  private order = 0
  private readonly entries = new TinyQueue<Entry>([], (self, that) => self.at - that.at || self.order - that.order)

  /** Lets something happen at an instant; at once, after all that happens now, where that has passed. */
  at(instant: number, happen: () => void): void {
    this.entries.push({ at: Math.max(instant, this.now), order: this.order++, happen })
  }

  /** Lets something happen after so many milliseconds. */
  after(ms: number, happen: () => void): void {
    this.at(this.now + ms, happen)
  }

  /** Goes on until nothing is left to happen, or to an instant, what happens at it included. */
  run(until = Number.POSITIVE_INFINITY): void {
    let next = this.entries.peek()
    while (next !== undefined && next.at <= until) {
      this.entries.pop()
      this.now = next.at
      next.happen()
      next = this.entries.peek()
    }
    if (Number.isFinite(until)) this.now = Math.max(this.now, until)
  }
}
