/**
 * How the model writes: by compare-and-set, with everything that can go wrong on the way.
 *
 * The signal goes out with the write, since one that is late is one that has not been followed yet; it may be lost.
 *
 * @since 0.1.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import {
  type Configuration,
  type Fault,
  faults,
  idle,
  type Move,
  movers,
  nameOf,
  noSweep,
  type State,
  unsent,
  withProcess
} from "./Model.ts"
import { Records } from "./Records.ts"

/**
 * What is explored, with the records that have come up.
 *
 * @since 0.1.0
 */
export class Model {
  readonly records = new Records()
  readonly configuration: Configuration

  constructor(configuration: Configuration) {
    this.configuration = configuration
  }

  /** The task that is stored. */
  task(state: State): Task.Task | undefined {
    return this.records.get(state.record)?.task
  }

  /** The processes that can do something. */
  movers(state: State): ReadonlyArray<number> {
    return movers(state, this.task(state)?.worker)
  }

  /** Whether something may still go wrong. */
  allows(state: State, fault: Fault): boolean {
    const bit = 1 << faults.indexOf(fault)
    if (!this.configuration.faults.includes(fault) || (state.faults & bit) !== 0) return false
    let count = 0
    for (let rest = state.faults; rest !== 0; rest >>= 1) count += rest & 1
    return count < this.configuration.maxFaults
  }

  /** Whether a held record may be written over what there is. */
  isCurrent(state: State, held: number): boolean {
    return this.configuration.flaw === "no compare-and-set" ? held !== 0 : held === state.record && held !== 0
  }

  /** A move, with what is old by now forgotten: everybody reads again before anything comes of it. */
  move(label: string, state: State, more: Partial<Pick<Move, "isProgress" | "breaches">> = {}): Move {
    return { label, state: this.settled(state), isProgress: true, breaches: [], ...more }
  }

  private settled(state: State): State {
    const { flaw, isCoarse } = this.configuration
    const keep = (held: number) =>
      !isCoarse && (flaw === "no compare-and-set" || held === state.record) ? held : 0
    const request = (of: State["answer"]) => {
      if (of.at !== "served") return of.held === 0 && of.by === -1 ? of : { ...of, by: -1, held: 0 }
      return keep(of.held) === of.held ? of : { ...of, held: 0 }
    }
    const process = (of: State["processes"][0]) => {
      const { worker } = of
      const isWoken = of.isWoken && worker.at === "runs"
      const held = keep(worker.held)
      return held === worker.held && isWoken === of.isWoken ? of : { ...of, isWoken, worker: { ...worker, held } }
    }
    const [first, second] = state.processes
    const held = keep(state.sweep.held)
    return {
      ...state,
      processes: [process(first), process(second)],
      answer: request(state.answer),
      cancel: request(state.cancel),
      sweep: state.sweep.by >= 0 && held === 0 ? noSweep : { ...state.sweep, held }
    }
  }
}

/**
 * Takes note of a fault.
 *
 * @since 0.1.0
 */
export const suffer = (state: State, fault: Fault): State => ({
  ...state,
  faults: state.faults | (1 << faults.indexOf(fault))
})

/**
 * Whether a fault has happened.
 *
 * @since 0.1.0
 */
export const hasSuffered = (state: State, fault: Fault): boolean => (state.faults & (1 << faults.indexOf(fault))) !== 0

/**
 * Ends a process, with all that it was doing. Nobody is told.
 *
 * @since 0.1.0
 */
export const down = (state: State, index: number): State => {
  const served = (request: State["answer"]) => request.at === "served" && request.by === index ? unsent : request
  return {
    ...withProcess(state, index, { isUp: false, isWoken: false, worker: idle }),
    suspect: state.suspect === index ? -1 : state.suspect,
    answer: served(state.answer),
    cancel: served(state.cancel),
    sweep: state.sweep.by === index ? noSweep : state.sweep
  }
}

/**
 * Tells all processes to look again.
 *
 * @since 0.1.0
 */
export const wake = (state: State): State => withProcess(withProcess(state, 0, { isWoken: true }), 1, { isWoken: true })

/**
 * A write that is about to be tried.
 *
 * @since 0.1.0
 */
export interface Wish {
  readonly label: string
  /** Which process writes, and whether its worker does, in an attempt of its own. */
  readonly by: number
  readonly isWorker: boolean
  readonly held: number
  readonly command: TaskCommand
}

/**
 * What comes of a write, for whoever made it, by what it hears.
 *
 * @since 0.1.0
 */
export interface Hears {
  /** It was written. */
  readonly done: (state: State, task: Task.Task) => State
  /** It may have been written. */
  readonly unsure: (state: State) => State
  /** It was written, and the client does not hear of it; not a client's unless given. */
  readonly unanswered?: ((state: State) => State) | undefined
}

/** What no machine knows: whose attempt it is that writes, and that the result is what the journal says. */
const judge = (model: Model, state: State, { by, isWorker, label }: Wish, after: Task.Task): ReadonlyArray<string> => {
  const before = model.task(state)
  return [
    ...isWorker && before?.worker !== nameOf(state, by)
      ? [`two writers: ${label}, but the attempt is ${before?.worker}'s`]
      : [],
    ...after.status === "completed" && after.result !== resultOf(after) ? [`the result is forged: ${after.result}`] : []
  ]
}

/**
 * The result that a handler returns that did its steps and got its answers.
 *
 * @since 0.1.0
 */
export const resultOf = ({ questions, steps }: Task.Task): string =>
  JSON.stringify({
    steps: steps.map(({ name, value }) => `${name}${value}`),
    answers: questions.flatMap((question) => question.state === "answered" ? [question.response] : [])
  })

/**
 * All that can come of a write that is not refused: it is done, or it is done and something goes wrong. Gives nothing
 * back when the machine has nothing to write.
 *
 * @since 0.1.0
 */
export const write = (model: Model, state: State, wish: Wish, hears: Hears): ReadonlyArray<Move> => {
  const decision = model.records.decide(wish.held, wish.command, state.record)
  if (decision._tag !== "Written") return []
  const { task } = decision
  const breaches = [...decision.breaches, ...judge(model, state, wish, task)]
  const written = { ...state, record: decision.record }
  const known = wake(written)
  const made = (fault: Fault, next: State) =>
    model.allows(state, fault)
      ? [model.move(`${wish.label}; ${fault}`, suffer(next, fault), { breaches, isProgress: false })]
      : []
  return [
    model.move(wish.label, hears.done(known, task), { breaches }),
    ...made("signal lost", hears.done(written, task)),
    ...made("store reply lost", hears.unsure(known)),
    ...hears.unanswered === undefined ? [] : made("client reply lost", hears.unanswered(known)),
    ...made("crash", down(written, wish.by))
  ]
}
