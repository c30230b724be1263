/**
 * The client's half of a task's life: a view in, what to do next out.
 *
 * Pure: time is a parameter (`at`, epoch milliseconds of the client's clock), and so is chance (`jitter`). Whoever
 * drives it polls, listens and asks; polls, notifications and resumed runs all go through `observe`.
 *
 * **Guarantees**
 *
 * 1. The view never goes back: an older one than the newest is not taken, and a terminal one is the last.
 * 2. `next` hands out each input key once in the observer's life, whatever repeats it.
 * 3. The time between two polls follows the latest `pollIntervalMs`, within bounds, and is never shortened by jitter.
 * 4. A task that outlives its ttl, or that stands still for too long, is noticed.
 *
 * Source: ext-tasks, "Task Polling" and "Task Update Requests".
 *
 * @since 0.1.0
 */
import * as TaskView from "./TaskView.ts"

/**
 * Bounds on a task's observation, all in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** The shortest time between two polls. */
  readonly minPollMs: number
  /** The longest time between two polls. */
  readonly maxPollMs: number
  /** The time between two polls where the server gives no hint. */
  readonly defaultPollMs: number
  /** The shortest time between two polls while notifications arrive: the safety net under them. */
  readonly listeningPollMs: number
  /** How long a task may show no change, and wait for nobody, until it counts as stuck. */
  readonly stuckAfterMs: number
  /** How long after its ttl a task may still be seen alive. */
  readonly ttlGraceMs: number
}

/**
 * The limits used when none are given: polls between 200 ms and an hour apart, each second without a hint, every 30
 * seconds beneath notifications; stuck after a day, expired a minute after the ttl.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultLimits: Limits = {
  minPollMs: 200,
  maxPollMs: 3_600_000,
  defaultPollMs: 1000,
  listeningPollMs: 30_000,
  stuckAfterMs: 86_400_000,
  ttlGraceMs: 60_000
}

/**
 * What is known about a task, as one immutable value.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskObserver {
  readonly limits: Limits
  /** The newest view. */
  readonly view: TaskView.TaskView
  /** The questions that wait, by key, whether asked yet or not. */
  readonly outstanding: ReadonlyMap<string, TaskView.InputRequest>
  /** The keys that `next` has handed out, and those of them that are answered. */
  readonly keys: ReadonlyMap<string, "asked" | "answered">
  /** The time between two polls, within bounds. */
  readonly pollMs: number
  readonly firstSeenAt: number
  /** When something about the task last changed. */
  readonly changedAt: number
  /** When the server last said anything about the task. */
  readonly heardAt: number
  /** Whether the server has said that there is no such task. */
  readonly isGone: boolean
}

/**
 * Where an observation begins.
 *
 * **Details**
 *
 * `keys` are those that an earlier run has handled: an `"asked"` one that this run is to ask again is left out.
 * `firstSeenAt` is when an earlier run first saw the task; the ttl counts from there, so that the clocks of client and
 * server need not agree.
 *
 * @category models
 * @since 0.1.0
 */
export interface Beginning {
  readonly view: TaskView.TaskView
  readonly at: number
  readonly limits?: Limits | undefined
  readonly keys?: ReadonlyMap<string, "asked" | "answered"> | undefined
  readonly firstSeenAt?: number | undefined
}

/**
 * A question to answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Question {
  readonly key: string
  readonly request: TaskView.InputRequest
}

/**
 * Why an observation is over.
 *
 * **Details**
 *
 * `Expired` is a task past its ttl, or one that the server does not know: servers do not tell the two apart. `Stuck`
 * is a task that has not changed for `idleMs`; it may still go on one day, so its id is worth keeping.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | { readonly _tag: "Ended"; readonly view: TaskView.Terminal }
  | { readonly _tag: "Expired" }
  | { readonly _tag: "Stuck"; readonly idleMs: number }

/**
 * What to do next: wait and then poll, answer questions, or stop.
 *
 * @category models
 * @since 0.1.0
 */
export type Action =
  | { readonly _tag: "Wait"; readonly ms: number }
  | { readonly _tag: "Answer"; readonly questions: ReadonlyArray<Question> }
  | { readonly _tag: "Done"; readonly outcome: Outcome }

/**
 * The circumstances of a step: the time, a number from 0 to 1 drawn by chance, and whether notifications arrive.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moment {
  readonly at: number
  readonly jitter: number
  readonly listening: boolean
}

/** Jitter adds up to this part of the interval, so that clients that start together do not poll together. */
const spread = 0.2

const within = (low: number, value: number, high: number): number => Math.min(Math.max(value, low), high)

const pollMsOf = (limits: Limits, hint: number | undefined, otherwise: number): number =>
  within(limits.minPollMs, hint ?? otherwise, limits.maxPollMs)

const questionsOf = (view: TaskView.TaskView): ReadonlyMap<string, TaskView.InputRequest> =>
  view.status === "input_required" ? view.inputRequests : new Map()

/**
 * Begins an observation.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ at, firstSeenAt = at, keys, limits = defaultLimits, view }: Beginning): TaskObserver => ({
  limits,
  view,
  outstanding: questionsOf(view),
  keys: keys ?? new Map(),
  pollMs: pollMsOf(limits, view.pollIntervalMs, limits.defaultPollMs),
  firstSeenAt,
  changedAt: at,
  heardAt: at,
  isGone: false
})

/** At one instant a task that waits for its client is later than one that works. */
const rank = (view: TaskView.TaskView): number => view.status === "working" ? 0 : 1

