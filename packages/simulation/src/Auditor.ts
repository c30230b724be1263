/**
 * Watches a simulated world and objects to what must not be.
 *
 * It knows the specification, what clients were told, what handlers did, and every change of the store; it does not
 * know how servers work. What it sees of the store it plays again on the machine.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskTransition from "@effect-mcp-tasks/core/TaskTransition"
import type { TaskEngine } from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import type { RuleName, Violation } from "./Audit.ts"
import * as calmRules from "./calmRules.ts"
import * as clientRules from "./clientRules.ts"
import type { Coverage } from "./Coverage.ts"
import type { Write } from "./Database.ts"
import { Desk, type Room } from "./Desk.ts"
import type { StoreCall } from "@effect-mcp-tasks/testing/FaultyStore"
import type { Process } from "./Process.ts"
import type { Lack } from "./Scenario.ts"
import { CurrentRequest, type Served } from "./Served.ts"
import { openRun, TaskFile } from "./TaskFile.ts"
import { limits, type Witness } from "./Tools.ts"
import * as Watch from "./Watch.ts"
import type { World } from "./World.ts"
import * as writeRules from "./writeRules.ts"

/**
 * A request on its way.
 *
 * @since 0.1.0
 */
export interface Sent {
  readonly owner: string
  readonly method: string
  readonly params: Schema.JsonObject
  /** How many changes of the store there had been. */
  readonly seq: number
  readonly sentMs: number
  /** What the client does not declare. */
  readonly lacks: Lack | undefined
}

/**
 * What an auditor objects to.
 *
 * @since 0.2.0
 */
export interface Sought {
  /** The rules; all unless given. */
  readonly rules?: ReadonlySet<RuleName> | undefined
  /** What must stand in what it has to say; anything unless given. */
  readonly about?: string | undefined
}

/** A call to the store whose caller was told that it failed. */
interface Miss extends StoreCall {
  readonly process: Process
  readonly atMs: number
}

/**
 * Watches a simulated world.
 *
 * @since 0.1.0
 */
export class Auditor {
  readonly violations: Array<Violation> = []
  readonly coverage: Coverage
  /** What is known of each task there ever was, by its id. */
  readonly files = new Map<string, TaskFile>()
  readonly world: World
  private readonly misses: Array<Miss> = []
  private readonly commands = new Map<string, Array<writeRules.Given>>()
  private readonly live = new Map<string, number>()
  private readonly sights = new Map<string, clientRules.Sight>()
  private seq = 0
  private times = 0

  private readonly sought: Sought
  private readonly room: Room
  private readonly desks = new Map<Process, Desk>()

  /** Objects to what is sought. */
  constructor(world: World, coverage: Coverage, room: Room, sought: Sought) {
    this.world = world
    this.room = room
    this.coverage = coverage
    this.sought = sought
  }

  /** Objects. */
  readonly object = (rule: RuleName, detail: string): void => {
    const { about = "", rules } = this.sought
    if (rules?.has(rule) === false || !detail.includes(about)) return
    // Where a cause was traced to is another place on every machine, and no part of the history.
    this.world.note("auditor", `${rule}: ${detail.split("\n", 1).join()}`)
    this.violations.push({ rule, detail })
    this.world.isStopped = true
  }

  /** Objects to something that broke in a process, and says of what. */
  readonly broke = (process: string, text: string, cause: Cause.Cause<unknown>): void =>
    this.object("defect", [`${process}: ${text}`, ...cause.reasons.length > 0 ? [Cause.pretty(cause)] : []].join("\n"))

  /** Objects to everything that was found. */
  report(found: ReadonlyArray<Violation>): void {
    for (const { detail, rule } of found) this.object(rule, detail)
  }

  /** The file of a task, whether or not there is such a task. */
  file(taskId: string): TaskFile {
    const known = this.files.get(taskId)
    if (known !== undefined) return known
    const opened = new TaskFile(taskId, this.files.size + 1)
    this.files.set(taskId, opened)
    return opened
  }

  /** Hears what is to replace a task, before a store can refuse it. */
  readonly onWish = (task: Task.Task): void => this.report(writeRules.wished(this.file(task.taskId), task))

