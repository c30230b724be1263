/**
 * The handlers of a plan: when they work, report, ask, wait for their turn and end. What becomes of their tasks is the
 * machine's business.
 *
 * With a limited number of workers a handler that waits for input gives its place to others, and takes one again before
 * it goes on, ahead of tasks that have not begun: as `engine` does it on replicas.
 *
 * @since 0.2.0
 */
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { Agenda } from "./Agenda.ts"
import type { Ledger } from "./Ledger.ts"
import type { Life } from "./Life.ts"

type Unnumbered<Command> = Command extends { readonly attempt: number } ? Omit<Command, "at" | "attempt"> : never

/**
 * A command of a handler, before it is dated and numbered.
 *
 * @since 0.2.0
 */
export type WorkCommand = Unnumbered<TaskCommand>

/**
 * What a handler works with.
 *
 * @since 0.2.0
 */
export interface Workplace {
  readonly agenda: Agenda
  readonly ledger: Ledger
  readonly slots: Slots
  readonly reportEveryMs: number | undefined
}

/**
 * What a handler says of itself: commands for its task, and that it has ended.
 *
 * @since 0.2.0
 */
export interface WorkEvents {
  readonly give: (command: WorkCommand) => void
  readonly onEnd: () => void
}

/**
 * The key of the one question that a planned handler asks.
 *
 * @since 0.2.0
 */
export const questionKey = "question"

/**
 * What a planned handler asks.
 *
 * @since 0.2.0
 */
export const question = {
  method: "elicitation/create",
  params: { mode: "form", message: "Go on?", requestedSchema: { type: "object", properties: {} } }
} as const

/**
 * What a planned task ends with.
 *
 * @since 0.2.0
 */
export const result = `{"content":[]}`

type State = "waiting for its turn" | "working" | "parked" | "ended"

/**
 * One handler from its start to its end.
 *
 * @since 0.2.0
 */
export class Work {
  state: State = "working"
  /** Milliseconds of its work that are done. */
  private done = 0
  private hasAsked = false
  private reports = 0
  private turn = 0
  private readonly place: Workplace
  private readonly life: Life
  private readonly events: WorkEvents

  constructor(place: Workplace, life: Life, events: WorkEvents) {
    this.place = place
    this.life = life
    this.events = events
  }

  /** Begins with a slot. */
  begin(): void {
    this.place.ledger.change(this.place.agenda.now, "working", 1)
    this.goOn()
  }

  /** The answer is there: the work goes on, once there is a slot for it. */
  answered(): void {
    if (this.state !== "parked") return
    if (this.place.slots.tryTake()) return this.resume()
    this.state = "waiting for its turn"
    this.place.ledger.change(this.place.agenda.now, "queued", 1)
    this.place.slots.waitAhead(this)
  }

  /** Takes the slot that it has waited for. */
  takeTurn(): void {
    this.place.ledger.change(this.place.agenda.now, "queued", -1)
    this.resume()
  }

  /** Interrupts the handler. `says` is its last word, where it may still have one. */
  stop(says?: WorkCommand): void {
    const { agenda, ledger, slots } = this.place
    const before = this.state
    if (before === "ended") return
    this.state = "ended"
    if (says !== undefined) this.events.give(says)
    this.events.onEnd()
    if (before === "working") {
      ledger.change(agenda.now, "working", -1)
      slots.release()
    } else if (before === "waiting for its turn") {
      ledger.change(agenda.now, "queued", -1)
      slots.leave(this)
    }
  }

  private resume(): void {
    this.state = "working"
    this.place.ledger.change(this.place.agenda.now, "working", 1)
    this.goOn()
  }

  /** Works until there is something to say. */
  private goOn(): void {
    const { agenda, reportEveryMs } = this.place
    const { asks, workMs } = this.life
    const askAt = asks === undefined || this.hasAsked ? workMs : asks.afterMs
    const reportAt = reportEveryMs === undefined ? Number.POSITIVE_INFINITY : (this.reports + 1) * reportEveryMs
    const next = Math.min(askAt, reportAt)
    const turn = ++this.turn
    agenda.after(next - this.done, () => {
      if (turn !== this.turn || this.state !== "working") return
      this.done = next
      if (next === reportAt && reportAt < askAt) this.report()
      else if (asks !== undefined && !this.hasAsked) this.ask()
      else this.end()
    })
  }

  private report(): void {
    this.reports++
    this.events.give({ _tag: "Report", message: `report ${this.reports}` })
    if (this.state === "working") this.goOn()
  }

  private ask(): void {
    const { agenda, ledger, slots } = this.place
    this.hasAsked = true
    this.state = "parked"
    ledger.change(agenda.now, "working", -1)
    this.events.give({ _tag: "Ask", key: questionKey, request: question })
    slots.release()
  }

  private end(): void {
    this.stop(
      this.life.fails
        ? { _tag: "Fail", error: { code: -32603, message: "It did not work" } }
        : { _tag: "Complete", result, isError: false }
    )
  }
}

/**
 * How many handlers may work at the same moment, and whose turn it is.
 *
 * @since 0.2.0
 */
export class Slots {
  private free: number
  private readonly ahead = new Set<Work>()
  private readonly queue = new Set<() => boolean>()

  constructor(count: number) {
    this.free = count
  }

  tryTake(): boolean {
    if (this.free <= 0) return false
    this.free--
    return true
  }

  /** Waits for a slot ahead of whatever has not begun. */
  waitAhead(work: Work): void {
    this.ahead.add(work)
  }

  /** Waits for a slot no more. */
  leave(work: Work): void {
    this.ahead.delete(work)
  }

  /** Begins something when there is a slot; it says whether it has taken the slot. */
  enqueue(begin: () => boolean): void {
    this.queue.add(begin)
    this.fill()
  }

  /** Gives a slot to whoever has waited longest. */
  release(): void {
    this.free++
    this.fill()
  }

  private fill(): void {
    while (this.free > 0) {
      const [next] = this.ahead
      if (next !== undefined) {
        this.ahead.delete(next)
        this.free--
        next.takeTurn()
        continue
      }
      const [begin] = this.queue
      if (begin === undefined) return
      this.queue.delete(begin)
      this.free--
      if (!begin()) this.free++
    }
  }
}
