/**
 * A server in a plan: tasks by the real machine, in a store that only counts, with what the engine does around them.
 *
 * The transitions are those of `TaskMachine`, and what a client is shown is what `TaskWire` writes. What is restated
 * here is how often the engine goes to its store; `packages/simulation/test/plan/Store.test.ts` holds that against the
 * real engine, life by life.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as TaskTransition from "@effect-mcp-tasks/core/TaskTransition"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as Result from "effect/Result"
import type { Agenda } from "./Agenda.ts"
import type { Ledger, Operation } from "./Ledger.ts"
import type { Life } from "./Life.ts"
import { questionKey, Slots, Work } from "./PlannedWorkers.ts"
import type { Settings } from "./Settings.ts"

/** How often the sweeper looks, how many tasks it takes at a time, and how often handlers look at their tasks. */
const sweepMs = 1_000
const sweepBatch = 100
const heartbeatMs = 30_000
/** How often a subscription looks at its task when nothing is heard of it. */
const listenHeartbeatMs = 15_000
/** How often replicas look through all live tasks, and how many they read at a time. */
const scanMs = 60_000
const scanPage = 100

/**
 * What time has done to a task: it expired while it was in this phase.
 *
 * @since 0.2.0
 */
export type ExpiredIn = "queued" | "working" | "parked"

interface Listener {
  readonly tell: (view: TaskView.TaskView) => void
  updatedAt: number
  look: number
}

interface Row {
  task: Task.Task
  version: number
  /** The task as clients see it, once one has looked since it last changed. */
  view: TaskView.TaskView | undefined
  readonly life: Life
  readonly listeners: Set<Listener>
  work: Work | undefined
}

/**
 * What a plan's server tells of its tasks.
 *
 * @since 0.2.0
 */
export interface ServerEvents {
  readonly started: (life: Life, afterMs: number) => void
  readonly ended: (life: Life, afterMs: number) => void
  readonly expired: (life: Life, phase: ExpiredIn) => void
}

interface Surroundings {
  readonly agenda: Agenda
  readonly ledger: Ledger
}

/**
 * A server in a plan.
 *
 * @since 0.2.0
 */
export class PlannedServer {
  private readonly rows = new Map<string, Row>()
  private readonly slots: Slots
  private readonly isReplica: boolean
  private created = 0
  private handlers = 0
  private isBeating = false
  private sweep = { at: -1, count: 0 }
  private readonly agenda: Agenda
  private readonly ledger: Ledger
  private readonly settings: Settings
  private readonly events: ServerEvents

  constructor({ agenda, ledger }: Surroundings, settings: Settings, events: ServerEvents) {
    this.agenda = agenda
    this.ledger = ledger
    this.settings = settings
    this.events = events
    this.isReplica = settings.workers !== undefined
    this.slots = new Slots(settings.workers ?? Number.POSITIVE_INFINITY)
    const { untilMs } = this.ledger.span
    // The rounds that go on whatever happens; what they find to do comes on top.
    for (let at = 0; at < untilMs; at += sweepMs) this.ledger.operation(at, "due")
    if (this.isReplica) this.scan()
    // A single process looks for what an earlier one has left, once.
    else this.count("list")
  }

  /** Serves `tools/call`: the id of a new task, and how it is shown. */
  call(life: Life): TaskView.Working {
    const { now } = this.agenda
    const { pollMs, resultTtlMs, ttlMs } = this.settings
    const task = TaskMachine.create({
      taskId: `task-${++this.created}`,
      owner: "",
      tool: "work",
      arguments: {},
      capabilities: {},
      policy: { recovery: "resume", resultTtlMs, maxLostAttempts: 5, maxQuestions: 100, maxSteps: 1_000 },
      ttlMs,
      pollIntervalMs: pollMs,
      at: now
    })
    const start = { _tag: "Start", at: now } as const
    const first = this.isReplica ? task : Result.getOrElse(TaskMachine.step(task, start), () => task)
    const row: Row = { task: first, version: 1, view: undefined, life, listeners: new Set(), work: undefined }
    this.count("create")
    this.rows.set(task.taskId, row)
    this.ledger.change(now, "stored", 1)
    this.ledger.change(now, "live", 1)
    this.awaitDeadline(row)
    if (this.isReplica) this.enqueue(row)
    else this.run(row)
    return Result.getOrThrow(TaskView.readCreated(JSON.parse(TaskWire.createTaskResult({ task: first, version: 1 }))))
  }