const isOlder = (seen: TaskView.TaskView, newest: TaskView.TaskView): boolean => {
  if (TaskView.isTerminal(seen)) return false
  const [then, now] = [seen.lastUpdatedAt, newest.lastUpdatedAt]
  if (then === undefined || now === undefined) return false
  return then < now || (then === now && rank(seen) < rank(newest))
}

/**
 * A server's clock may step back, and then its questions carry times that are too early. So an older view brings no
 * state, but the questions that nobody has seen yet.
 */
const overtaken = (observer: TaskObserver, seen: TaskView.TaskView, heardAt: number): TaskObserver => {
  const { keys, outstanding } = observer
  const unseen = Array.from(questionsOf(seen)).filter(([key]) => !keys.has(key) && !outstanding.has(key))
  return { ...observer, heardAt, outstanding: new Map([...outstanding, ...unseen]) }
}

/**
 * Takes what the server says about the task, from an answer or a notification.
 *
 * **Details**
 *
 * A view of another task changes nothing, and neither does anything after the end.
 *
 * @category transitions
 * @since 0.1.0
 */
export const observe = (observer: TaskObserver, seen: TaskView.TaskView, at: number): TaskObserver => {
  const { limits, view } = observer
  if (seen.taskId !== view.taskId || TaskView.isTerminal(view) || observer.isGone) return observer
  const heardAt = Math.max(observer.heardAt, at)
  if (isOlder(seen, view)) return overtaken(observer, seen, heardAt)
  const stands = TaskView.isSame(seen, view) && seen.lastUpdatedAt === view.lastUpdatedAt
  return {
    ...observer,
    view: seen,
    outstanding: questionsOf(seen),
    pollMs: pollMsOf(limits, seen.pollIntervalMs, observer.pollMs),
    changedAt: stands ? observer.changedAt : heardAt,
    heardAt
  }
}

/**
 * Takes the server's word that there is no such task. A task that has ended stays as it ended.
 *
 * @category transitions
 * @since 0.1.0
 */
export const gone = (observer: TaskObserver): TaskObserver =>
  TaskView.isTerminal(observer.view) ? observer : { ...observer, isGone: true }

/**
 * Notes that a question was answered, by whomever. It is never handed out again.
 *
 * @category transitions
 * @since 0.1.0
 */
export const answered = (observer: TaskObserver, key: string, at: number): TaskObserver => ({
  ...observer,
  keys: new Map(observer.keys).set(key, "answered"),
  // The server has something to do again, so the time to stand still begins anew.
  changedAt: Math.max(observer.changedAt, at)
})

/**
 * Tells whether an answer to a key is still worth sending: the question is outstanding and unanswered.
 *
 * @category queries
 * @since 0.1.0
 */
export const isAnswerable = (observer: TaskObserver, key: string): boolean =>
  observer.outstanding.has(key) && observer.keys.get(key) !== "answered" && !observer.isGone

/** Whether a question is with the user, so that nobody can say the task stands still. */
const isWithUser = ({ keys, outstanding }: TaskObserver): boolean => {
  for (const key of outstanding.keys()) if (keys.get(key) !== "answered") return true
  return false
}

/** Judged by when the server was last heard, so that a client that slept asks once more before it gives up. */
const outcomeOf = (observer: TaskObserver): Outcome | undefined => {
  const { changedAt, firstSeenAt, heardAt, limits, view } = observer
  if (TaskView.isTerminal(view)) return { _tag: "Ended", view }
  if (observer.isGone) return { _tag: "Expired" }
  if (typeof view.ttlMs === "number" && heardAt > firstSeenAt + view.ttlMs + limits.ttlGraceMs) {
    return { _tag: "Expired" }
  }
  const idleMs = heardAt - changedAt
  return idleMs >= limits.stuckAfterMs && !isWithUser(observer) ? { _tag: "Stuck", idleMs } : undefined
}

/**
 * Says what to do next, and what is known once that is being done: questions that are handed out count as asked.
 *
 * **Details**
 *
 * After `Answer`, ask again at once for what else there is to do: questions are answered while the polling goes on,
 * since a task may end, or withdraw its question, before its user has decided.
 *
 * @category transitions
 * @since 0.1.0
 */
export const next = (observer: TaskObserver, moment: Moment): readonly [TaskObserver, Action] => {
  const outcome = outcomeOf(observer)
  if (outcome !== undefined) return [observer, { _tag: "Done", outcome }]
  const questions: Array<Question> = []
  for (const [key, request] of observer.outstanding) if (!observer.keys.has(key)) questions.push({ key, request })
  if (questions.length > 0) {
    const keys = new Map(observer.keys)
    for (const { key } of questions) keys.set(key, "asked")
    return [{ ...observer, keys }, { _tag: "Answer", questions }]
  }
  return [observer, { _tag: "Wait", ms: waitMs(observer, moment) }]
}

const waitMs = ({ heardAt, limits, pollMs }: TaskObserver, { at, jitter, listening }: Moment): number => {
  const interval = listening ? Math.max(pollMs, limits.listeningPollMs) : pollMs
  const late = Number.isFinite(jitter) ? within(0, jitter, 1) * spread * interval : 0
  // A clock that was set back must not make the wait longer than the interval.
  return within(0, Math.ceil(heardAt + interval + late - at), Math.ceil(interval + late))
}
