/**
 * A client in a plan: what `TaskObserver` decides, done in virtual time as the client package does it.
 *
 * The observer says when to poll, whom to ask and when all is done. What is restated here is who sends what besides:
 * the list of tools, the subscription, and the poll that follows its acknowledgement.
 *
 * @since 0.2.0
 */
import * as TaskObserver from "@effect-mcp-tasks/core/TaskObserver"
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import type { Agenda } from "./Agenda.ts"
import type { Ledger, Method } from "./Ledger.ts"
import type { Life } from "./Life.ts"
import type { PlannedServer } from "./PlannedServer.ts"

/** How long a client keeps what a server says of itself and of its tools: what our server allows. */
const freshMs = 60_000
/** How long a server serves one subscription, and how soon a client makes the next. */
const maxListenMs = 3_600_000
const listenAgainMs = 500

/**
 * What one client process remembers of its server.
 *
 * @since 0.2.0
 */
export interface ClientProcess {
  toolsUntil: number
  discoveredUntil: number
}

/**
 * How a task ended for its client. `gone` is a task that its server did not know any more.
 *
 * @since 0.2.0
 */
export type Ending = "completed" | "failed" | "cancelled" | "gone" | "given up"

/**
 * What a client in a plan works with.
 *
 * @since 0.2.0
 */
export interface ClientSurroundings {
  readonly agenda: Agenda
  readonly ledger: Ledger
  readonly server: PlannedServer
  readonly process: ClientProcess
  readonly roundTripMs: number
  /** A number from 0 to 1, drawn by chance. */
  readonly jitter: () => number
  readonly onEnd: (ending: Ending) => void
}

/**
 * One call of one client, from the call to its end.
 *
 * @since 0.2.0
 */
export class PlannedClient {
  private observer: TaskObserver.TaskObserver | undefined
  private isOver = false
  private isGivenUp = false
  private isListening = false
  private isPollDue = false
  private wait = 0
  /** The poll that is on its way, as a number of its own; none without one. */
  private poll: number | undefined
  private polls = 0
  private hangUp: (() => void) | undefined
  private readonly life: Life
  private readonly around: ClientSurroundings

  constructor(life: Life, around: ClientSurroundings) {
    this.life = life
    this.around = around
  }

  /** Calls the tool, now. */
  call(): void {
    const { server } = this.around
    this.listTools(() => this.request("tools/call", () => server.call(this.life), (view) => this.begun(view)))
  }

  private begun(view: TaskView.Working): void {
    const { agenda, onEnd, server } = this.around
    const { cancelAfterMs, returnsAfterMs } = this.life
    if (returnsAfterMs !== undefined) return agenda.after(returnsAfterMs, () => this.comeBack(view.taskId))
    if (cancelAfterMs !== undefined) {
      agenda.after(cancelAfterMs, () => {
        if (this.isOver) return
        this.isGivenUp = true
        // The task is observed until the server has been told.
        this.request("tasks/cancel", () => server.cancel(view.taskId), () => {
          this.leave()
          onEnd("cancelled")
        })
      })
    }
    this.observe(view)
  }

  /** A client that was away looks whether the task is still there, and goes on with it. */
  private comeBack(taskId: string): void {
    this.request("tasks/get", () => this.around.server.get(taskId), (view) => {
      if (view === undefined) return this.around.onEnd("gone")
      this.observe(view)
    })
  }

  private observe(view: TaskView.TaskView): void {
    this.observer = TaskObserver.make({ view, at: this.around.agenda.now })
    this.drive()
    if (this.life.listens && !this.isOver) this.discover(() => this.listen())
  }

  /** Does what the observer says, until there is something to wait for. */
  private drive(): void {
    const { agenda, jitter } = this.around
    while (this.observer !== undefined && !this.isOver) {
      const moment = { at: agenda.now, jitter: jitter(), listening: this.isListening }
      const [next, action] = TaskObserver.next(this.observer, moment)
      this.observer = next
      if (action._tag === "Done") return this.conclude(action.outcome)
      if (action._tag === "Answer") {
        for (const { key } of action.questions) this.ask(key)
        continue
      }
      const wait = ++this.wait
      // One from before the subscription may have been too early; any other is waited for.
      if (this.isPollDue) this.poll = undefined
      else if (this.poll !== undefined) return
      agenda.after(this.isPollDue ? 0 : action.ms, () => {
        if (wait === this.wait) this.look()
      })
      return
    }
  }

