/**
 * What must hold once everything has calmed down: nobody waits for what has come, nothing runs that was stopped, and
 * every live task is somebody's.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import type { RuleName, Violation } from "./Audit.ts"
import type { Process } from "./Process.ts"
import { asked, type HandlerRun, type TaskFile } from "./TaskFile.ts"

type Found = ReadonlyArray<Violation>

const breach = (rule: RuleName, detail: string): Found => [{ rule, detail }]

/**
 * How long a lost signal may cost: the longest heartbeat of the engine, and half as much again for a store that was
 * away.
 *
 * @since 0.1.0
 */
export const patienceMs = 45_000

/** Whether something has been so for longer than a lost signal explains. */
const isOverdue = (file: TaskFile, nowMs: number, isSo: (task: Task.Task) => boolean): boolean => {
  const since = file.versions.findLastIndex(({ stored }) => stored === undefined || !isSo(stored.task)) + 1
  const first = file.versions[since]
  return first !== undefined && nowMs - first.atMs > patienceMs
}

/** The run that has the right to write, while its process lives. */
const runOf = (file: TaskFile, task: Task.Task): HandlerRun | undefined =>
  file.runs.find((run) => run.attempt === task.attempt && run.process.isAlive)

/** Whether what a tool asked last under a key is answered. */
const isAnswered = (key: string) => (task: Task.Task): boolean => asked(task, key).at(-1)?.state === "answered"

/**
 * Whether a task has ended, or is to.
 *
 * @since 0.2.0
 */
export const isStopping = (task: Task.Task): boolean =>
  TaskInvariants.hasEnded(task) || (task.status === "working" && task.cancelRequested)

/**
 * How things are when tasks are judged.
 *
 * @since 0.1.0
 */
export interface Calm {
  readonly nowMs: number
  /** Whether the runner finds tasks whose creation failed for their caller. */
  readonly findsOrphans: boolean
  /** Whether there has been room for one more handler anywhere. */
  readonly hasRoom: boolean
  /** Whether there has been room in one process: a handler that gets its answer waits for a slot there. */
  readonly hasRoomIn: (process: Process) => boolean
  /** Whether a suspect is on trial: others wait for their trial meanwhile, for longer than a lost signal costs. */
  readonly isTrying: boolean
}

/**
 * What has been lost twice in a row may be what kills its processes, and is tried alone. An answer clears it of that,
 * but whoever stands in the line by then stays there.
 */
const isSuspect = (file: TaskFile, { attempt }: Task.Task): boolean =>
  file.versions.some(({ stored }) => stored?.task.attempt === attempt && isLostTwice(stored.task))

const isLostTwice = (task: Task.Task): boolean =>
  !TaskInvariants.hasEnded(task) && task.lostAttempts + (task.running ? 1 : 0) >= 2

/** For how long at most a handler is on trial, by a clock that goes slow. */
const longestTrialMs = 70_000

/**
 * Whether a handler is on trial, whatever has become of its task since it began. The next one is given its time to
 * begin, too.
 *
 * @since 0.2.0
 */
export const isTried = ({ runs }: TaskFile, nowMs: number): boolean =>
  runs.some(({ endedAtMs, process, triedFromMs = -Infinity }) =>
    endedAtMs === undefined && process.isAlive && nowMs - triedFromMs < longestTrialMs + patienceMs
  )

/**
 * Judges one task, at a time when all servers have been up and all messages have arrived for `patienceMs`.
 *
 * @since 0.1.0
 */
export const judge = (file: TaskFile, { findsOrphans, hasRoom, hasRoomIn, isTrying, nowMs }: Calm): Found => {
  const { now: task } = file
  const isOrphan = !findsOrphans && task !== undefined && isNobodys(file, task)
  const found: Array<Found> = []
  for (const run of file.runs.filter(({ endedAtMs, process }) => endedAtMs === undefined && process.isAlive)) {
    const isStopped = task === undefined || isOverdue(file, nowMs, isStopping)
    if (isStopped && nowMs > run.stubbornUntilMs + patienceMs) {
      found.push(breach("cancel-ignored", `${run.process.name} still runs ${file.name}`))
    }
    const key = run.attempt === task?.attempt && hasRoomIn(run.process)
      ? run.waits.find((key) => isOverdue(file, nowMs, isAnswered(key)))
      : undefined
    if (key !== undefined) found.push(breach("answer-late", `${key} of ${file.name} is answered, its handler waits`))
  }
  const isLive = task !== undefined && !TaskInvariants.hasEnded(task)
  const isInLine = isTrying && task !== undefined && isSuspect(file, task)
  if (hasRoom && isLive && isAbandoned(file, task, nowMs) && !isOrphan && !isInLine) {
    found.push(breach("nobody-responsible", `${file.name} is ${task.status} and runs nowhere`))
  }
  return found.flat()
}

/**
 * Whether a task may be nobody's until the next start, or until it expires, where only a start looks for tasks: one
 * whose creation failed for its caller, which no client knows of; and one that a process began after its death, which
 * its successor must take for another one's.
 */
const isNobodys = (file: TaskFile, { attempt }: Task.Task): boolean =>
  (!file.isAcknowledged && file.runs.length === 0) || file.claims.get(attempt)?.isPosthumous === true

/** Whether a live task has run nowhere for longer than others need to notice. */
const isAbandoned = (file: TaskFile, task: Task.Task, nowMs: number): boolean => {
  const run = runOf(file, task)
  return run === undefined || nowMs - (run.endedAtMs ?? nowMs) > patienceMs
}
