/**
 * What must hold of every change of the store, whoever made it.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import * as Result from "effect/Result"
import type { RuleName, Violation } from "./Audit.ts"
import type { Write } from "./Database.ts"
import type { Process } from "./Process.ts"
import * as replay from "./replay.ts"
import type { TaskFile } from "./TaskFile.ts"

type Found = ReadonlyArray<Violation>

const none: Found = []

const breach = (rule: RuleName, detail: string): Found => [{ rule, detail }]

/**
 * What is broken by a change, and which transition of the machine it is.
 *
 * @since 0.1.0
 */
export interface Judgement {
  readonly found: Found
  readonly transition: string | undefined
}

/**
 * A command that a process has given to a task; no more than its kind, where its engine adds the rest.
 *
 * @since 0.2.0
 */
export type Given = TaskCommand["_tag"] | TaskCommand

const tagOf = (given: Given): TaskCommand["_tag"] => typeof given === "string" ? given : given._tag

/**
 * Judges a change. `given` is what its process has given to the task and not been answered yet: where one of these
 * commands explains the change, it is known by which and at which instant it came about.
 *
 * @since 0.1.0
 */
export const judge = (write: Write, file: TaskFile, given: ReadonlyArray<Given>): Judgement => {
  const { after, before } = write
  if (after === undefined) return { found: removed(write, file), transition: undefined }
  if (before === undefined) return { found: broken(file, TaskInvariants.ofState(after.task)), transition: undefined }
  const matching = explained(write.process, given, { before: before.task, after: after.task })
  const [transition] = matching
  const breaches = matching.map(({ command }) => TaskInvariants.ofStep(before.task, command, after.task))
  return {
    found: [
      ...after.version === before.version + 1 ? none : breach("machine-bypassed", `${file.name} skips a version`),
      ...broken(file, breaches.toSorted(byLength)[0] ?? TaskInvariants.ofChange(before.task, after.task)),
      ...transition === undefined ? breach("machine-bypassed", describe(write, file)) : none,
      ...fenced(write, file),
      ...taken(write, file),
      ...punished(write, file),
      ...expired(write, file),
      ...cancelled(after.task, file),
      ...ended(write, file),
      ...fitting(after.task, file)
    ],
    transition: transition?.name
  }
}

/** The steps that lead from one state to another: of what was given, where that explains it. */
const explained = (
  { latest }: Process,
  given: ReadonlyArray<Given>,
  { after, before }: { readonly before: Task.Task; readonly after: Task.Task }
): ReadonlyArray<replay.Transition> => {
  const whole = given.flatMap((one) => typeof one === "string" ? [] : [one])
  const known = replay.among(whole, before, after)
  if (known.length > 0) return known
  const matching = replay.find(before, after, [latest])
  const tags = new Set(given.map(tagOf))
  const likely = matching.filter(({ command }) => tags.has(command._tag))
  return likely.length > 0 ? likely : matching
}

/** Several commands may lead from one state to another: the change is the fault of none if one of them explains it. */
const byLength = (self: ReadonlyArray<string>, that: ReadonlyArray<string>): number => self.length - that.length

const broken = (file: TaskFile, breaches: ReadonlyArray<string>): Found =>
  breaches.flatMap((text) => breach("invariant-broken", `${file.name}: ${text}`))

/**
 * Judges what is to replace a task.
 *
 * @since 0.2.0
 */
export const wished = (file: TaskFile, task: Task.Task): Found => broken(file, TaskInvariants.ofState(task))

/**
 * Judges a command that was granted, whether or not it has changed anything: by how the task is now, it would not.
 *
 * @since 0.2.0
 */
export const granted = (file: TaskFile, command: TaskCommand, task: Task.Task): Found => {
  const next = TaskMachine.step(task, command)
  const isSilent = Result.isSuccess(next) && next.success === task
  return isSilent ? broken(file, TaskInvariants.ofStep(task, command, task)) : none
}

const describe = ({ after, before, process }: Write, file: TaskFile): string =>
  `${process.name} made of ${file.name} ${JSON.stringify(before?.task)} this: ${JSON.stringify(after?.task)}`

/** An ended task goes when it is due by the clock of whoever removes it, or when its outcome was the call's answer. */
const removed = ({ before, process }: Write, file: TaskFile): Found => {
  if (before === undefined) return none
  const { task } = before
  if (!TaskInvariants.hasEnded(task)) return breach("create-lost", `${file.name} was removed, and is ${task.status}`)
  const isDelivered = task.tool === "quick" && !file.isAcknowledged
  return isDelivered || TaskInvariants.isOver(task, process.latest)
    ? none
    : breach("expired-early", `${file.name} was removed before its deadline`)
}

