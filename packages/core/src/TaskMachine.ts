/**
 * The lifecycle of a task as a pure state machine: the only place where one state becomes another.
 *
 * `decide` says what a command leads to, `evolve` applies what has happened, `step` does both. There is no clock, no
 * randomness and no storage here: time is a field of the command, and the same task and command give the same events.
 *
 * **Invariants**
 *
 * 1. A terminal state never changes. Late answers and cancels are acknowledged without effect; every other late
 *    command is refused.
 * 2. A task is `input_required` if and only if at least one of its questions is outstanding.
 * 3. An input key names one request for the whole life of its task, and is put to the client at most once. Asking
 *    again under an answered key asks nothing, since the stored answer stands; under an outstanding key with the same
 *    request it attaches again; under a withdrawn key, which clients may have answered or dropped already, or with
 *    another request it is refused.
 * 4. `lastUpdatedAt` never goes back, and moves with every change that a client can see.
 * 5. `Start` raises `attempt`. Every command of a worker carries its attempt and is refused when that is no longer
 *    the current one, so two workers can never both write. A `Start` that says which attempt it is to follow is
 *    refused alike, so of several workers one starts. The one that did is acknowledged when it says the same again,
 *    since the answer to its first `Start` may have been lost; that is no lost attempt.
 * 6. Cancelling is cooperative. A task that is not running, or that waits for input, is cancelled at once; a running
 *    one is asked to stop, and the state its handler really ends in wins. Handing a task back is never a cancel.
 * 7. The journal, which is the answers and the recorded steps, only grows.
 * 8. A live task that reaches its deadline fails. On a terminal transition `ttlMs` is raised where needed, so that
 *    the outcome stays readable for the policy's `resultTtlMs`.
 * 9. `lostAttempts` counts attempts lost in a row: what is asked, given up, answered or recorded begins the count anew,
 *    and so does a handler that waits again for an open question. While one is open, the attempt that waited may be
 *    lost on top. So a task that waits for its client outlives any number of processes; one that kills them fails.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { interrupted, lostTooOften, notRepeatable, timedOut } from "./internal/failures.ts"
import { jsonEqual } from "./internal/jsonEqual.ts"
import type {
  CompletedTask,
  InputRequest,
  InputRequiredTask,
  LiveTask,
  Question,
  Task,
  TaskError,
  WorkingTask
} from "./Task.ts"
import { findQuestion, findStep, isDue, isTerminal } from "./Task.ts"
import type { Named, TaskCommand, WorkerCommand } from "./TaskCommand.ts"
import type { TaskEvent } from "./TaskEvent.ts"
import * as TaskJournal from "./TaskJournal.ts"

/**
 * Why a command was refused.
 *
 * **Details**
 *
 * - `Terminal`: the task has ended.
 * - `StaleAttempt`: another worker has taken the task since, or it was handed back.
 * - `KeyReused`: the input key already names another request.
 * - `KeyWithdrawn`: the input key named this request and was given up; whoever asks again takes another key.
 * - `StepReused`: the step name already holds another value.
 * - `TooManyQuestions`, `TooManySteps`: the policy's limit is reached.
 * - `NotDue`: the deadline has not been reached.
 *
 * @category errors
 * @since 0.1.0
 */
export type RejectedReason =
  | "Terminal"
  | "StaleAttempt"
  | "KeyReused"
  | "KeyWithdrawn"
  | "StepReused"
  | "TooManyQuestions"
  | "TooManySteps"
  | "NotDue"

/**
 * The refusal of a command: a value, not an exception.
 *
 * @category errors
 * @since 0.1.0
 */
export interface TaskRejected {
  readonly _tag: "TaskRejected"
  readonly reason: RejectedReason
  readonly taskId: string
  readonly command: TaskCommand["_tag"]
}

/**
 * What a new task is made of.
 *
 * @category models
 * @since 0.1.0
 */
export type NewTask =
  & Pick<
    WorkingTask,
    "taskId" | "owner" | "tool" | "arguments" | "capabilities" | "policy" | "ttlMs" | "pollIntervalMs" | "traceparent"
  >
  & {
    readonly at: number
    /** What its call has gathered before: under these keys and names it asks and does nothing again. */
    readonly journal?: TaskJournal.TaskJournal | undefined
  }