  private look(): void {
    const taskId = this.observer?.view.taskId ?? ""
    const poll = ++this.polls
    this.poll = poll
    this.isPollDue = false
    this.request("tasks/get", () => this.around.server.get(taskId), (view) => {
      if (poll !== this.poll || this.observer === undefined) return
      this.poll = undefined
      this.observer = view === undefined
        ? TaskObserver.gone(this.observer)
        : TaskObserver.observe(this.observer, view, this.around.agenda.now)
      this.drive()
    })
  }

  private ask(key: string): void {
    const { agenda, server } = this.around
    const isAnswerable = () =>
      !this.isOver && this.observer !== undefined && TaskObserver.isAnswerable(this.observer, key)
    agenda.after(this.life.asks?.answerAfterMs ?? 0, () => {
      const taskId = this.observer?.view.taskId ?? ""
      if (!isAnswerable()) return
      this.request("tasks/update", () => server.answer(taskId), () => {
        if (this.observer !== undefined) this.observer = TaskObserver.answered(this.observer, key, agenda.now)
      })
    })
  }

  private listen(): void {
    const { agenda, jitter, roundTripMs, server } = this.around
    const taskId = this.observer?.view.taskId ?? ""
    if (this.isOver) return
    let isOpen = true
    const told = (view: TaskView.TaskView) =>
      agenda.after(roundTripMs / 2, () => {
        if (!isOpen || this.observer === undefined || this.isOver) return
        this.observer = TaskObserver.observe(this.observer, view, agenda.now)
        this.drive()
      })
    const begin = () => {
      let isGranted = true
      agenda.after(roundTripMs / 2, () => {
        if (this.isOver || !isGranted) return
        this.isListening = true
        this.isPollDue = true
        this.drive()
      })
      const hangUp = server.listen(taskId, told)
      isGranted = hangUp !== undefined
      return hangUp
    }
    this.request("subscriptions/listen", begin, () => {}, (hangUp) => {
      this.hangUp = hangUp
      if (this.isOver) hangUp?.()
      agenda.after(maxListenMs, () => {
        if (this.isOver || this.hangUp !== hangUp) return
        isOpen = false
        hangUp?.()
        this.isListening = false
        this.drive()
        agenda.after(listenAgainMs * (1 + 0.2 * jitter()), () => this.listen())
      })
    })
  }

  private conclude(outcome: TaskObserver.Outcome): void {
    this.leave()
    if (this.isGivenUp) return
    if (outcome._tag !== "Ended") return this.around.onEnd(this.observer?.isGone === true ? "gone" : "given up")
    const { status } = outcome.view
    // The result is held against what the list of tools promises.
    if (status === "completed") this.listTools(() => {})
    this.around.onEnd(status)
  }

  /** Observes the task no more. */
  private leave(): void {
    this.isOver = true
    this.wait++
    this.poll = undefined
    this.hangUp?.()
  }

  private listTools(then: () => void): void {
    const { agenda, process } = this.around
    if (agenda.now < process.toolsUntil) return then()
    process.toolsUntil = agenda.now + freshMs
    this.request("tools/list", () => {}, then)
  }

  private discover(then: () => void): void {
    const { agenda, process } = this.around
    if (agenda.now < process.discoveredUntil) return then()
    process.discoveredUntil = agenda.now + freshMs
    this.request("server/discover", () => {}, then)
  }

  /** Sends a request: `serve` is what the server does with it, `then` what follows its answer. */
  private request<A>(method: Method, serve: () => A, then: (answer: A) => void, onServed?: (answer: A) => void): void {
    const { agenda, ledger, roundTripMs } = this.around
    agenda.after(roundTripMs / 2, () => {
      ledger.request(agenda.now, method)
      const answer = serve()
      onServed?.(answer)
      agenda.after(roundTripMs / 2, () => then(answer))
    })
  }
}
