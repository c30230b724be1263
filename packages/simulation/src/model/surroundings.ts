/**
 * What happens around the workers and the client of the model: time, the sweeper, and faults.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskInvariants from "@effect-mcp-tasks/testing/TaskInvariants"
import { clockOf, type Fault, idle, type Move, noSweep, type State, withProcess, withWorker } from "./Model.ts"
import { down, type Model, suffer, write } from "./writes.ts"

/** How far a clock steps, in milliseconds: over the deadline of a task, or back. */
const steps = [100, -50]

const name = (index: number): string => index === 0 ? "a" : "b"

const expire = (model: Model, state: State): ReadonlyArray<Move> => {
  const { at, by, held } = state.sweep
  const task = model.records.get(held)?.task
  if (task === undefined) return []
  const done = (next: State): State => ({ ...next, sweep: noSweep })
  if (Task.isTerminal(task) || model.configuration.flaw === "removed on sight") {
    const now = model.task(state)
    const isRight = now !== undefined && TaskInvariants.hasEnded(now) && TaskInvariants.isOver(now, at)
    return [
      model.move(`the sweeper of ${name(by)} removes it`, { ...done(state), record: 0, wasRemoved: true }, {
        breaches: isRight ? [] : ["a task is removed that has not ended, or before its time"]
      })
    ]
  }
  const command = { _tag: "Expire", at } as const
  const moves = write(model, state, {
    label: `the sweeper of ${name(by)} expires it`,
    by,
    isWorker: false,
    held,
    command
  }, { done, unsure: done })
  return moves.length > 0 ? moves : [model.move(`the sweeper of ${name(by)} is refused`, done(state))]
}

const sweep = (model: Model, state: State): ReadonlyArray<Move> => {
  if (state.sweep.by >= 0) return expire(model, state)
  const task = model.task(state)
  if (task === undefined) return []
  return model.movers(state).flatMap((by) => {
    const at = clockOf(state, by)
    if (!Task.isDue(task, at)) return []
    const read: State = { ...state, sweep: { by, held: state.record, at } }
    return model.configuration.isCoarse
      ? expire(model, read)
      : [model.move(`the sweeper of ${name(by)} reads it`, read)]
  })
}

/** Only deadlines are worth waiting for. */
const wait = (model: Model, state: State): ReadonlyArray<Move> => {
  const task = model.task(state)
  const deadline = task === undefined ? undefined : Task.deadline(task)
  return deadline === undefined || deadline <= state.now
    ? []
    : [model.move(`it is ${deadline}`, { ...state, now: deadline }, { isProgress: false })]
}

/** A process that goes away hands back what it runs, then it is down. */
const leave = (state: State, index: number): State => {
  const worker = state.processes[index]?.worker ?? idle
  return worker.at === "runs" || worker.at === "stops"
    ? withWorker(state, index, { ...worker, at: "releases", isParked: false })
    : down(state, index)
}

const troubles = (model: Model, state: State, index: number): ReadonlyArray<Move> => {
  const trouble = (fault: Fault, label: string, next: State) =>
    model.allows(state, fault) ? [model.move(label, suffer(next, fault), { isProgress: false })] : []
  const { aheadMs = 0, worker = idle } = state.processes[index] ?? {}
  return [
    ...trouble("crash", `${name(index)} crashes`, down(state, index)),
    ...worker.at === "releases" ? [] : trouble("shutdown", `${name(index)} shuts down`, leave(state, index)),
    ...worker.at === "idle"
      ? []
      : trouble("lease lost", `${name(index)} is believed to be dead`, { ...state, suspect: index }),
    ...steps.flatMap((byMs) =>
      trouble(
        "clock step",
        `the clock of ${name(index)} steps by ${byMs}`,
        withProcess(state, index, { aheadMs: aheadMs + byMs })
      )
    )
  ]
}

const restart = (model: Model, state: State): ReadonlyArray<Move> =>
  state.processes.flatMap(({ isUp, starts }, index) =>
    isUp
      ? []
      : [model.move(`${name(index)} starts again`, withProcess(state, index, { isUp: true, starts: starts + 1 }))]
  )

/**
 * What can happen next around the workers and the client.
 *
 * @since 0.1.0
 */
export const moves = (model: Model, state: State): ReadonlyArray<Move> => [
  ...wait(model, state),
  ...sweep(model, state),
  ...restart(model, state),
  ...model.movers(state).flatMap((index) => troubles(model, state, index)),
  ...state.suspect < 0 ? [] : [model.move(`${name(state.suspect)} is seen to be alive`, { ...state, suspect: -1 })]
]