type Started = Extract<TaskEvent, { readonly _tag: "Started" }>

type Decision = Result.Result<ReadonlyArray<TaskEvent>, TaskRejected>

const nothing: Decision = Result.succeed([])

const happened = (...events: ReadonlyArray<TaskEvent>): Decision => Result.succeed(events)

const refuse = (task: Task, command: TaskCommand, reason: RejectedReason): Decision =>
  Result.fail({ _tag: "TaskRejected", reason, taskId: task.taskId, command: command._tag })

/**
 * Makes a task that waits to be started.
 *
 * @category constructors
 * @since 0.1.0
 */
export const create = ({ at, journal = TaskJournal.empty, ...task }: NewTask): WorkingTask => ({
  ...task,
  status: "working",
  createdAt: at,
  lastUpdatedAt: at,
  attempt: 0,
  lostAttempts: 0,
  questions: journal.answers,
  steps: journal.steps,
  running: false,
  cancelRequested: false
})

/**
 * Says what a command leads to: the events it causes, none where it is acknowledged without effect, or its refusal.
 *
 * @category transitions
 * @since 0.1.0
 */
export const decide = (task: Task, command: TaskCommand): Decision => {
  if (isTerminal(task)) {
    return command._tag === "Answer" || command._tag === "Cancel" ? nothing : refuse(task, command, "Terminal")
  }
  switch (command._tag) {
    case "Start":
      return start(task, command)
    case "Answer":
      return answer(task, command)
    case "Cancel":
      return cancel(task, command)
    case "Expire":
      return isDue(task, command.at) ? happened(expired(task, command.at)) : refuse(task, command, "NotDue")
    default:
      return task.running && task.attempt === command.attempt
        ? decideWorker(task, command)
        : refuse(task, command, "StaleAttempt")
  }
}

const decideWorker = (task: LiveTask, command: WorkerCommand): Decision => {
  const at = dated(task, command.at)
  switch (command._tag) {
    case "Report":
      return command.message === task.statusMessage
        ? nothing
        : happened({ _tag: "Reported", at, message: command.message })
    case "Ask":
      return ask(task, command)
    case "Withdraw":
      return findQuestion(task, command.key)?.state === "outstanding"
        ? happened({ _tag: "InputWithdrawn", at, key: command.key })
        : nothing
    case "RecordStep":
      return recordStep(task, command)
    case "Extend":
      return extend(task, command)
    case "Complete": {
      const { isError, result } = command
      return happened({ _tag: "Completed", at, ttlMs: resultTtl(task, at), result, isError })
    }
    case "Fail":
      return happened(failed(task, at, command.error))
    case "Stop":
      return happened(isCancelRequested(task) ? cancelled(task, at) : failed(task, at, interrupted))
    case "Release":
      return release(task, at)
  }
}

const start = (task: LiveTask, command: Named<"Start">): Decision => {
  const at = dated(task, command.at)
  if (isDue(task, command.at)) return happened(expired(task, command.at))
  const isRepeated = isSameClaim(task, command)
  const isStale = command.after !== undefined && command.after !== task.attempt
  if (isStale && !isRepeated) return refuse(task, command, "StaleAttempt")
  if (isCancelRequested(task)) return happened(cancelled(task, at))
  if (isRepeated) return nothing
  const started: TaskEvent = {
    _tag: "Started",
    at,
    attempt: task.attempt + 1,
    ...(command.worker === undefined ? {} : { worker: command.worker })
  }
  if (!task.running) return happened(started)
  const lost: TaskEvent = { _tag: "AttemptLost", at }
  if (task.policy.recovery === "fail") return happened(lost, failed(task, at, notRepeatable))
  if (task.lostAttempts >= allowance(task)) return happened(lost, failed(task, at, lostTooOften))
  return happened(lost, started)
}

/** How many attempts may be lost before the next one that is lost ends the task (invariant 9). */
const allowance = ({ policy, status }: LiveTask) => policy.maxLostAttempts + (status === "input_required" ? 1 : 0)

