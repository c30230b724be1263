/**
 * The nine invariants of the task machine, written a second time and without it: given two states, or two states and
 * the command between them, they say which invariant is broken. An empty list is a state or a step as it should be.
 *
 * Each breach begins with the number of its invariant in `TaskMachine`.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as Equal from "effect/Equal"
import * as Schema from "effect/Schema"

/**
 * What is broken, in words for people.
 *
 * @category models
 * @since 0.1.0
 */
export type Breaches = ReadonlyArray<string>

/** What ought to be, with what to say when it is not. */
type Expected = readonly [holds: boolean, otherwise: string]

const breaches = (...expected: ReadonlyArray<Expected>): Breaches =>
  expected.flatMap(([holds, otherwise]) => holds ? [] : [otherwise])

const isTask = Schema.is(Task.Task)

/**
 * Tells whether a task has ended, by its status alone.
 *
 * @category guards
 * @since 0.1.0
 */
export const hasEnded = (task: Task.Task): task is Task.TerminalTask =>
  task.status === "completed" || task.status === "failed" || task.status === "cancelled"

/**
 * Tells whether the life of a task is over at an instant.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOver = (task: Task.Task, at: number): boolean => task.ttlMs !== null && task.createdAt + task.ttlMs <= at

const open = (task: Task.Task) => task.questions.filter(({ state }) => state === "outstanding")

const same = (self: unknown, that: unknown): boolean => Equal.equals(self, that)

const areUnique = (names: ReadonlyArray<string>): boolean => new Set(names).size === names.length

const isPrefix = (before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): boolean =>
  before.every((item, index) => same(item, after[index]))

/** What a client sees of a task, without the instant of its last update. */
const visible = (task: Task.Task) => [
  task.status,
  task.statusMessage,
  task.ttlMs,
  task.pollIntervalMs,
  task.status === "input_required" && open(task),
  task.status === "completed" && task.result,
  task.status === "failed" && task.error
]

/** The attempt that waited for an open question, and the last one of a task that ended with it. */
const allowed = (task: Task.Task): number => {
  if (hasEnded(task)) return 2
  return task.status === "input_required" ? 1 : 0
}

/**
 * What is broken in one state by itself.
 *
 * @category checks
 * @since 0.1.0
 */
export const ofState = (task: Task.Task): Breaches =>
  breaches(
    [isTask(task), "0: a task follows its schema"],
    [(task.status === "input_required") === (open(task).length > 0), "2: input_required means outstanding"],
    [areUnique(task.questions.map(({ key }) => key)), "3: a key names one request"],
    [areUnique(task.steps.map(({ name }) => name)), "7: a name names one step"],
    [task.questions.length <= task.policy.maxQuestions, "0: no more questions than the policy allows"],
    [task.steps.length <= task.policy.maxSteps, "0: no more steps than the policy allows"],
    [task.lostAttempts <= task.policy.maxLostAttempts + allowed(task), "9: no more lost attempts than are allowed"],
    [!hasEnded(task) || !("running" in task || "cancelRequested" in task), "1: an ended task runs nowhere"]
  )

const identity = ["taskId", "owner", "tool", "arguments", "capabilities", "policy", "createdAt"] as const

/**
 * What is broken in a change from one state to another, whatever command it was.
 *
 * @category checks
 * @since 0.1.0
 */
export const ofChange = (before: Task.Task, after: Task.Task): Breaches => {
  if (same(before, after)) return []
  const named = (task: Task.Task) => task.questions.map(({ key, request }) => ({ key, request }))
  const keeps = (state: Task.Question["state"]) =>
    before.questions.every((question, index) => question.state !== state || same(question, after.questions[index]))
  const end = after.ttlMs === null ? Infinity : after.createdAt + after.ttlMs
  return [
    ...breaches(
      [!hasEnded(before), "1: a terminal state never changes"],
      [identity.every((member) => same(before[member], after[member])), "0: what a task is made of stays"],
      [isPrefix(named(before), named(after)), "3: a key names one request for ever"],
      [isPrefix(before.steps, after.steps), "7: steps are only added"],
      [keeps("answered"), "7: answers stay"],
      [keeps("withdrawn"), "3: a key that was withdrawn is spent"],
      [after.attempt - before.attempt === 0 || after.attempt - before.attempt === 1, "5: attempts are counted"],
      [after.lastUpdatedAt >= before.lastUpdatedAt, "4: time never goes back"],
      [
        same(visible(before), visible(after)) || after.lastUpdatedAt > before.lastUpdatedAt,
        "4: what a client can see moves lastUpdatedAt"
      ],
      [(after.ttlMs === null) === (before.ttlMs === null), "8: a life stays bounded or unbounded"],
      [(after.ttlMs ?? 0) >= (before.ttlMs ?? 0), "8: a life is never shortened"],
      [
        !hasEnded(after) || end >= before.lastUpdatedAt + before.policy.resultTtlMs,
        "8: an outcome stays readable"
      ]
    ),
    ...ofLosses(before, after),
    ...ofBeginning(before, after),
    ...ofState(after)
  ]
}

/** Whether a task has got on: what it asked and recorded is more, or another thing became of it. */
const hasMoved = (before: Task.Task, after: Task.Task): boolean =>
  after.steps.length > before.steps.length || !same(before.questions, after.questions)

const ofLosses = (before: Task.Task, after: Task.Task): Breaches => {
  const { attempt, lostAttempts } = before
  const isLost = after.lostAttempts === lostAttempts + 1 && "running" in before && before.running &&
    (after.status === "failed" || after.attempt > attempt)
  const isReset = after.lostAttempts === 0 && (hasMoved(before, after) || before.status === "input_required")
  return breaches(
    [after.lostAttempts === lostAttempts || isLost || isReset, "9: lost attempts are counted, in a row"],
    [hasEnded(after) || !hasMoved(before, after) || after.lostAttempts === 0, "9: what gets on begins anew"]
  )
}

