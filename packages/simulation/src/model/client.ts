/**
 * What the client of the model does: creates its task, polls it, answers its question, cancels it. A request without
 * an answer is sent again, but for the one that creates.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import { clockOf, type Move, type Request, type State, unsent } from "./Model.ts"
import { down, type Model, suffer, write } from "./writes.ts"

/** How long the task lives, in milliseconds. */
const ttlMs = 100

/** How long its outcome can be read, in milliseconds. */
const resultTtlMs = 50

const serverName = (index: number): string => index === 0 ? "server a" : "server b"

const newTask = ({ configuration }: Model, at: number): Task.Task =>
  TaskMachine.create({
    taskId: "t",
    owner: "o",
    tool: "x",
    arguments: {},
    capabilities: {},
    policy: { recovery: configuration.recovery, resultTtlMs, maxLostAttempts: 1, maxQuestions: 2, maxSteps: 2 },
    ttlMs,
    pollIntervalMs: 1,
    at
  })

/** The store's answer may be lost too: then the task is looked for, and all is as if it had come. */
const create = (model: Model, state: State): ReadonlyArray<Move> =>
  model.movers(state).flatMap((by) => {
    const { breaches, record } = model.records.create(newTask(model, clockOf(state, by)))
    const label = `${serverName(by)} creates it`
    const stored: State = { ...state, record }
    const offered: State = { ...stored, isOffered: true }
    const inMemory = model.configuration.flaw === "created in memory" && model.allows(state, "crash")
      ? [model.move(`${label} in memory; crash`, {
        ...suffer(down(state, by), "crash"),
        create: "acknowledged"
      })]
      : []
    return [
      model.move(label, { ...offered, create: "acknowledged" }, { breaches }),
      ...model.allows(state, "client reply lost")
        ? [model.move(`${label}; client reply lost`, {
          ...suffer(offered, "client reply lost"),
          create: "unanswered"
        }, { isProgress: false })]
        : [],
      ...model.allows(state, "crash")
        ? [model.move(`${label}; crash before it is offered`, {
          ...suffer(down(stored, by), "crash"),
          create: "unanswered"
        }, { isProgress: false })]
        : [],
      ...inMemory
    ]
  })

/** What a poll shows. One that finds the task overdue leaves the rest to the sweeper. */
const get = (model: Model, state: State): ReadonlyArray<Move> =>
  model.movers(state).flatMap((by) => {
    const task = model.task(state)
    const label = `${serverName(by)} is asked`
    if (task === undefined || Task.isTerminal(task)) return [model.move(label, { ...state, hasSeenEnd: true })]
    return state.knows || task.status !== "input_required" || Task.isDue(task, clockOf(state, by))
      ? []
      : [model.move(`${label}, and shows the question`, { ...state, knows: true })]
  })

type Name = "answer" | "cancel"

const commandOf = (model: Model, state: State, name: Name, at: number): TaskCommand => {
  const task = model.task(state)
  if (name === "cancel") return { _tag: "Cancel", at }
  const responses = task === undefined ? [] : Task.outstanding(task).map(({ key }) => ({ key, response: "yes" }))
  return { _tag: "Answer", at, responses }
}

/** A server reads the task, and says what needs no write. */
const serve = (model: Model, state: State, name: Name, by: number): Request => {
  const task = model.task(state)
  const at = clockOf(state, by)
  const refused: Request = { ...unsent, at: "refused" }
  const held: Request = { at: "served", by, held: state.record }
  if (task === undefined) return refused
  if (Task.isDue(task, at)) return Task.isTerminal(task) ? refused : held
  const decision = model.records.decide(state.record, commandOf(model, state, name, at), state.record)
  return decision._tag === "Written" ? held : { ...unsent, at: "acknowledged" }
}

const acknowledged = (state: State, name: Name): State => ({ ...state, [name]: { ...unsent, at: "acknowledged" } })

const request = (model: Model, state: State, name: Name): ReadonlyArray<Move> => {
  const { at, by, held } = state[name]
  const label = (index: number) => `${serverName(index)} reads it for the ${name}`
  const isHasty = model.configuration.flaw === "acknowledged first" && model.allows(state, "crash")
  if (at === "unsent") {
    return model.movers(state).flatMap((index) => {
      const served = serve(model, state, name, index)
      return [
        ...served.at === "served" && model.configuration.isCoarse
          ? writeDown(model, { ...state, [name]: served }, name)
          : [model.move(label(index), { ...state, [name]: served })],
        ...isHasty && served.at === "served"
          ? [model.move(
            `${serverName(index)} acknowledges the ${name}; crash`,
            acknowledged(suffer(down(state, index), "crash"), name)
          )]
          : []
      ]
    })
  }
  if (at !== "served") return []
  if (!model.isCurrent(state, held)) {
    return [model.move(`${label(by)} again`, { ...state, [name]: serve(model, state, name, by) })]
  }
  return writeDown(model, state, name)
}

const writeDown = (model: Model, state: State, name: Name): ReadonlyArray<Move> => {
  const { by, held } = state[name]
  const task = model.records.get(held)?.task
  const isOverdue = task !== undefined && Task.isDue(task, clockOf(state, by))
  const command: TaskCommand = isOverdue
    ? { _tag: "Expire", at: clockOf(state, by) }
    : commandOf(model, state, name, clockOf(state, by))
  return write(model, state, {
    label: `${serverName(by)} writes the ${isOverdue ? "expiry" : name}`,
    by,
    isWorker: false,
    held,
    command
  }, {
    // After an expiry it is read again, and then there is nothing more to write.
    done: (next) => isOverdue && !model.configuration.isCoarse ? next : acknowledged(next, name),
    unsure: (next) => ({ ...next, [name]: unsent }),
    unanswered: (next) => ({ ...next, [name]: unsent })
  })
}

/**
 * What the client can do next.
 *
 * @since 0.1.0
 */
export const moves = (model: Model, state: State): ReadonlyArray<Move> => {
  if (state.create === "unsent") return create(model, state)
  if (state.create === "unanswered" || state.hasSeenEnd) return []
  return [
    ...get(model, state),
    ...state.knows ? request(model, state, "answer") : [],
    ...model.configuration.cancels ? request(model, state, "cancel") : []
  ]
}