/** Whether the running attempt is the one that this very `Start` began: the same worker, after the same attempt. */
const isSameClaim = (task: LiveTask, { after, worker }: Named<"Start">): boolean =>
  task.running && worker !== undefined && worker === task.worker && after !== undefined && after + 1 === task.attempt

const ask = (task: LiveTask, command: Named<"Ask">): Decision => {
  const { key, request } = command
  const known = findQuestion(task, key)
  if (known !== undefined && !sameRequest(known.request, request)) return refuse(task, command, "KeyReused")
  if (known?.state === "withdrawn") return refuse(task, command, "KeyWithdrawn")
  const at = dated(task, command.at)
  if (known !== undefined) {
    return known.state === "answered" || task.lostAttempts === 0 ? nothing : happened({ _tag: "InputAwaited", at, key })
  }
  if (task.questions.length >= task.policy.maxQuestions) return refuse(task, command, "TooManyQuestions")
  // A task that would wait for input can be cancelled at once, and its client has already asked for that.
  return happened(isCancelRequested(task) ? cancelled(task, at) : { _tag: "InputRequested", at, key, request })
}

const sameRequest = (self: InputRequest, that: InputRequest): boolean =>
  self.method === that.method && jsonEqual(self.params, that.params)

const answer = (task: LiveTask, command: Named<"Answer">): Decision => {
  const taken = new Set<string>()
  const [first, ...rest] = command.responses.filter(({ key }) => {
    if (taken.has(key) || findQuestion(task, key)?.state !== "outstanding") return false
    taken.add(key)
    return true
  })
  if (first === undefined) return nothing
  return happened({ _tag: "InputAnswered", at: dated(task, command.at), responses: [first, ...rest] })
}

const recordStep = (task: LiveTask, command: Named<"RecordStep">): Decision => {
  const { name, value } = command
  const known = findStep(task, name)
  if (known !== undefined) return jsonEqual(known.value, value) ? nothing : refuse(task, command, "StepReused")
  if (task.steps.length >= task.policy.maxSteps) return refuse(task, command, "TooManySteps")
  return happened({ _tag: "StepRecorded", at: dated(task, command.at), name, value })
}

const extend = (task: LiveTask, command: Named<"Extend">): Decision => {
  const at = dated(task, command.at)
  const ttlMs = life(task, at, command.ttlMs)
  return task.ttlMs === null || ttlMs <= task.ttlMs ? nothing : happened({ _tag: "Extended", at, ttlMs })
}

const release = (task: LiveTask, at: number): Decision => {
  if (isCancelRequested(task)) return happened(cancelled(task, at))
  if (task.policy.recovery === "fail") return happened(failed(task, at, notRepeatable))
  return happened({ _tag: "Released", at })
}

const cancel = (task: LiveTask, command: Named<"Cancel">): Decision => {
  const at = dated(task, command.at)
  if (task.status === "input_required" || !task.running) return happened(cancelled(task, at))
  return task.cancelRequested ? nothing : happened({ _tag: "CancelRequested", at })
}

const isCancelRequested = (task: LiveTask): boolean => task.status === "working" && task.cancelRequested

/** Clocks step back; the history of a task does not (invariant 4). */
const dated = (task: Task, at: number): number => Math.max(at, task.lastUpdatedAt)

/** Invariant 8: whoever ends a task leaves its outcome readable for as long as the policy promises. */
const resultTtl = (task: Task, at: number): number | null =>
  task.ttlMs === null ? null : Math.max(task.ttlMs, life(task, at, task.policy.resultTtlMs))

/** The life time of a task that is to live for `ms` more from `at`; a wish beyond all integers is for the longest. */
const life = (task: Task, at: number, ms: number): number =>
  Math.min(at - task.createdAt + ms, Number.MAX_SAFE_INTEGER)

const cancelled = (task: Task, at: number): TaskEvent => ({ _tag: "Cancelled", at, ttlMs: resultTtl(task, at) })

const failed = (task: Task, at: number, error: TaskError): TaskEvent => ({
  _tag: "Failed",
  at,
  ttlMs: resultTtl(task, at),
  error
})

const expired = (task: Task, at: number): TaskEvent => failed(task, dated(task, at), timedOut)