  /** Hears of a change of the store. */
  readonly onWrite = (write: Write): void => {
    this.seq++
    const { after, before, process, taskId } = write
    const file = this.file(taskId)
    const task = after?.task
    if (task !== undefined && !TaskInvariants.hasEnded(task) && task.attempt > (before?.task.attempt ?? 0)) {
      const journal = task.steps.map(({ name }) => name)
      file.claims.set(task.attempt, { process, isPosthumous: !process.isAlive, journal })
    }
    const { found, transition } = writeRules.judge(write, file, this.commands.get(`${process.name} ${taskId}`) ?? [])
    this.world.note(process.name, `${file.name}: ${transition ?? (task === undefined ? "removed" : "created")}`)
    file.versions.push({ stored: after, seq: this.seq, atMs: this.world.now })
    if (transition !== undefined) this.coverage.add("transitions", transition)
    if (task !== undefined) this.coverage.add("states", TaskTransition.phase(task))
    this.report(found)
    this.count(write)
  }

  private count({ after, before }: Write): void {
    const change = Number(isLive(after)) - Number(isLive(before))
    const owner = (after ?? before)?.task.owner ?? ""
    const count = (this.live.get(owner) ?? 0) + change
    this.live.set(owner, count)
    if (change > 0 && count > (limits.maxLiveTasks ?? Infinity)) this.object("limit-passed", `${owner}: ${count}`)
  }

  /** What the tools of one process are watched with. `crash` ends it. */
  witness(process: Process, crash: () => void): Witness {
    return {
      began: (taskId, attempt) => {
        const file = this.file(taskId)
        const run = openRun(attempt, process)
        const desk = this.desk(process)
        file.runs.push(run)
        const together = desk.open(run, file)
        if (together !== undefined) this.object("tried-together", together)
        return Watch.make({
          file,
          run,
          crash,
          desk,
          object: this.object,
          now: () => this.world.now,
          nextTime: () => ++this.times,
          note: (what) => this.world.note(process.name, what),
          onFault: (name) => this.coverage.add("faults", name)
        })
      }
    }
  }

