/**
 * One-line breaks of the system, each with the rule that must notice. They are kept as a test of the simulation: an
 * auditor that has never objected to anything proves nothing.
 *
 * @since 0.1.0
 */
import type { RuleName } from "./Audit.ts"
import { clientSabotages } from "./clientSabotages.ts"
import { machineSabotages } from "./machineSabotages.ts"
import { replicaSabotages } from "./replicaSabotages.ts"

/**
 * A line that is broken.
 *
 * @since 0.1.0
 */
export interface Sabotage {
  readonly name: string
  /** The rule that must notice, while all others look away. */
  readonly rule: RuleName
  /** The line of the invariants that must be named, where they are the rule. */
  readonly breach?: string | undefined
  /** The file, from `packages/`. */
  readonly file: string
  /** A text that stands in the file once, and what it is replaced by. */
  readonly was: string
  readonly is: string
}

const machine = "core/src/TaskMachine.ts"
const writer = "engine/src/internal/taskWriter.ts"
const attempt = "engine/src/internal/attempt.ts"
const running = "engine/src/internal/runningTasks.ts"
const handle = "engine/src/internal/taskHandle.ts"
const fiberRunner = "engine/src/internal/fiberRunner.ts"
const memory = "engine/src/internal/memoryTaskStore.ts"
const engine = "engine/src/TaskEngine.ts"
const sweeper = "engine/src/TaskSweeper.ts"

/**
 * All sabotages.
 *
 * @since 0.1.0
 */
