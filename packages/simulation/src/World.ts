/**
 * Virtual time, and everything that happens in it, one thing after the other.
 *
 * A world runs in one call: it lets processes go on for as long as one of them can, then takes the next moment from its
 * calendar. Which process goes on is drawn by lot; nothing else decides, so that the same lots give the same history.
 *
 * @since 0.1.0
 */
import TinyQueue from "tinyqueue"
import type { Dice } from "./Dice.ts"
import type { Process } from "./Process.ts"

/**
 * Something that will happen.
 *
 * @since 0.1.0
 */
interface Moment {
  readonly at: number
  /** Which of two moments at the same instant comes first. */
  readonly lot: number
  readonly happen: () => void
}

/**
 * Virtual time.
 *
 * @since 0.1.0
 */
export class World {
  /** Milliseconds since the world began; the clocks of its processes go differently. */
  now = 0
  /** How many things have happened: turns of processes and moments. */
  steps = 0
  /** Since when nothing goes wrong any more. */
  calmSinceMs: number | undefined
  /** Whether there is a reason not to go on. */
  isStopped = false
  /** What happened, in words, for people and for the fingerprint of the history. */
  readonly history: Array<string> = []
  /** Whether what is said is written down too: for telling a story. */
  readonly isTold: boolean
  private readonly calendar = new TinyQueue<Moment>([], (self, that) => self.at - that.at || self.lot - that.lot)
  private readonly ready: Array<Process> = []
  private readonly dice: Dice

  constructor(dice: Dice, isTold = false) {
    this.dice = dice
    this.isTold = isTold
  }

  /** Writes down what somebody says or hears, where the story is told. */
  tell(who: string, what: () => string): void {
    if (this.isTold) this.note(who, what())
  }

  /** Writes down what happened. */
  note(who: string, what: string): void {
    this.history.push(`${String(this.now).padStart(7)}  ${who.padEnd(9)} ${what}`)
  }

  /** Lets something happen after so many milliseconds. */
  after(ms: number, happen: () => void): void {
    this.calendar.push({ at: this.now + Math.max(0, ms), lot: this.dice.bits(), happen })
  }

  /** Takes note that a process can go on. */
  wake(process: Process): void {
    this.ready.push(process)
  }

  /** Goes on until nothing more can happen, or a limit is reached; says whether nothing more can happen. */
  run(limits: { readonly untilMs: number; readonly maxSteps: number }): boolean {
    while (this.steps < limits.maxSteps && !this.isStopped) {
      if (this.ready.length > 0) {
        const index = this.ready.length === 1 ? 0 : this.dice.between(0, this.ready.length - 1)
        const process = this.ready[index] as Process
        this.steps++
        if (!process.turn()) {
          this.ready[index] = this.ready.at(-1) as Process
          this.ready.pop()
        }
        continue
      }
      const next = this.calendar.peek()
      if (next === undefined) return true
      if (next.at > limits.untilMs) return false
      this.calendar.pop()
      this.now = next.at
      this.steps++
      next.happen()
    }
    return false
  }
}