const isRunning = (task: Task.Task): boolean => !hasEnded(task) && task.running

/** What ends a task instead of another attempt: that its tool must not be repeated, and that it was asked to stop. */
const ofBeginning = (before: Task.Task, after: Task.Task): Breaches => {
  const isBegun = after.attempt > before.attempt
  const isGivenUp = isRunning(before) && !hasEnded(after) && (isBegun || !isRunning(after))
  const isToStop = before.status === "working" && before.cancelRequested
  return breaches(
    [!isGivenUp || before.policy.recovery !== "fail", "0: a tool that must not be repeated is not begun again"],
    [!isBegun || !isToStop, "6: what was asked to stop is not begun again"]
  )
}

/**
 * What is broken in the step from one state to another by a command that was granted.
 *
 * @category checks
 * @since 0.1.0
 */
export const ofStep = (before: Task.Task, command: TaskCommand, after: Task.Task): Breaches => {
  const granted = [...ofGrant(before, command), ...ofStart(before, command, after), ...ofWait(before, command, after)]
  if (same(before, after)) return granted
  const raised = command._tag === "Start" && !hasEnded(after) ? 1 : 0
  return [
    ...ofChange(before, after),
    ...breaches(
      [after.attempt === before.attempt + raised, "5: a start raises the attempt, nothing else does"],
      [
        same(visible(before), visible(after)) || after.lastUpdatedAt >= command.at,
        "4: a visible change is not dated before its command"
      ]
    ),
    ...granted,
    ...ofExpiry(before, command, after),
    ...ofCancel(before, command, after)
  ]
}

/** What must have been refused, though it changed nothing: whoever gave it goes on as if it had been done. */
const ofGrant = (before: Task.Task, command: TaskCommand): Breaches => {
  const isOfClient = command._tag === "Answer" || command._tag === "Cancel"
  const isHolder = !("attempt" in command) || (isRunning(before) && before.attempt === command.attempt)
  const known = command._tag === "Ask" ? before.questions.find(({ key }) => key === command.key) : undefined
  const isOther = command._tag === "Ask" && known !== undefined && !same(asOne(known.request), asOne(command.request))
  const step = command._tag === "RecordStep" ? before.steps.find(({ name }) => name === command.name) : undefined
  return breaches(
    [isOfClient || !hasEnded(before), "1: after its end a task hears its client only"],
    [isHolder, "5: only the holder of the attempt writes"],
    [!isOther, "3: another request under a known key is refused"],
    [isOther || known?.state !== "withdrawn", "3: a key that was withdrawn is not asked again"],
    [
      command._tag !== "RecordStep" || step === undefined || same(step.value, command.value),
      "7: another value under a known name is refused"
    ]
  )
}

const asOne = ({ method, params }: Task.InputRequest) => [method, params]

/** A start that names what it follows follows nothing else; said again by the same worker, it begins nothing. */
const ofStart = (before: Task.Task, command: TaskCommand, after: Task.Task): Breaches => {
  if (command._tag !== "Start" || command.after === undefined || isOver(before, command.at)) return []
  const isAgain = isRunning(before) && command.worker !== undefined && command.worker === before.worker &&
    command.after + 1 === before.attempt
  return breaches(
    [isAgain || command.after === before.attempt, "5: a start follows the attempt that it names"],
    [!isAgain || (after.attempt === before.attempt && after.lostAttempts === before.lostAttempts),
      "5: a start that is said again begins nothing"]
  )
}

/** Whoever waits for a question has nothing held against it; of all that changes nothing else, only that is written. */
const ofWait = (before: Task.Task, command: TaskCommand, after: Task.Task): Breaches => {
  const isReset = after.lostAttempts < before.lostAttempts
  const isOpen = command._tag === "Ask" && open(before).some(({ key }) => key === command.key)
  return breaches(
    [!isReset || isOpen || hasMoved(before, after), "9: only what gets on begins anew"],
    [!isOpen || after.lostAttempts === 0, "9: whoever waits begins anew"]
  )
}

const ofExpiry = (before: Task.Task, command: TaskCommand, after: Task.Task): Breaches => {
  const end = Math.max(command.at, before.lastUpdatedAt)
  const isFailedAtStart = command._tag === "Start" && after.status === "failed"
  // A start that ends its task for another reason has lost an attempt.
  const isExpiry = command._tag === "Expire" || (isFailedAtStart && after.lostAttempts === before.lostAttempts)
  const readableUntil = after.ttlMs === null ? Infinity : after.createdAt + after.ttlMs
  return breaches(
    [!isExpiry || isOver(before, command.at), "8: only what is due expires"],
    [command._tag !== "Expire" || after.status === "failed", "8: what is due fails"],
    [command._tag !== "Start" || hasEnded(after) || !isOver(before, command.at), "8: what is due is not begun"],
    [
      !hasEnded(after) || readableUntil >= end + before.policy.resultTtlMs,
      "8: an end leaves its outcome readable"
    ]
  )
}

const ofCancel = (before: Task.Task, command: TaskCommand, after: Task.Task): Breaches => {
  const isAsked = command._tag === "Cancel" || (before.status === "working" && before.cancelRequested)
  const isAtOnce = before.status === "input_required" || (before.status === "working" && !before.running)
  return breaches(
    [after.status !== "cancelled" || isAsked, "6: nothing is cancelled that no client cancelled"],
    [
      command._tag !== "Cancel" || (after.status === "cancelled") === isAtOnce,
      "6: at once where nothing runs or all waits, and only there"
    ],
    [after.status !== "completed" || command._tag === "Complete", "6: a task ends as its handler ended"]
  )
}