export const sabotages: ReadonlyArray<Sabotage> = [
  ...machineSabotages,
  // What the auditor sees of a broken machine without its invariants.
  {
    name: "fencing dropped",
    rule: "two-writers",
    file: machine,
    was: `return task.running && task.attempt === command.attempt`,
    is: `return task.running`
  },
  {
    name: "attempt not raised",
    rule: "started-unclaimed",
    file: machine,
    was: `attempt: task.attempt + 1`,
    is: `attempt: Math.max(1, task.attempt)`
  },
  {
    name: "shutdown taken for a cancel",
    rule: "cancel-invented",
    file: machine,
    was: `return happened({ _tag: "Released", at })`,
    is: `return happened(cancelled(task, at))`
  },
  {
    name: "expiry early",
    rule: "expired-early",
    file: "core/src/Task.ts",
    was: `task.ttlMs !== null && at >= task.createdAt + task.ttlMs`,
    is: `task.ttlMs !== null && at >= task.createdAt + task.ttlMs / 2`
  },
  {
    name: "waiting held against a task",
    rule: "wait-punished",
    file: machine,
    was: `happened({ _tag: "InputAwaited", at, key })`,
    is: `nothing`
  },
  // What clients are promised.
  {
    name: "create answered before it is durable",
    rule: "create-lost",
    file: engine,
    was: `store.create(first, { maxLive: limits.maxLiveTasks }),`,
    is: `Effect.orElseSucceed(store.create(first, { maxLive: 4 }), () => ({ task: first, version: 1 })),`
  },
  {
    name: "ended task shown with another status message",
    rule: "terminal-left",
    file: "server/src/internal/methods.ts",
    was: `TaskWire.getTaskResult(head, result ?? undefined)))`,
    is: `TaskWire.getTaskResult(head, result ?? undefined)
      .replace("{", () => "{\\"again\\":" + (globalThis.n = -~globalThis.n) + ",")))`
  },
  {
    name: "old view shown after a newer one",
    rule: "time-reversed",
    file: writer,
    was: `view: (taskId: string) => found(taskId, store.view),`,
    is: `view: ((old) => (id) => Effect.map(found(id, store.view), (v) => {
      const first = old.get(id) ?? v
      old.set(id, first)
      return old.set(0, !old.get(0)).get(0) && v.live ? first : v
    }))(new Map()),`
  },
  {
    name: "view remembered",
    rule: "stale-read",
    file: writer,
    was: `view: (taskId: string) => found(taskId, store.view),`,
    is: `view: ((old) => (id) => Effect.map(found(id, store.view), (v) => {
      if (!old.has(id)) old.set(id, v)
      return old.get(id)
    }))(new Map()),`
  },
  {
    name: "owner ignored by polls",
    rule: "owner-leak",
    file: engine,
    was: `if (found.owner !== TaskOwner.key(owner)) return yield* new TaskNotFound()`,
    is: ``
  },
  {
    name: "owner ignored by answers and cancels",
    rule: "owner-leak",
    file: writer,
    was: `if (stored.task.owner !== TaskOwner.key(owner)) return yield* new TaskNotFound()`,
    is: ``
  },
  {
    name: "answer acknowledged and lost",
    rule: "answer-lost",
    file: writer,
    was: `yield* unrefused(stored, { _tag: "Answer", at: yield* now, responses })`,
    is: ``
  },
  {
    name: "answer given to another question",
    rule: "answer-invented",
    file: attempt,
    was: `const known = Task.findQuestion(this.task, key)`,
    is: `const known = this.task.questions.findLast((it) => it.state === "answered")`
  },
  {
    name: "given up question left open",
    rule: "question-kept",
    file: attempt,
    was: `isLast() && this.standing === "current" ? this.give({ _tag: "Withdraw", key }) : Effect.void`,
    is: `isLast() ? Effect.void : Effect.void`
  },
  {
    name: "unfit answer taken",
    rule: "answer-unfit",
    file: "engine/src/internal/answers.ts",
    was: `Result.map(() => ({ action, content }))`,
    is: `() => Result.succeed({ action, content })`
  },
  {
    name: "task made for a client without the extension",
    rule: "task-undeclared",
    file: "server/src/internal/callTool.ts",
    was: `if (Option.isSome(settings) && request.declaresTasks && decoded.success.mode`,
    is: `if (Option.isSome(settings) && decoded.success.mode`
  },
  {
    name: "tool that needs the extension run without",
    rule: "task-undeclared",
    file: "server/src/internal/callTool.ts",
    was: `settings.value.undeclared === "reject" && !request.declaresTasks`,
    is: `settings.value.undeclared === "never" && !request.declaresTasks`
  },
  {
    name: "polls let at tasks without the extension",
    rule: "task-undeclared",
    file: "server/src/internal/methods.ts",
    was: `["tasks/get", { requiresTasks: true,`,
    is: `["tasks/get", { requiresTasks: false,`
  },
  {
    name: "answers let at tasks without the extension",
    rule: "task-undeclared",
    file: "server/src/internal/methods.ts",
    was: `["tasks/update", { requiresTasks: true,`,
    is: `["tasks/update", { requiresTasks: false,`
  },
  {
    name: "cancels let at tasks without the extension",
    rule: "task-undeclared",
    file: "server/src/internal/methods.ts",
    was: `["tasks/cancel", { requiresTasks: true,`,
    is: `["tasks/cancel", { requiresTasks: false,`
  },
  {
    name: "tasks listened to without the extension",
    rule: "task-undeclared",
    file: "server/src/internal/listen.ts",
    was: `  if (!declaresTasks) return refuse(WireError.tasksRequired)
`,
    is: ``
  },
  {
    name: "client asked that cannot be",
    rule: "asked-undeclared",
    file: handle,
    was: `if (!questions.isDeclared(worker.task.capabilities, question.requires)) {`,
    is: `if (globalThis.never) {`
  },
  {
    name: "task left to run whose caller went away",
    rule: "task-left",
    file: "server/src/internal/callTool.ts",
    was: `  engine.cancel(owner, stored.task.taskId).pipe(`,
    is: `  Effect.void.pipe(`
  },
  {
    name: "task denied when the reply to its creation is lost",
    rule: "create-denied",
    file: engine,
    was: `(error) => confirmed(first, error)`,
    is: `(error) => Effect.fail(error)`
  },
  {
    name: "cancel acknowledged and lost",
    rule: "cancel-lost",
    file: writer,
    was: `yield* unrefused(stored, { _tag: "Cancel", at: yield* now })`,
    is: ``
  },
  {
    name: "shutdown taken for a cancel",
    rule: "cancel-invented",
    file: machine,
    was: `return happened({ _tag: "Released", at })`,
    is: `return happened(cancelled(task, at))`
  },
  {
    name: "limit of live tasks passed",
    rule: "limit-passed",
    file: memory,
    was: `if (rows.countLive(task.owner) >= maxLive)`,
    is: `if (rows.countLive(task.owner) > maxLive)`
  },
  // What handlers are promised.
  {
    name: "signal trusted",
    rule: "answer-late",
    file: fiberRunner,
    was: `const heartbeat = Duration.seconds(30)`,
    is: `const heartbeat = Duration.days(30)`
  },
  {
    name: "cancelled handler runs on",
    rule: "cancel-ignored",
    file: running,
    was: `if (task.attempt.standing !== "current") this.stop(task)`,
    is: ``
  },
  {
    name: "step not remembered",
    rule: "step-repeated",
    file: handle,
    was: `if (done !== undefined) {`,
    is: `if (globalThis.never) {`
  },
  {
    name: "older state of a task taken for the newest",
    rule: "step-repeated",
    file: attempt,
    was: `    if (stored.version <= this.stored.version) return
`,
    is: ``
  },
  {
    name: "step value lost in a race",
    rule: "step-differs",
    file: writer,
    was: `isConflict, () => afresh(taskId, command))`,
    is: `isConflict, () => Effect.succeed(target))`
  },
  {
    name: "taken up without a claim",
    rule: "started-unclaimed",
    file: fiberRunner,
    was: `const started = yield* running.patiently(take(left), () => !running.isDraining)`,
    is: `const started = left`
  },
  {
    name: "end of a handler taken for another",
    rule: "result-forged",
    file: running,
    was: `return Option.some({ _tag: "Release" })`,
    is: `return Option.some({ _tag: "Stop" })`
  },
  {
    name: "result replaced",
    rule: "result-forged",
    file: running,
    was: `result: outcome.result, isError`,
    is: `result: "{}", isError`
  },
  ...replicaSabotages,
  ...clientSabotages,
  // What the whole is promised.
  {
    name: "offer forgotten",
    rule: "nobody-responsible",
    file: fiberRunner,
    was: `isFirst(stored.task) ? Effect.flatMap(seated, (seat) => run(stored, request.call, seat)) : Effect.void`,
    is: `Effect.void`
  },
  {
    name: "left tasks not taken up",
    rule: "nobody-responsible",
    file: fiberRunner,
    was: `yield* Effect.forEach(page, takeUp, { concurrency: "unbounded", discard: true })`,
    is: ``
  },
  {
    name: "nothing expires by itself",
    rule: "never-ended",
    file: sweeper,
    was: `engine.apply(taskId, { _tag: "Expire", at }))`,
    is: `engine.apply(taskId, { _tag: "Expire", at: 0 }))`
  },
  {
    name: "overdue task shown as it is",
    rule: "expired-late",
    file: engine,
    was: `if (found.dueAt === null || found.dueAt > (yield* now)) return found`,
    is: `return found`
  },
  {
    name: "removed before its time",
    rule: "expired-early",
    file: sweeper,
    was: `store.due(at, batchSize + taken.size)`,
    is: `store.due(at + 15_000, batchSize + taken.size)`
  },
  {
    name: "version ignored",
    rule: "machine-bypassed",
    file: memory,
    was: `if (rows.get(taskId)?.version !== version) return Effect.fail(new VersionConflict({ taskId, version }))`,
    is: ``
  },
  {
    name: "task changed outside the machine",
    rule: "machine-bypassed",
    file: writer,
    was: `return store.replace(stored, next).pipe(`,
    is: `return store.replace(stored, { ...next, pollIntervalMs: 1 }).pipe(`
  },
  {
    name: "ordinary race taken for a broken invariant",
    rule: "defect",
    file: writer,
    was: `racing(answer(owner, taskId, given)),`,
    is: `Effect.catchTag(answer(owner, taskId, given), "VersionConflict", Effect.die),`
  },
  {
    name: "sweeper without rest",
    rule: "restless",
    file: sweeper,
    was: `rest: interval }`,
    is: `rest: Duration.millis(1) }`
  }
]
