/**
 * What is measured: a store of ours, or the bare driver under it, doing the same work on the same records.
 *
 * @since 0.1.0
 */
import { type Task, TaskMachine } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import * as TaskRecord from "@effect-mcp-tasks/engine/TaskRecord"
import { Effect, type Layer, ManagedRuntime, Option, Result } from "effect"

/** How many operations are in flight. */
export const concurrency = 32

/** Is what is measured, in the order in which it has to be done: what is read must have been created. */
export const operations = ["create", "claim", "transition", "poll", "read"] as const

/** Is one of the operations. */
export type Operation = (typeof operations)[number]

/** Is one side of a comparison. */
export interface Contestant {
  readonly name: string
  /** Makes the tasks of the next round, beside those of earlier rounds. Not measured. */
  readonly prepare: (count: number) => void
  /** Does an operation once with each task of the round. */
  readonly run: (operation: Operation) => Promise<void>
  /** Removes everything it made. */
  readonly close: () => Promise<void>
}

/** Is a store with the driver that it is compared with, where there is one; or why it cannot be measured. */
export interface Pair {
  readonly store: Contestant
  readonly bare: Contestant | undefined
  /** How durable the writes are: without that, numbers of different stores cannot be compared. */
  readonly settings: string
}

const at = 1_790_000_000_000

/** Makes a task with arguments of about a kilobyte, as an engine does that leaves it to a worker. */
export const task = (taskId: string): Task.Task =>
  TaskMachine.create({
    taskId,
    owner: `["https://issuer.example","owner-${taskId.slice(-1)}",null]`,
    tool: "research",
    arguments: { topic: "tea", text: "x".repeat(1_000) },
    capabilities: { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    policy: { recovery: "resume", resultTtlMs: 3_600_000, maxLostAttempts: 5, maxQuestions: 100, maxSteps: 1_000 },
    ttlMs: 3_600_000,
    pollIntervalMs: 1_000,
    at
  })

/** Changes a task as the worker does that claims it. */
export const claimed = (task: Task.Task): Task.Task =>
  Result.getOrThrow(TaskMachine.step(task, { _tag: "Start", at, after: task.attempt, worker: "0".repeat(24) }))

/** Changes a task as a handler does that reports. */
export const reported = (task: Task.Task): Task.Task =>
  Result.getOrThrow(TaskMachine.step(task, { _tag: "Report", at: at + 1, attempt: task.attempt, message: "half-way" }))

const written = ({ body, head, owner }: TaskRecord.TaskRecord): number => Buffer.byteLength(body + head + owner)

/** Is how many bytes of text a store keeps for each task. */
export const recordBytes = written(TaskRecord.encode(task("0".repeat(32))))

/** Names the tasks of a round. */
export const ids = (round: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, n) => `${String(round).padStart(3, "0")}${String(n).padStart(29, "0")}`)

interface Prepared {
  readonly created: TaskRecord.TaskRecord
  readonly claimed: TaskRecord.TaskRecord
  readonly replaced: TaskRecord.TaskRecord
}

/** Makes a contestant of a store. */
export const ofStore = <E>(
  name: string,
  layer: Layer.Layer<TaskStore.TaskStore, E>,
  cleanUp: () => Promise<void> = () => Promise.resolve()
): Contestant => {
  const runtime = ManagedRuntime.make(layer)
  let round = 0
  let held: ReadonlyArray<Task.Stored> = []
  const each = <A, E>(work: (store: TaskStore.TaskStore["Service"], stored: Task.Stored) => Effect.Effect<A, E>) =>
    runtime.runPromise(
      Effect.flatMap(TaskStore.TaskStore, (store) =>
        Effect.forEach(held, (stored) => work(store, stored), { concurrency, discard: true }))
    )
  const found = <A, E>(effect: Effect.Effect<Option.Option<A>, E>) => Effect.map(effect, Option.getOrThrow)
  return {
    name,
    prepare: (count) => {
      held = ids(round++, count).map((taskId) => ({ task: task(taskId), version: 1 }))
    },
    run: (operation) => {
      switch (operation) {
        case "create":
          return each((store, { task }) => store.create(task, { maxLive: Number.MAX_SAFE_INTEGER }))
        case "claim":
          return each((store, { task }) =>
            Effect.flatMap(found(store.read(task.taskId)), (stored) => store.replace(stored, claimed(stored.task))))
        case "transition":
          return each((store, { task }) => {
            const running = claimed(task)
            return store.replace({ task: running, version: 2 }, reported(running))
          })
        case "poll":
          return each((store, { task }) => found(store.view(task.taskId)))
        case "read":
          return each((store, { task }) => found(store.read(task.taskId)))
      }
    },
    close: async () => {
      await cleanUp()
      await runtime.dispose()
    }
  }
}

/** Is what a bare driver does for each operation; it answers whether it found what it should. */
export interface Bare {
  readonly create: (record: TaskRecord.TaskRecord) => Promise<boolean> | boolean
  readonly transition: (record: TaskRecord.TaskRecord, version: number) => Promise<boolean> | boolean
  readonly poll: (taskId: string) => Promise<boolean> | boolean
  readonly read: (taskId: string) => Promise<boolean> | boolean
}

/** Makes a contestant of a driver. The records that it writes are made before its clock starts. */
export const ofDriver = (name: string, bare: Bare, close: () => Promise<void>): Contestant => {
  let round = 0
  let prepared: ReadonlyArray<Prepared> = []
  const each = async (work: (item: Prepared) => Promise<boolean> | boolean): Promise<void> => {
    let next = 0
    const loop = async () => {
      for (let item = prepared[next++]; item !== undefined; item = prepared[next++]) {
        if (!await work(item)) throw new Error(`${name} did not find ${item.created.taskId}`)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, loop))
  }
  return {
    name,
    close,
    prepare: (count) => {
      prepared = ids(round++, count).map((taskId) => {
        const created = task(taskId)
        const running = claimed(created)
        return {
          created: TaskRecord.encode(created),
          claimed: TaskRecord.encode(running),
          replaced: TaskRecord.encode(reported(running))
        }
      })
    },
    run: (operation) => {
      switch (operation) {
        case "create":
          return each(({ created }) => bare.create(created))
        case "claim":
          return each(async ({ claimed }) => await bare.read(claimed.taskId) && await bare.transition(claimed, 1))
        case "transition":
          return each(({ replaced }) => bare.transition(replaced, 2))
        default:
          return each(({ created }) => bare[operation](created.taskId))
      }
    }
  }
}