/** What only the holder of an attempt may change. */
const isWorkers = (before: Task.Task, after: Task.Task): boolean =>
  after.steps.length > before.steps.length ||
  after.status === "completed" ||
  after.questions.some(({ state }, index) =>
    state !== before.questions[index]?.state &&
    (state === "outstanding" || (state === "withdrawn" && !TaskInvariants.hasEnded(after)))
  ) ||
  (!TaskInvariants.hasEnded(after) && (after.statusMessage !== before.statusMessage || after.ttlMs !== before.ttlMs ||
    (!after.running && "running" in before && before.running)))

const fenced = ({ after, before, process }: Write, file: TaskFile): Found => {
  if (before === undefined || after === undefined || !isWorkers(before.task, after.task)) return none
  const holder = file.claims.get(before.task.attempt)?.process
  return holder === process
    ? none
    : breach("two-writers", `${process.name} wrote to ${file.name}, whose attempt is of ${holder?.name ?? "nobody"}`)
}

/** How long it may take until others know of it and all that they have begun before is over, in milliseconds. */
const newsMs = 30_000

/** Whether the holder of an attempt has long shown that it is alive, or could have. */
const isAwake = (holder: Process): boolean => {
  const { beats, isAlive, world: { calmSinceMs = Infinity, now } } = holder
  return holder.hasBeaten(newsMs) || (isAlive && beats !== undefined && now - calmSinceMs > newsMs)
}

/** An attempt is lost when its holder is dead, or seems to be; never to the holder itself. */
const taken = ({ after, before, process }: Write, file: TaskFile): Found => {
  if (before === undefined || after === undefined) return none
  const holder = file.claims.get(before.task.attempt)?.process
  const isLost = after.task.lostAttempts > before.task.lostAttempts
  return isLost && holder !== undefined && (holder === process || isAwake(holder))
    ? breach("taken-from-living", `${process.name} takes ${file.name} from ${holder.name}`)
    : none
}

/** Who waits for its client has not taken its process along, however often that dies. */
const punished = ({ after, before }: Write, file: TaskFile): Found => {
  const isPunished = after?.task.status === "failed" && after.task.error.message.includes("too often")
  if (!isPunished || before === undefined) return none
  const waits = file.waits.get(before.task.attempt) ?? []
  return before.task.questions.some(({ key, state }) => state === "outstanding" && waits.includes(key))
    ? breach("wait-punished", `${file.name} failed while its attempt ${before.task.attempt} waited`)
    : none
}

const expired = ({ after, before, process }: Write, file: TaskFile): Found => {
  const isExpiry = after?.task.status === "failed" && after.task.error.message.includes("expired")
  return !isExpiry || before === undefined || TaskInvariants.isOver(before.task, process.latest)
    ? none
    : breach("expired-early", `${process.name} failed ${file.name} before its deadline`)
}

/** A task whose client went away before it knew of it may be stopped: nobody would. */
const cancelled = (after: Task.Task, file: TaskFile): Found =>
  after.status === "cancelled" && !file.isCancelSent && file.isAcknowledged
    ? breach("cancel-invented", file.name)
    : none

const Said = /"structuredContent":\{"said":(\[.*?\])\}/

/** How a handler must have meant to end, by how its task ended; `undefined` where it is not the handler's end. */
const meaning = (task: Task.Task): ReadonlyArray<string> | undefined => {
  if (task.status === "completed") return [task.isError ? "error" : `ok ${Said.exec(task.result)?.[1]}`]
  if (task.status !== "failed") return undefined
  const { code, message } = task.error
  if (code === 4050) return ["protocol"]
  // One question or step too many ends its task, also from a fiber that the handler does not wait for.
  if (message.includes("was stopped")) return isAtLimit(task) ? undefined : ["die"]
  if (message.includes("unexpectedly")) return ["die"]
  return message.includes("was interrupted") ? ["interrupt"] : undefined
}

const isAtLimit = ({ policy, questions, steps }: Task.Task): boolean =>
  questions.length >= policy.maxQuestions || steps.length >= policy.maxSteps

/** A task ends as its handler ended, in the process that holds the attempt. */
const ended = ({ after, process }: Write, file: TaskFile): Found => {
  const meant = after === undefined ? undefined : meaning(after.task)
  if (after === undefined || meant === undefined) return none
  const isMeant = file.runs.some((run) =>
    run.process === process && run.attempt === after.task.attempt && meant.some((end) => run.means === end)
  )
  return isMeant ? none : breach("result-forged", `${file.name} ended as ${meant.join(" or ")}`)
}

/** An answer that was taken fits its question: a word, or none. */
const fitting = (after: Task.Task, file: TaskFile): Found =>
  after.questions.flatMap((question) => {
    if (question.state !== "answered") return none
    const { action, content } = Object(question.response)
    const isFit = action === "decline" || action === "cancel" ||
      (action === "accept" && typeof content?.word === "string")
    return isFit ? none : breach("answer-unfit", `${file.name}, ${question.key}: ${JSON.stringify(question.response)}`)
  })