/**
 * Applies what has happened. Total: every event applies to every task, and none changes a terminal one.
 *
 * @category transitions
 * @since 0.1.0
 */
export const evolve = (task: Task, event: TaskEvent): Task => {
  if (isTerminal(task)) return task
  switch (event._tag) {
    case "Started":
      return taken(task, event)
    case "AttemptLost":
      return { ...task, running: false, lostAttempts: task.lostAttempts + 1 }
    case "Released":
      return { ...task, running: false }
    case "StepRecorded":
      return { ...task, lostAttempts: 0, steps: [...task.steps, { name: event.name, value: event.value }] }
    case "InputAwaited":
      return { ...task, lostAttempts: 0 }
    case "CancelRequested":
      return task.status === "working" ? { ...task, cancelRequested: true } : task
    case "Reported":
      return { ...task, lastUpdatedAt: moved(task, event.at), statusMessage: event.message }
    case "Extended":
      return { ...task, lastUpdatedAt: moved(task, event.at), ttlMs: event.ttlMs }
    case "InputRequested":
      return findQuestion(task, event.key) === undefined
        ? asking(task, event.at, [...task.questions, { key: event.key, request: event.request, state: "outstanding" }])
        : task
    case "InputWithdrawn":
      return asking(
        task,
        event.at,
        task.questions.map((question) => question.key === event.key ? withdrawn(question) : question)
      )
    case "InputAnswered":
      return asking(
        task,
        event.at,
        task.questions.map((question) => {
          const found = event.responses.find(({ key }) => key === question.key)
          return found === undefined || question.state !== "outstanding"
            ? question
            : { key: question.key, request: question.request, state: "answered", response: found.response }
        })
      )
    case "Completed":
      return { ...ended(task, event), status: "completed", result: event.result, isError: event.isError }
    case "Failed":
      return { ...ended(task, event), status: "failed", statusMessage: event.error.message, error: event.error }
    case "Cancelled":
      return { ...ended(task, event), status: "cancelled" }
  }
}

/** An attempt of nobody in particular does not keep the name of the worker before it. */
const taken = ({ worker: _, ...task }: LiveTask, { attempt, worker }: Started): LiveTask => ({
  ...task,
  attempt,
  running: true,
  ...(worker === undefined ? {} : { worker })
})

/** Invariant 4: a visible change moves `lastUpdatedAt`, even within one millisecond of a clock that stands still. */
const moved = (task: Task, at: number): number => Math.max(at, task.lastUpdatedAt + 1)

/** Invariant 2: the status follows from the questions. */
const asking = (task: LiveTask, at: number, questions: ReadonlyArray<Question>): WorkingTask | InputRequiredTask => {
  const { cancelRequested, ...fields } = { cancelRequested: false, ...task }
  const next = { ...fields, lastUpdatedAt: moved(task, at), lostAttempts: 0, questions }
  return questions.some(({ state }) => state === "outstanding")
    ? { ...next, status: "input_required" }
    : { ...next, status: "working", cancelRequested }
}

const withdrawn = (question: Question): Question =>
  question.state === "outstanding" ? { key: question.key, request: question.request, state: "withdrawn" } : question

type Ended = Omit<CompletedTask, "status" | "result" | "isError">

const ended = (task: LiveTask, { at, ttlMs }: { readonly at: number; readonly ttlMs: number | null }): Ended => {
  const { cancelRequested: _, running: __, status: ___, statusMessage: ____, ...fields } = {
    cancelRequested: false,
    statusMessage: "",
    ...task
  }
  // Nobody waits for an answer any more (invariant 2).
  const questions = task.status === "input_required" ? task.questions.map(withdrawn) : task.questions
  return { ...fields, lastUpdatedAt: moved(task, at), ttlMs, questions }
}

/**
 * Decides a command and applies its events: the next state, or the refusal.
 *
 * **Details**
 *
 * A command that is acknowledged without effect gives back the very same task, so `===` tells that nothing changed.
 *
 * @category transitions
 * @since 0.1.0
 */
export const step = (task: Task, command: TaskCommand): Result.Result<Task, TaskRejected> =>
  Result.map(decide(task, command), (events) => events.reduce(evolve, task))
