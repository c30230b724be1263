/**
 * Watches the client library: what it sends for each call, what it is told, and what it gives to its caller.
 *
 * @since 0.2.0
 */
import type { RequestError } from "@effect-mcp-tasks/client/TaskClientError"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Auditor } from "./Auditor.ts"
import { CallFile } from "./CallFile.ts"
import * as callRules from "./callRules.ts"
import type { Answer } from "./clientRules.ts"
import * as calmRules from "./calmRules.ts"
import type { Process } from "./Process.ts"
import type { Call } from "./Scenario.ts"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import type { TaskFile } from "./TaskFile.ts"

/** What was asked for. */
type Asked = Pick<callRules.Request, "method" | "params">

/** How long a client that listens may take to look again by itself, with what a poll may take, in milliseconds. */
const lookMs = 45_000

/**
 * Watches the client library.
 *
 * @since 0.2.0
 */
export class CallAuditor {
  private readonly files: Array<CallFile> = []
  private readonly auditor: Auditor

  constructor(auditor: Auditor) {
    this.auditor = auditor
  }

  private get nowMs(): number {
    return this.auditor.world.now
  }

  /** Hears that a user calls a tool. */
  open(client: string, call: Call, patienceMs: number): CallFile {
    const file = new CallFile(`${client}, call ${this.files.length + 1}`, call, patienceMs)
    this.files.push(file)
    return file
  }

  /** Hears that the process of these calls has died: nobody waits for them any more. */
  died(files: Iterable<CallFile>): void {
    for (const file of files) file.isOver = true
  }

  /** Hears that another process goes on with a call. */
  resumes(file: CallFile): void {
    file.lives++
    file.isOver = false
    file.isEndKnown = false
    file.wish = undefined
    file.excuses++
    file.listenedMs = Number.NEGATIVE_INFINITY
    file.shown.clear()
    // An end that nobody has dealt with is shown again.
    if (file.lastView !== undefined && TaskView.isTerminal(file.lastView)) file.lastView = undefined
  }

  /** Hears that the clock of a client was set: what waits by it may be early once. */
  jumped(files: Iterable<CallFile>): void {
    for (const file of files) file.excuses++
  }

  /** Hears that the library sends a request for a call. */
  sends(file: CallFile, method: string, params: Schema.JsonObject): void {
    const { nowMs } = this
    this.auditor.report(callRules.sends({ method, params, nowMs }, file))
    switch (method) {
      case "tools/call":
        file.calls++
        return
      case "tasks/cancel":
        file.cancels++
        return
      case "subscriptions/listen":
        file.listenedMs = nowMs
        return
      case "tasks/get":
        if (nowMs - Math.max(file.polledMs, file.seenMs) < file.pollMs) file.excuses = Math.max(0, file.excuses - 1)
        file.polledMs = nowMs
        return
      case "tasks/update":
        for (const [key, response] of Object.entries(Object(params["inputResponses"]))) {
          if (!file.answers.has(key)) file.answers.set(key, { text: JSON.stringify(response), isTaken: false })
        }
    }
  }

  /** Hears that the library gets the answer to a request. */
  hears(file: CallFile, { method, params }: Asked, answer: Answer, time: number): void {
    const kind = callRules.kindOf(method, params)
    if ("error" in answer && answer.error.code === -32603) this.misses(file, { method, params })
    else file.failingSinceMs.delete(kind)
    switch (method) {
      case "tools/call":
        file.direct = answer
        if ("result" in answer && answer.result["resultType"] === "task") {
          file.taskId = String(answer.result["taskId"])
          file.firstSeenAt = time
          // Though it has ended: how, only a poll tells (ext-tasks, `CreateTaskResult`).
          const created = Result.getOrUndefined(TaskView.readCreated(answer.result))
          file.pollMs = created?.pollIntervalMs ?? file.pollMs
          file.ttlMs = created?.ttlMs ?? null
          file.seenMs = this.nowMs
        }
        return
      case "tasks/get":
        file.seenMs = this.nowMs
        if ("result" in answer) return this.sees(file, answer.result)
        file.isGone ||= answer.error.code === -32602
        file.isEndKnown ||= file.isGone
        return
      case "tasks/update":
        return this.updated(file, params, answer)
    }
  }

