/**
 * What the workers of the model do: take a task, claim it, run its handler, look at it again, stop, hand it back.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import {
  clockOf,
  idle,
  type Move,
  nameOf,
  type State,
  withProcess,
  withWorker,
  type Worker
} from "./Model.ts"
import { down, hasSuffered, type Model, resultOf, write } from "./writes.ts"

const workerOf = (state: State, index: number): Worker => state.processes[index]?.worker ?? idle

/** Whether, in the eyes of the other processes, the worker of that name is alive. */
const isAlive = (model: Model, state: State, name: string): boolean =>
  model.configuration.flaw === "death unnoticed" ||
  [0, 1].some((index) => state.processes[index]?.isUp && nameOf(state, index) === name && state.suspect !== index)

/** Whether a worker that looks at the task may claim it: nobody who is alive has it, but perhaps itself. */
const isFree = (model: Model, state: State, index: number): boolean => {
  const task = model.task(state)
  if (task === undefined || Task.isTerminal(task)) return false
  return !task.running || task.worker === undefined || task.worker === nameOf(state, index) ||
    !isAlive(model, state, task.worker)
}

/** The handler begins, or goes on behind what it finds done in the journal. */
const advance = (model: Model, task: Task.Task, worker: Worker): Worker => {
  const { flaw, script } = model.configuration
  if (flaw === "journal ignored") return worker
  let { done } = worker
  while (done < script.length) {
    const op = script[done]
    const isDone = op === "step"
      ? Task.findStep(task, `s${done}`) !== undefined
      : op === "ask" && Task.findQuestion(task, `q${done}`)?.state === "answered"
    if (!isDone) break
    done++
  }
  return { ...worker, done }
}

const begin = (model: Model, state: State, index: number): State => {
  const task = model.task(state)
  if (task === undefined) return withWorker(state, index, idle)
  const worker: Worker = { ...idle, at: "runs", held: state.record, attempt: task.attempt }
  return withWorker({ ...state, isOffered: false }, index, advance(model, task, worker))
}

/**
 * From an entry of the queue to reading the task that it is about; `after` is the attempt to follow, from the first
 * `Start` of this claim on.
 */
const take = (
  model: Model,
  state: State,
  { after, index, label }: { readonly index: number; readonly label: string; readonly after?: number }
): ReadonlyArray<Move> => {
  if (!isFree(model, state, index)) {
    return [model.move(label, withWorker({ ...state, isOffered: false }, index, idle))]
  }
  const attempt = after ?? model.task(state)?.attempt ?? 0
  const claiming = withWorker(state, index, { ...idle, at: "claims", held: state.record, attempt })
  return model.configuration.isCoarse ? claim(model, claiming, index) : [model.move(label, claiming)]
}

/** Whether a claim takes what its holder has not lost. */
const isTheft = (model: Model, state: State, index: number, after: number): boolean => {
  const task = model.task(state)
  if (task === undefined || Task.isTerminal(task) || !task.running || task.worker === undefined) return false
  return task.worker === nameOf(state, index)
    ? task.attempt !== after + 1
    : !hasSuffered(state, "lease lost") && isAlive(model, state, task.worker)
}

const claim = (model: Model, state: State, index: number): ReadonlyArray<Move> => {
  const { flaw } = model.configuration
  const me = nameOf(state, index)
  const isBlind = flaw === "any attempt may follow"
  const { attempt: after, held } = workerOf(state, index)
  if (!isBlind && !model.isCurrent(state, held)) {
    return take(model, state, { index, label: `${me} reads again`, ...flaw === "forgets itself" ? {} : { after } })
  }
  const command: TaskCommand = {
    _tag: "Start",
    at: clockOf(state, index),
    worker: me,
    ...isBlind ? {} : { after }
  }
  const read = isBlind ? state.record : held
  const decision = model.records.decide(read, command, state.record)
  // The `Start` was written, and the answer to it was lost.
  if (decision._tag === "Nothing") return [model.move(`${me} finds its claim`, begin(model, state, index))]
  // Somebody was faster: the next try is another claim.
  if (decision._tag === "Refused") return [model.move(`${me} is refused`, withWorker(state, index, idle))]
  const moves = write(model, state, { label: `${me} claims`, by: index, isWorker: false, held: read, command }, {
    done: (next, task) =>
      Task.isTerminal(task)
        ? withWorker({ ...next, isOffered: false }, index, idle)
        : begin(model, next, index),
    unsure: (next) => next
  })
  return isTheft(model, state, index, after)
    ? moves.map((move) => ({ ...move, breaches: [...move.breaches, `${me} takes a task from one who is alive`] }))
    : moves
}

/** What the handler asks for next. */
const wanted = (model: Model, state: State, index: number): TaskCommand => {
  const { at: what, attempt: claimed, done } = workerOf(state, index)
  const task = model.task(state)
  const attempt = model.configuration.flaw === "no fencing" ? task?.attempt ?? claimed : claimed
  const at = clockOf(state, index)
  if (what === "stops") return { _tag: "Stop", at, attempt }
  if (what === "releases") return { _tag: "Release", at, attempt }
  switch (model.configuration.script[done]) {
    case "step":
      return { _tag: "RecordStep", at, attempt, name: `s${done}`, value: claimed }
    case "report":
      return { _tag: "Report", at, attempt, message: `r${done}` }
    case "ask":
      return { _tag: "Ask", at, attempt, key: `q${done}`, request: { method: "elicitation/create" } }
    default:
      return {
        _tag: "Complete",
        at,
        attempt,
        isError: false,
        result: task === undefined ? "{}" : resultOf(model.records.get(workerOf(state, index).held)?.task ?? task)
      }
  }
}

