/**
 * What must hold of a handler that runs, as its own tool sees it.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { RuleName } from "./Audit.ts"
import { type Desk, isWanted } from "./Desk.ts"
import type { FaultName } from "./Faults.ts"
import { asked, type HandlerRun, type TaskFile } from "./TaskFile.ts"
import type { Run } from "./Tools.ts"

/**
 * What a watch tells, and whom.
 *
 * @since 0.1.0
 */
export interface WatchOptions {
  readonly file: TaskFile
  readonly run: HandlerRun
  readonly desk: Desk
  readonly now: () => number
  /** Numbers the times that steps are done: no two are alike. */
  readonly nextTime: () => number
  readonly object: (rule: RuleName, detail: string) => void
  readonly note: (what: string) => void
  readonly onFault: (name: FaultName) => void
  readonly crash: () => void
}

/** The words of the answers that the store holds under a key. */
const wordsOf = (task: Task.Task, key: string): ReadonlyArray<string> =>
  asked(task, key).flatMap((question) => {
    if (question.state !== "answered") return []
    const { action, content } = Object(question.response)
    return [action === "accept" ? content?.word : action]
  })

/** Whether a question still stands that nobody in a handler waits for any more, though the handler goes on. */
const isKept = ({ file, run }: WatchOptions, key: string): boolean =>
  file.now !== undefined && isWanted(file, run.attempt) && run.process.leavesAtMs === undefined &&
  !run.waits.includes(key) && asked(file.now, key).some(({ state }) => state === "outstanding")

/**
 * Makes the watch of one run, and checks that it may run at all.
 *
 * @since 0.1.0
 */
export const make = (options: WatchOptions): Run => {
  const { file, object, run } = options
  const claim = file.claims.get(run.attempt)
  const others = file.runs.filter((other) => other !== run && other.attempt === run.attempt)
  const leave = (key: string) => {
    const index = run.waits.indexOf(key)
    if (index >= 0) run.waits.splice(index, 1)
  }
  options.note(`runs ${file.name}, attempt ${run.attempt}`)
  if (claim?.process !== run.process || others.length > 0) {
    object("started-unclaimed", `${run.process.name} runs attempt ${run.attempt} of ${file.name}`)
  }
  const look = () => {
    const tooMany = options.desk.look()
    if (tooMany !== undefined) object("slots-passed", tooMany)
  }
  look()
  const taken = new Set<string>()
  return {
    takes: (step) => {
      const isRemembered = claim?.journal.includes(step) === true || taken.has(step)
      return () => {
        if (isRemembered) object("step-repeated", `${step} of ${file.name}`)
        return options.nextTime()
      }
    },
    stepped: (step, value) => {
      taken.add(step)
      const kept = file.now?.steps.find(({ name }) => name === step)
      if (file.now !== undefined && kept?.value !== value) object("step-differs", `${step} of ${file.name}`)
    },
    asks: (key) => {
      look()
      run.waits.push(key)
    },
    forgets: (key, wasGivenUp) => {
      leave(key)
      run.gaveUpAtMs = options.now()
      if (wasGivenUp && isKept(options, key)) object("question-kept", `${key} of ${file.name}`)
    },
    answered: (key, answer) => {
      leave(key)
      look()
      const words = file.now === undefined ? [answer] : wordsOf(file.now, key)
      if (!words.includes(answer)) {
        object("answer-invented", `${key} of ${file.name} is ${words.join(" or ")}, and its handler got ${answer}`)
      }
    },
    suffers: options.onFault,
    crash: options.crash,
    isStubborn: (ms) => {
      run.stubbornUntilMs = options.now() + ms
    },
    means: (end) => {
      run.means = end
    },
    ended: (wasInterrupted) => {
      look()
      if (wasInterrupted && options.desk.isHasty(run, file)) {
        object("grace-ignored", `${run.process.name} interrupts ${file.name}`)
      }
      run.endedAtMs = options.now()
      options.note(`ends ${file.name}, attempt ${run.attempt}`)
    }
  }
}