  /** An engine whose commands the auditor hears of. */
  around(process: Process, engine: TaskEngine["Service"]): TaskEngine["Service"] {
    const giving = (taskId: string, ...given: ReadonlyArray<writeRules.Given>) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) => {
      const name = `${process.name} ${taskId}`
      return Effect.suspend(() => {
        const pending = this.commands.get(name) ?? []
        this.commands.set(name, pending)
        pending.push(...given)
        // Commands overlap: each takes back its own.
        const over = () => given.forEach((one) => pending.splice(pending.indexOf(one), 1))
        return Effect.ensuring(effect, Effect.sync(over))
      })
    }
    const refused = (taskId: string, tag: string, to: string) => {
      const { name, now: task } = this.file(taskId)
      if (task === undefined) return
      this.coverage.add("refusals", `${TaskTransition.phase(task)} ${tag} ${to}`)
      this.world.tell(process.name, () => `${name}: ${TaskTransition.phase(task)} ${tag} ${to}`)
    }
    const asked = <A, E, R>(tag: "Answer" | "Cancel", taskId: string, effect: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const { length } = this.file(taskId).versions
        const isUnchanged = () => this.file(taskId).versions.length === length
        return Effect.tap(effect, Effect.sync(() => isUnchanged() ? refused(taskId, tag, "unchanged") : undefined))
      }).pipe(giving(taskId, tag, "Expire"))
    return {
      ...engine,
      create: (task, options) =>
        Effect.flatMap(CurrentRequest, (served) =>
          Effect.tap(engine.create(task, options), ({ task: { taskId } }) =>
            Effect.sync(() => {
              if (served !== undefined) served.taskId = taskId
            }))),
      apply: (target, command) => {
        const { taskId, version } = typeof target === "string"
          ? { taskId: target, version: this.file(target).versions.at(-1)?.stored?.version }
          : { taskId: target.task.taskId, version: target.version }
        return engine.apply(target, command).pipe(
          Effect.tap((stored) =>
            Effect.sync(() => {
              if (command._tag === "Ask") this.file(taskId).mayWait(command.attempt, command.key)
              if (stored.version === version) refused(taskId, command._tag, "unchanged")
              this.report(writeRules.granted(this.file(taskId), command, stored.task))
            })
          ),
          Effect.tapError((error) =>
            Effect.sync(() => error._tag === "TaskRejected" ? refused(taskId, command._tag, error.reason) : undefined)
          ),
          giving(taskId, command)
        )
      },
      view: (owner, taskId) => giving(taskId, "Expire")(engine.view(owner, taskId)),
      answer: (owner, taskId, responses) => asked("Answer", taskId, engine.answer(owner, taskId, responses)),
      cancel: (owner, taskId) => asked("Cancel", taskId, engine.cancel(owner, taskId))
    }
  }

  /** Hears that a client sends a request. */
  sent(owner: TaskOwner.TaskOwner, method: string, params: Schema.JsonObject, lacks?: Lack): Sent {
    const key = TaskOwner.key(owner)
    const { taskId } = params
    if (method === "tasks/cancel" && typeof taskId === "string") {
      const file = this.file(taskId)
      if (file.now?.owner === key) file.isCancelSent = true
    }
    return { owner: key, method, params, seq: this.seq, sentMs: this.world.now, lacks }
  }

  /** Hears that a process is told that a call of it to the store has failed. */
  readonly onMiss = (process: Process, call: StoreCall): void => {
    this.misses.push({ ...call, process, atMs: this.world.now })
  }

  /** Hears that a process has done with a request whose client went away before it was answered. */
  left(process: Process, { sinceMs, taskId }: Served): void {
    if (taskId === undefined || this.misses.some((miss) => miss.process === process && miss.atMs >= sinceMs)) return
    const { name, now: task } = this.file(taskId)
    if (task !== undefined && !calmRules.isStopping(task)) this.object("task-left", `${process.name} runs ${name} on`)
  }

  /** Whether a call was refused only since the store's word that its task is there was lost, which could be read. */
  private isDenied({ owner, params, sentMs, seq }: Sent, server: Process): boolean {
    const [miss, ...others] = this.misses.filter(({ atMs, operation, process }) =>
      process === server && atMs >= sentMs && operation !== "due" && operation !== "list")
    const file = miss?.operation === "create" ? this.files.get(String(miss.taskId)) : undefined
    const isOwn = file?.now?.owner === owner && file.now.tool === params["name"]
    return isOwn && others.length === 0 && (file.versions[0]?.seq ?? 0) > seq
  }

  /** Hears what a client was answered. */
  answered(sent: Sent, server: Process, answer: clientRules.Answer): void {
    this.report(clientRules.undeclared(sent, answer))
    if (sent.lacks === "tasks") return
    if ("error" in answer && answer.error.message.includes("cannot reach its tasks") && sent.method === "tools/call") {
      if (this.isDenied(sent, server)) this.object("create-denied", `${sent.owner} calls ${sent.params["name"]}`)
    }
    const created = "result" in answer && answer.result["resultType"] === "task" ? answer.result["taskId"] : undefined
    const taskId = created ?? sent.params["taskId"]
    if (typeof taskId !== "string") return
    const file = this.file(taskId)
    if (created !== undefined) file.isAcknowledged = true
    this.report(clientRules.judge({ ...sent, server, answer, window: file.since(sent.seq) }, file))
  }

  /** Hears what a poll showed to a client, in the order in which the client saw it. */
  saw(client: string, taskId: string, task: Schema.JsonObject): void {
    const name = `${client} ${taskId}`
    const { lastUpdatedAt, status } = task
    const sight = { status: String(status), lastUpdatedAt: String(lastUpdatedAt), text: JSON.stringify(task) }
    const before = this.sights.get(name)
    this.sights.set(name, sight)
    if (before !== undefined) this.report(clientRules.compare(before, sight, this.file(taskId)))
  }

  private desk(process: Process): Desk {
    const known = this.desks.get(process)
    if (known !== undefined) return known
    const opened = new Desk(process, this.room)
    this.desks.set(process, opened)
    return opened
  }

  /** Looks at everything, at a time when it has been calm for long enough. */
  calm(findsOrphans: boolean, processes: ReadonlyArray<Process>): void {
    const hasRoomIn = (process: Process) => this.desk(process).hasHadRoom(calmRules.patienceMs)
    const files = [...this.files.values()]
    const hasRoom = processes.some(hasRoomIn)
    const nowMs = this.world.now
    const isTrying = files.some((file) => calmRules.isTried(file, nowMs))
    const now = { nowMs, findsOrphans, hasRoom, hasRoomIn, isTrying }
    for (const file of files) this.report(calmRules.judge(file, now))
  }

  /** Whether every task has ended or gone. */
  get hasEverythingEnded(): boolean {
    return [...this.files.values()].every(({ now }) => now === undefined || TaskInvariants.hasEnded(now))
  }
}

const isLive = (stored: Task.Stored | undefined): boolean =>
  stored !== undefined && !TaskInvariants.hasEnded(stored.task)