/** After a command was granted, whether or not it changed anything. */
const granted = (model: Model, state: State, index: number, command: TaskCommand): State => {
  const worker = workerOf(state, index)
  const task = model.task(state)
  const held = state.record
  switch (command._tag) {
    case "Ask": {
      const question = task === undefined ? undefined : Task.findQuestion(task, command.key)
      if (task === undefined || Task.isTerminal(task)) return withWorker(state, index, idle)
      return question?.state === "answered"
        ? withWorker(state, index, { ...worker, held, done: worker.done + 1 })
        : withWorker(state, index, { ...worker, held, isParked: true })
    }
    case "RecordStep":
    case "Report":
      return withWorker(state, index, { ...worker, held, done: worker.done + 1 })
    case "Release":
      return { ...down(state, index), isOffered: true }
    default:
      return withWorker(state, index, idle)
  }
}

/** The attempt is not ours any more: nothing is said of its end. */
const superseded = (state: State, index: number): State =>
  workerOf(state, index).at === "releases" ? down(state, index) : withWorker(state, index, idle)

const act = (model: Model, state: State, index: number): ReadonlyArray<Move> => {
  const me = nameOf(state, index)
  const worker = workerOf(state, index)
  if (worker.isParked) return []
  const isOld = !model.isCurrent(state, worker.held)
  // What is remembered may be old: the write fails, and the task is read again.
  const now = isOld ? withWorker(state, index, { ...worker, held: state.record }) : state
  const command = wanted(model, now, index)
  const held = isOld ? state.record : worker.held
  const label = `${me}: ${command._tag}`
  const decision = model.records.decide(held, command, state.record)
  if (decision._tag === "Refused") {
    const breaches = decision.reason === "StepReused" ? [`${me} does a step again that is remembered`] : []
    return [model.move(`${label} is refused: ${decision.reason}`, superseded(state, index), { breaches })]
  }
  if (decision._tag === "Nothing") {
    return [model.move(`${label} says nothing new`, granted(model, now, index, command))]
  }
  if (isOld && !model.configuration.isCoarse) return [model.move(`${me} reads again`, now)]
  return write(model, now, { label, by: index, isWorker: true, held, command }, {
    done: (next) => granted(model, next, index, command),
    unsure: (next) => next
  })
}

/** A worker looks at its task again: because of a signal, or because of the heartbeat. */
const look = (model: Model, state: State, index: number): ReadonlyArray<Move> => {
  const { isWoken, worker } = state.processes[index] ?? { isWoken: false, worker: idle }
  if (worker.at !== "runs" || (!isWoken && model.configuration.flaw === "signals trusted")) return []
  const task = model.task(state)
  const label = `${nameOf(state, index)} ${isWoken ? "follows a signal" : "looks again"}`
  const next = withProcess(state, index, { isWoken: false, worker: seen(model, state, worker) })
  return task !== undefined && !isWoken && next.processes[index]?.worker === worker ? [] : [model.move(label, next)]
}

const seen = (model: Model, state: State, worker: Worker): Worker => {
  const task = model.task(state)
  const isOurs = task !== undefined && !Task.isTerminal(task) && task.running && task.attempt === worker.attempt
  if (!isOurs) return idle
  if (task.status === "working" && task.cancelRequested) {
    return { ...worker, at: "stops", held: state.record, isParked: false }
  }
  const isAnswered = Task.findQuestion(task, `q${worker.done}`)?.state === "answered"
  if (worker.isParked && isAnswered) return { ...worker, held: state.record, isParked: false, done: worker.done + 1 }
  return worker.held === state.record ? worker : { ...worker, held: state.record }
}

/** Whether, in the eyes of a worker, nobody who is alive sees to a live task. */
const isUnattended = (model: Model, state: State, index: number): boolean => {
  const task = model.task(state)
  if (task === undefined || Task.isTerminal(task)) return false
  if (!task.running || task.worker === undefined) return true
  return task.worker === nameOf(state, index)
    ? workerOf(state, index).at === "idle"
    : !isAlive(model, state, task.worker)
}

/**
 * What the worker of a process can do next.
 *
 * @since 0.1.0
 */
export const moves = (model: Model, state: State, index: number): ReadonlyArray<Move> => {
  const me = nameOf(state, index)
  const { at } = workerOf(state, index)
  const scans = model.configuration.flaw !== "nobody scans" && !state.isOffered && isUnattended(model, state, index)
    ? [model.move(`${me} offers it again`, { ...state, isOffered: true })]
    : []
  switch (at) {
    case "idle":
      return state.isOffered ? take(model, state, { index, label: `${me} takes it` }) : scans
    case "claims":
      return [...claim(model, state, index), ...scans]
    default:
      return [...act(model, state, index), ...look(model, state, index), ...scans]
  }
}