  /** Serves `tasks/get`; nothing for a task that is not there. */
  get(taskId: string): TaskView.TaskView | undefined {
    this.count("view")
    const row = this.rows.get(taskId)
    if (row === undefined || !Task.isDue(row.task, this.agenda.now)) return row && this.viewOf(row)
    this.count("read")
    if (Task.isTerminal(row.task)) return undefined
    this.apply(row, { _tag: "Expire", at: this.agenda.now })
    this.count("view")
    return this.viewOf(row)
  }

  /** Serves `tasks/update` with the answer to the one question there is. */
  answer(taskId: string): void {
    const row = this.current(taskId)
    if (row === undefined || Task.isTerminal(row.task)) return
    const responses = [{ key: questionKey, response: { action: "accept", content: {} } }]
    this.apply(row, { _tag: "Answer", at: this.agenda.now, responses })
  }

  /** Serves `tasks/cancel`. */
  cancel(taskId: string): void {
    const row = this.current(taskId)
    if (row !== undefined) this.apply(row, { _tag: "Cancel", at: this.agenda.now })
  }

  /** Serves `subscriptions/listen` until it is called off, or has told of the end; nothing where there is no task. */
  listen(taskId: string, tell: Listener["tell"]): (() => void) | undefined {
    if (this.get(taskId) === undefined) return undefined
    const row = this.rows.get(taskId)
    if (row === undefined) return undefined
    const listener: Listener = { tell, updatedAt: -1, look: 0 }
    row.listeners.add(listener)
    this.ledger.change(this.agenda.now, "streams", 1)
    this.show(row, listener)
    return () => this.leave(row, listener)
  }

  private count(operation: Operation): void {
    this.ledger.operation(this.agenda.now, operation)
  }

  private viewOf(row: Row): TaskView.TaskView {
    const { task } = row
    row.view ??= Result.getOrThrow(TaskView.read(JSON.parse(
      TaskWire.getTaskResult(TaskWire.encodeHead(task), task.status === "completed" ? task.result : undefined)
    )))
    return row.view
  }

  /** The task as its owner may act on it now: what is overdue has failed, what is forgotten is not there. */
  private current(taskId: string): Row | undefined {
    this.count("read")
    const row = this.rows.get(taskId)
    if (row === undefined || !Task.isDue(row.task, this.agenda.now)) return row
    if (Task.isTerminal(row.task)) return undefined
    this.apply(row, { _tag: "Expire", at: this.agenda.now })
    return row
  }

  /** Gives a command to the machine, and makes what comes of it durable. Says whether anything came of it. */
  private apply(row: Row, command: TaskCommand): boolean {
    const events = TaskMachine.decide(row.task, command)
    if (Result.isFailure(events) || events.success.length === 0) return false
    const before = row.task
    row.task = events.success.reduce(TaskMachine.evolve, before)
    row.view = undefined
    row.version++
    this.count("replace")
    this.note(row, before, command)
    if (row.task.ttlMs !== before.ttlMs) this.awaitDeadline(row)
    this.signal(row)
    return true
  }

  private note({ life, task }: Row, before: Task.Task, { _tag }: TaskCommand): void {
    const { now } = this.agenda
    const was = before.status === "input_required"
    const is = task.status === "input_required"
    if (was !== is) this.ledger.change(now, "parked", is ? 1 : -1)
    if (!Task.isTerminal(task)) return
    this.ledger.change(now, "live", -1)
    if (TaskTransition.phase(before) === "queued") this.ledger.change(now, "queued", -1)
    this.events.ended(life, now - task.createdAt)
    if (task.status === "failed" && (_tag === "Expire" || _tag === "Start")) {
      const queued = TaskTransition.phase(before) === "queued"
      this.events.expired(life, queued ? "queued" : was ? "parked" : "working")
    }
  }

  /** Whoever runs the task looks at it, and so does everyone who listens. */
  private signal(row: Row): void {
    this.look(row)
    for (const listener of row.listeners) this.show(row, listener)
  }

