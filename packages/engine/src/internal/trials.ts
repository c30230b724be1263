/**
 * Tasks that may be what kills their processes, on trial: one at a time in each process, so that whoever dies with such
 * a task was not suspected before. What has been lost twice in a row is a suspect.
 *
 * This is about when a task is started, never about what becomes of it: how many losses end it says its policy, and a
 * start that ends a task is not put off.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { Named } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type { Seat } from "./slots.ts"

/** So many losses in a row make a suspect: one is what every neighbour of a poison has at its first death. */
const suspicious = 2

/** How long a trial lasts whose handler neither ends nor waits for input: all that is suspected must get its turn. */
const longestMs = 60_000

/** Whether a `Start` runs a handler that may be what killed the processes that ran it before. */
const isSuspect = (task: Task.LiveTask, command: Named<"Start">): boolean => {
  const next = Result.getOrElse(TaskMachine.step(task, command), () => task)
  return !Task.isTerminal(next) && next.lostAttempts >= suspicious
}

const monotonic = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/**
 * The trials of one process, and the line of those that wait for theirs.
 *
 * **Details**
 *
 * A trial ends with the first that happens: the handler ends or waits for input, which gives its seat back, or a minute
 * is over. Whoever waits in the line has not been started, holds no slot, and is nobody's: other workers find it as
 * they find any task that nobody has, and nothing is lost with the line.
 *
 * @since 0.2.0
 */
export class Trials {
  private readonly line = new Set<string>()
  private trial: { readonly seat: Seat; readonly until: number } | undefined
  private readonly changed = Latch.makeUnsafe()

  /** Whether a task may be started in a seat now. If not, it stands in the line. */
  readonly admit = (task: Task.LiveTask, command: Named<"Start">, seat: Seat): Effect.Effect<boolean> =>
    Effect.map(monotonic, (now) => {
      if (!isSuspect(task, command) || this.trial?.seat === seat) return true
      if (this.remaining(now) > 0) {
        this.enqueue(task.taskId)
        return false
      }
      this.trial = { seat, until: now + longestMs }
      seat.onFree = () => this.end(seat)
      return true
    })

  /** Has a task wait for its trial if it is a suspect. */
  readonly expect = (task: Task.LiveTask, command: Named<"Start">): void => {
    if (isSuspect(task, command)) this.enqueue(task.taskId)
  }

  /** Takes a task out of the line: it is being looked at. */
  readonly leave = (taskId: string): void => {
    this.line.delete(taskId)
  }

  /** Waits until nobody is on trial; gives the one that has waited longest, which stays in the line until it leaves. */
  readonly turn: Effect.Effect<string> = Effect.gen({ self: this }, function*() {
    while (true) {
      this.changed.closeUnsafe()
      const [first] = this.line
      const remaining = this.remaining(yield* monotonic)
      if (first !== undefined && remaining <= 0) return first
      yield* first === undefined ? this.changed.await : Effect.timeoutOption(this.changed.await, remaining)
    }
  })

  private enqueue(taskId: string): void {
    this.line.add(taskId)
    this.changed.openUnsafe()
  }

  /** Over for good: whoever waited for input has got on, and goes on beside the next. */
  private end(seat: Seat): void {
    if (this.trial?.seat === seat) this.trial = undefined
    this.changed.openUnsafe()
  }

  /** For how many milliseconds at most the present trial goes on; 0 when there is none. */
  private remaining(now: number): number {
    return this.trial === undefined ? 0 : Math.max(Math.ceil(this.trial.until - now), 0)
  }
}