  private updated(file: CallFile, params: Schema.JsonObject, answer: Answer): void {
    const isRefused = "error" in answer && answer.error.code !== -32603
    // The task may have changed, which is looked for at once.
    if (isRefused) file.excuses++
    for (const key of Object.keys(Object(params["inputResponses"]))) {
      const given = file.answers.get(key)
      if (given !== undefined && "result" in answer) given.isTaken = true
      // One that was not taken may be followed by another.
      if (isRefused) {
        file.answers.delete(key)
        file.asked.delete(key)
      }
    }
  }

  /** Hears that a request of the library came to nothing. */
  misses(file: CallFile, { method, params }: Asked): void {
    const kind = callRules.kindOf(method, params)
    if (!file.failingSinceMs.has(kind)) file.failingSinceMs.set(kind, this.nowMs)
  }

  /** Hears that the library gets a notification. */
  notified(file: CallFile, method: string, params: Schema.JsonObject): void {
    if (method === "notifications/tasks") this.sees(file, params)
    // What happened before the subscription is looked for at once.
    if (method === "notifications/subscriptions/acknowledged") file.excuses++
  }

  private sees(file: CallFile, json: Schema.JsonObject): void {
    const view = Result.getOrUndefined(TaskView.read(json))
    if (view === undefined || view.taskId !== file.taskId) return
    file.isEndKnown ||= TaskView.isTerminal(view)
    file.pollMs = view.pollIntervalMs ?? file.pollMs
    file.ttlMs = view.ttlMs ?? null
  }

  /** Hears that a user is asked. */
  asks(file: CallFile, key: string): void {
    this.auditor.report(callRules.asks(key, file))
    file.asked.set(key, file.lives)
  }

  /** Hears that a user has done with a question by itself. */
  replies(file: CallFile, key: string): void {
    this.auditor.report(callRules.replies(key, file, this.nowMs))
  }

  /** Hears what the library shows of a task. */
  shows(file: CallFile, view: TaskView.TaskView): void {
    this.auditor.report(callRules.shows(view, file))
    file.lastView = view
    const open = view.status === "input_required" ? view.inputRequests : new Map<string, unknown>()
    for (const [key, closedMs] of file.shown) if (!open.has(key)) file.shown.set(key, closedMs ?? this.nowMs)
    for (const key of open.keys()) file.shown.set(key, undefined)
  }

  /** Hears that a cancel through a handle has failed for its caller. */
  cancelFails(file: CallFile, error: RequestError): void {
    this.auditor.report(callRules.cancelFails(error, file, this.nowMs))
  }

  /** Hears which tasks are remembered when a caller has failed who had been given the end of one. */
  remembers(file: CallFile, open: ReadonlyArray<string>): void {
    if (file.taskId !== undefined && file.wish !== "cancel" && !open.includes(file.taskId)) {
      this.auditor.object("handle-forgotten", file.name)
    }
  }

  /** Hears which tasks are remembered some time after a caller has gone whose task is to be left, if it has one. */
  isLeft(file: CallFile, open: ReadonlyArray<string>): void {
    if (file.wish === "leave") this.remembers(file, open)
  }

  /** Hears how a call ended for its caller. */
  ends(file: CallFile, end: callRules.CallEnd, process: Process): void {
    file.isOver = true
    this.auditor.report(
      callRules.ends(end, { file, task: this.taskOf(file), nowMs: this.nowMs, time: process.time })
    )
  }

  private taskOf(file: CallFile): TaskFile | undefined {
    return file.taskId === undefined ? undefined : this.auditor.file(file.taskId)
  }

  /** Looks at everything, at a time when it has been calm for long enough. */
  calm(): void {
    for (const file of this.files.filter(({ isOver }) => !isOver)) {
      const versions = this.taskOf(file)?.versions ?? []
      const ended = versions.find(({ stored }) => stored !== undefined && TaskInvariants.hasEnded(stored.task))
      if (ended !== undefined && this.nowMs - ended.atMs > calmRules.patienceMs + lookMs) {
        this.auditor.object("call-endless", `${file.name} goes on, and its task has ended`)
      }
    }
  }
}
