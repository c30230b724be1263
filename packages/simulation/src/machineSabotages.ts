/**
 * One-line breaks of the task machine: at least one for each line of its invariants, which must be the one to notice.
 *
 * @since 0.2.0
 */
import type { Sabotage } from "./sabotages.ts"

const machine = "core/src/TaskMachine.ts"
const task = "core/src/Task.ts"

const broken = "invariant-broken"

/**
 * The sabotages of the task machine.
 *
 * @since 0.2.0
 */
export const machineSabotages: ReadonlyArray<Sabotage> = [
  {
    name: "task that does not follow its schema",
    rule: broken,
    breach: "0: a task follows its schema",
    file: machine,
    was: `return { ...task, running: false, lostAttempts: task.lostAttempts + 1 }`,
    is: `return { ...task, running: false, lostAttempts: task.lostAttempts + 0.5 }`
  },
  {
    name: "tool of a task forgotten",
    rule: broken,
    breach: "0: what a task is made of stays",
    file: machine,
    was: `return { ...task, running: false }`,
    is: `return { ...task, running: false, tool: "other" }`
  },
  {
    name: "more questions than allowed",
    rule: broken,
    breach: "0: no more questions than the policy allows",
    file: machine,
    was: `  if (task.questions.length >= task.policy.maxQuestions) return refuse(task, command, "TooManyQuestions")
`,
    is: ``
  },
  {
    name: "more steps than allowed",
    rule: broken,
    breach: "0: no more steps than the policy allows",
    file: machine,
    was: `  if (task.steps.length >= task.policy.maxSteps) return refuse(task, command, "TooManySteps")
`,
    is: ``
  },
  {
    name: "tool that must not be repeated begun again",
    rule: broken,
    breach: "0: a tool that must not be repeated is not begun again",
    file: machine,
    was: `  if (task.policy.recovery === "fail") return happened(lost, failed(task, at, notRepeatable))
`,
    is: ``
  },
  {
    name: "tool that must not be repeated handed back",
    rule: broken,
    breach: "0: a tool that must not be repeated is not begun again",
    file: machine,
    was: `  if (task.policy.recovery === "fail") return happened(failed(task, at, notRepeatable))
`,
    is: ``
  },
  {
    name: "terminal state overwritten",
    rule: broken,
    breach: "1: a terminal state never changes",
    file: task,
    was: `task.status !== "working" && task.status !== "input_required"`,
    is: `task.status === "completed" || task.status === "failed"`
  },
  {
    name: "late command acknowledged",
    rule: broken,
    breach: "1: after its end a task hears its client only",
    file: machine,
    was: `return command._tag === "Answer" || command._tag === "Cancel" ? nothing : refuse(task, command, "Terminal")`,
    is: `return nothing`
  },
  {
    name: "ended task that runs",
    rule: broken,
    breach: "1: an ended task runs nowhere",
    file: machine,
    was: `const { cancelRequested: _, running: __, status`,
    is: `const { cancelRequested: _, status`
  },
  {
    name: "input required with nothing outstanding",
    rule: broken,
    breach: "2: input_required means outstanding",
    file: machine,
    was: `return questions.some(({ state }) => state === "outstanding")`,
    is: `return questions.length > 0`
  },
  {
    name: "withdrawn key asked again as a new one",
    rule: broken,
    breach: "3: a key names one request",
    file: task,
    was: `task.questions.find((question) => question.key === key)`,
    is: `task.questions.find((question) => question.key === key && question.state !== "withdrawn")`
  },
  {
    name: "answered key forgotten at the next question",
    rule: broken,
    breach: "3: a key names one request for ever",
    file: machine,
    was: `asking(task, event.at, [...task.questions, {`,
    is: `asking(task, event.at, [...task.questions.filter(({ state }) => state === "outstanding"), {`
  },
  {
    name: "withdrawn question opened again",
    rule: broken,
    breach: "3: a key that was withdrawn is spent",
    file: machine,
    was: `asking(task, event.at, [...task.questions, {`,
    is: `asking(task, event.at, [...task.questions.map(({ key, request, state }) => ({
          key, request, state: state === "withdrawn" ? "outstanding" : state })), {`
  },
  {
    name: "key taken for another request",
    rule: broken,
    breach: "3: another request under a known key is refused",
    file: machine,
    was: `  if (known !== undefined && !sameRequest(known.request, request)) return refuse(task, command, "KeyReused")
`,
    is: ``
  },
  {
    name: "withdrawn key asked again",
    rule: broken,
    breach: "3: a key that was withdrawn is not asked again",
    file: machine,
    was: `  if (known?.state === "withdrawn") return refuse(task, command, "KeyWithdrawn")
`,
    is: ``
  },
  {
    name: "lastUpdatedAt goes back",
    rule: broken,
    breach: "4: time never goes back",
    file: machine,
    was: `const moved = (task: Task, at: number): number => Math.max(at, task.lastUpdatedAt + 1)`,
    is: `const moved = (task: Task, at: number): number => at - 5`
  },
  {
    name: "lastUpdatedAt stands still",
    rule: broken,
    breach: "4: what a client can see moves lastUpdatedAt",
    file: machine,
    was: `const moved = (task: Task, at: number): number => Math.max(at, task.lastUpdatedAt + 1)`,
    is: `const moved = (task: Task, at: number): number => task.lastUpdatedAt`
  },
  {
    name: "change dated before its command",
    rule: broken,
    breach: "4: a visible change is not dated before its command",
    file: machine,
    was: `const moved = (task: Task, at: number): number => Math.max(at, task.lastUpdatedAt + 1)`,
    is: `const moved = (task: Task, at: number): number => task.lastUpdatedAt + 1`
  },
  {
    name: "attempts counted twice",
    rule: broken,
    breach: "5: attempts are counted",
    file: machine,
    was: `attempt: task.attempt + 1`,
    is: `attempt: task.attempt + 2`
  },
  {
    name: "attempt raised by handing back",
    rule: broken,
    breach: "5: a start raises the attempt, nothing else does",
    file: machine,
    was: `return { ...task, running: false }`,
    is: `return { ...task, running: false, attempt: task.attempt + 1 }`
  },
  {
    name: "fencing dropped, as an invariant",
    rule: broken,
    breach: "5: only the holder of the attempt writes",
    file: machine,
    was: `return task.running && task.attempt === command.attempt`,
    is: `return task.running`
  },
  {
    name: "start follows whatever there is",
    rule: broken,
    breach: "5: a start follows the attempt that it names",
    file: machine,
    was: `  if (isStale && !isRepeated) return refuse(task, command, "StaleAttempt")
`,
    is: ``
  },
  {
    name: "start said again begins once more",
    rule: broken,
    breach: "5: a start that is said again begins nothing",
    file: machine,
    was: `  if (isRepeated) return nothing
`,
    is: ``
  },
  {
    name: "running task cancelled at once",
    rule: broken,
    breach: "6: at once where nothing runs or all waits, and only there",
    file: machine,
    was: `if (task.status === "input_required" || !task.running) return happened(cancelled(task, at))`,
    is: `return happened(cancelled(task, at))`
  },
  {
    name: "shutdown taken for a cancel, as an invariant",
    rule: broken,
    breach: "6: nothing is cancelled that no client cancelled",
    file: machine,
    was: `return happened({ _tag: "Released", at })`,
    is: `return happened(cancelled(task, at))`
  },
  {
    name: "stopped task said to be complete",
    rule: broken,
    breach: "6: a task ends as its handler ended",
    file: machine,
    was: `isCancelRequested(task) ? cancelled(task, at) : failed(task, at, interrupted)`,
    is: `{ _tag: "Completed", at, ttlMs: resultTtl(task, at), result: "{}", isError: false }`
  },
  {
    name: "task that was asked to stop begun again",
    rule: broken,
    breach: "6: what was asked to stop is not begun again",
    file: machine,
    was: `  if (isCancelRequested(task)) return happened(cancelled(task, at))
  if (isRepeated) return nothing`,
    is: `  if (isRepeated) return nothing`
  },
  {
    name: "step recorded twice",
    rule: broken,
    breach: "7: a name names one step",
    file: machine,
    was: `if (known !== undefined) return jsonEqual(`,
    is: `if (globalThis.never) return jsonEqual(`
  },
  {
    name: "journal forgotten at a start",
    rule: broken,
    breach: "7: steps are only added",
    file: machine,
    was: `  attempt,
  running: true,`,
    is: `  attempt,
  steps: [],
  running: true,`
  },
  {
    name: "answer forgotten at the end",
    rule: broken,
    breach: "7: answers stay",
    file: machine,
    was: `question.state === "outstanding" ? { key: question.key`,
    is: `!globalThis.never ? { key: question.key`
  },
  {
    name: "step acknowledged that is another",
    rule: broken,
    breach: "7: another value under a known name is refused",
    file: machine,
    was: `return jsonEqual(known.value, value) ? nothing : refuse(task, command, "StepReused")`,
    is: `return nothing`
  },
  {
    name: "expiry early, as an invariant",
    rule: broken,
    breach: "8: only what is due expires",
    file: task,
    was: `task.ttlMs !== null && at >= task.createdAt + task.ttlMs`,
    is: `task.ttlMs !== null && at >= task.createdAt + task.ttlMs / 2`
  },
  {
    name: "due task cancelled",
    rule: broken,
    breach: "8: what is due fails",
    file: machine,
    was: `return isDue(task, command.at) ? happened(expired(task, command.at))`,
    is: `return isDue(task, command.at) ? happened(cancelled(task, dated(task, command.at)))`
  },
  {
    name: "overdue task begun",
    rule: broken,
    breach: "8: what is due is not begun",
    file: machine,
    was: `  if (isDue(task, command.at)) return happened(expired(task, command.at))
`,
    is: ``
  },
  {
    name: "bounded life becomes endless",
    rule: broken,
    breach: "8: a life stays bounded or unbounded",
    file: machine,
    was: `task.ttlMs === null ? null : Math.max(task.ttlMs, life(task, at, task.policy.resultTtlMs))`,
    is: `null`
  },
  {
    name: "life shortened",
    rule: broken,
    breach: "8: a life is never shortened",
    file: machine,
    was: `return task.ttlMs === null || ttlMs <= task.ttlMs ? nothing`,
    is: `return task.ttlMs === null ? nothing`
  },
  {
    name: "outcome not kept for its time",
    rule: broken,
    breach: "8: an outcome stays readable",
    file: machine,
    was: `task.ttlMs === null ? null : Math.max(task.ttlMs, life(task, at, task.policy.resultTtlMs))`,
    is: `task.ttlMs`
  },
  {
    name: "outcome kept from the last change on",
    rule: broken,
    breach: "8: an end leaves its outcome readable",
    file: machine,
    was: `life(task, at, task.policy.resultTtlMs)`,
    is: `life(task, task.lastUpdatedAt, task.policy.resultTtlMs)`
  },
  {
    name: "lost too often and begun again",
    rule: broken,
    breach: "9: no more lost attempts than are allowed",
    file: machine,
    was: `  if (task.lostAttempts >= allowance(task)) return happened(lost, failed(task, at, lostTooOften))
`,
    is: ``
  },
  {
    name: "lost attempt counted twice",
    rule: broken,
    breach: "9: lost attempts are counted, in a row",
    file: machine,
    was: `lostAttempts: task.lostAttempts + 1`,
    is: `lostAttempts: task.lostAttempts + 2`
  },
  {
    name: "step that does not begin the count anew",
    rule: broken,
    breach: "9: what gets on begins anew",
    file: machine,
    was: `return { ...task, lostAttempts: 0, steps:`,
    is: `return { ...task, steps:`
  },
  {
    name: "report that begins the count anew",
    rule: broken,
    breach: "9: only what gets on begins anew",
    file: machine,
    was: `lastUpdatedAt: moved(task, event.at), statusMessage: event.message }`,
    is: `lastUpdatedAt: moved(task, event.at), statusMessage: event.message, lostAttempts: 0 }`
  },
  {
    name: "waiting that does not begin the count anew",
    rule: broken,
    breach: "9: whoever waits begins anew",
    file: machine,
    was: `happened({ _tag: "InputAwaited", at, key })`,
    is: `nothing`
  }
]