  private look(row: Row): void {
    const { task, work } = row
    if (work === undefined || work.state === "ended") return
    this.count("read")
    if (Task.isTerminal(task)) work.stop()
    else if (task.status === "working" && task.cancelRequested) work.stop({ _tag: "Stop" })
    else if (task.status === "working") work.answered()
  }

  private show(row: Row, listener: Listener): void {
    this.count("view")
    const { lastUpdatedAt } = row.task
    if (lastUpdatedAt > listener.updatedAt) {
      listener.updatedAt = lastUpdatedAt
      listener.tell(this.viewOf(row))
    }
    if (Task.isTerminal(row.task)) return this.leave(row, listener)
    const look = ++listener.look
    this.agenda.after(listenHeartbeatMs, () => {
      if (look === listener.look && row.listeners.has(listener)) this.show(row, listener)
    })
  }

  private leave(row: Row, listener: Listener): void {
    if (row.listeners.delete(listener)) this.ledger.change(this.agenda.now, "streams", -1)
  }

  private run(row: Row): void {
    const { agenda, ledger, slots } = this
    const { attempt, createdAt } = row.task
    const place = { agenda, ledger, slots, reportEveryMs: this.settings.reportEveryMs }
    row.work = new Work(place, row.life, {
      give: (command) => this.apply(row, { ...command, at: agenda.now, attempt } as TaskCommand),
      onEnd: () => {
        this.handlers--
      }
    })
    this.events.started(row.life, agenda.now - createdAt)
    this.handlers++
    this.beat()
    row.work.begin()
  }

  /** What a replica does with the entry of a task: it claims the task, and runs it if there is anything to run. */
  private enqueue(row: Row): void {
    this.ledger.change(this.agenda.now, "queued", 1)
    this.slots.enqueue(() => {
      this.count("read")
      const { task } = row
      if (Task.isTerminal(task)) return false
      const { now } = this.agenda
      this.apply(row, { _tag: "Start", at: now, after: task.attempt, worker: "worker" })
      if (Task.isTerminal(row.task)) return false
      this.ledger.change(now, "queued", -1)
      this.run(row)
      // The signal of the start comes when the handler is there to hear it.
      this.look(row)
      return true
    })
  }

  /** Every so often each handler looks at its task, whether or not there was a signal. */
  private beat(): void {
    if (this.isBeating) return
    this.isBeating = true
    const { now } = this.agenda
    this.agenda.at((Math.floor(now / heartbeatMs) + 1) * heartbeatMs, () => {
      this.isBeating = false
      this.ledger.operation(this.agenda.now, "read", this.handlers)
      if (this.handlers > 0) this.beat()
    })
  }

  /** Replicas look through all live tasks for those that nobody sees to. */
  private scan(): void {
    const pages = Math.floor(this.ledger.level("live") / scanPage) + 1
    this.ledger.operation(this.agenda.now, "list", pages)
    if (this.agenda.now < this.ledger.span.untilMs) this.agenda.after(scanMs, () => this.scan())
  }

  /** The sweeper's next round after the deadline of a task: it expires, or is removed. */
  private awaitDeadline(row: Row): void {
    const deadline = Task.deadline(row.task)
    if (deadline === undefined) return
    const sweep = () => {
      if (Task.deadline(row.task) !== deadline) return
      this.countSwept()
      if (Task.isTerminal(row.task)) return this.remove(row)
      this.count("read")
      this.apply(row, { _tag: "Expire", at: this.agenda.now })
      // Nobody promised to keep the outcome any longer, so it goes with the next round.
      if (Task.deadline(row.task) === deadline) this.agenda.after(sweepMs, sweep)
    }
    this.agenda.at(Math.ceil(deadline / sweepMs) * sweepMs, sweep)
  }

  /** A round that finds as much as it takes is followed by another at once. */
  private countSwept(): void {
    const { now } = this.agenda
    this.sweep = this.sweep.at === now ? { at: now, count: this.sweep.count + 1 } : { at: now, count: 1 }
    if (this.sweep.count % sweepBatch === 0) this.count("due")
  }

  private remove(row: Row): void {
    this.count("remove")
    if (this.rows.delete(row.task.taskId)) this.ledger.change(this.agenda.now, "stored", -1)
  }
}
