/**
 * The store that `docs/guides/writing-a-store.md` writes, block by block. A test compares the two and runs the
 * published suite on it.
 *
 * @since 0.1.0
 */
import type { Task } from "@effect-mcp-tasks/core"
import { TaskRecord, TaskStore } from "@effect-mcp-tasks/engine"
import { Effect, FileSystem, Layer, Option, Result, Schema, Semaphore } from "effect"

const Row = Schema.Struct({
  taskId: Schema.String,
  owner: Schema.String,
  live: Schema.Boolean,
  dueAt: Schema.NullOr(Schema.Finite),
  head: Schema.String,
  body: Schema.String,
  result: Schema.NullOr(Schema.String),
  version: Schema.Int
})
type Row = typeof Row.Type

/** A task as it is from now on, or nothing for one that is removed. */
const Line = Schema.fromJsonString(Schema.Struct({ taskId: Schema.String, row: Schema.NullOr(Row) }))

const encodeLine = (taskId: string, row: Row | null) => `${Schema.encodeSync(Line)({ taskId, row })}\n`

const writeAll = Effect.fnUntraced(function*(file: FileSystem.File, text: string) {
  yield* file.writeAll(new TextEncoder().encode(text))
  yield* file.sync
})

const open = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = (yield* fs.exists(path)) ? yield* fs.readFileString(path) : ""
  const rows = new Map<string, Row>()
  // What follows the last line end was being written when its process died. Nobody was told that it was kept.
  for (const line of text.split("\n").slice(0, -1)) {
    const { row, taskId } = yield* Schema.decodeEffect(Line)(line)
    if (row === null) rows.delete(taskId)
    else rows.set(taskId, row)
  }
  const compact = [...rows.values()].map((row) => encodeLine(row.taskId, row)).join("")
  yield* Effect.scoped(Effect.flatMap(fs.open(`${path}.new`, { flag: "w" }), (file) => writeAll(file, compact)))
  yield* fs.rename(`${path}.new`, path)
  return { rows, file: yield* fs.open(path, { flag: "a" }) }
})

/** What becomes of a task: the row to keep, nothing to remove it, no row to leave it as it is. */
interface Change<A> {
  readonly row?: Row | null
  readonly answer: A
}

const makeWriter = (rows: Map<string, Row>, file: FileSystem.File) => {
  const lock = Semaphore.makeUnsafe(1)
  let broken: unknown

  return <A, E>(
    operation: "create" | "replace" | "remove",
    taskId: string,
    decide: (held: Row | undefined) => Effect.Effect<Change<A>, E>
  ) =>
    lock.withPermits(1)(Effect.uninterruptible(Effect.gen(function*() {
      const { answer, row } = yield* decide(rows.get(taskId))
      if (row === undefined) return answer
      if (broken !== undefined) {
        return yield* new TaskStore.TaskStoreError({ operation, reason: "ReadOnly", cause: broken })
      }
      yield* Effect.mapError(writeAll(file, encodeLine(taskId, row)), (cause) => {
        broken = cause
        return new TaskStore.TaskStoreError({ operation, reason: "Unavailable", cause })
      })
      if (row === null) rows.delete(taskId)
      else rows.set(taskId, row)
      return answer
    })))
}

const decode = (row: Row, operation: "read" | "list") =>
  Effect.fromResult(
    Result.mapError(TaskRecord.decode(row), (corrupt) => new TaskStore.TaskStoreError({ operation, ...corrupt }))
  )

const view = (row: Row) =>
  Effect.fromResult(
    Result.mapError(TaskRecord.view(row), (corrupt) => new TaskStore.TaskStoreError({ operation: "view", ...corrupt }))
  )

type ListOptions = Parameters<TaskStore.TaskStore["Service"]["list"]>[0]

const makeReads = (rows: ReadonlyMap<string, Row>) => {
  const find = (isWanted: (row: Row) => boolean) => Effect.sync(() => [...rows.values()].filter(isWanted))
  return {
    read: (taskId: string) =>
      Effect.suspend(() => {
        const row = rows.get(taskId)
        return row === undefined ? Effect.succeedNone : Effect.asSome(decode(row, "read"))
      }),
    view: (taskId: string) =>
      Effect.suspend(() => {
        const row = rows.get(taskId)
        return row === undefined ? Effect.succeedNone : Effect.asSome(view(row))
      }),
    countLive: (owner: string) => Effect.map(find((row) => row.live && row.owner === owner), (found) => found.length),
    due: (now: number, limit: number) =>
      Effect.map(find(({ dueAt }) => dueAt !== null && dueAt <= now), (found) =>
        found.toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
          .slice(0, limit)
          .map(({ live, taskId, version }) => ({ live, taskId, version }))),
    list: Effect.fnUntraced(function*({ after, limit, live, owner }: ListOptions) {
      const found = yield* find((row) =>
        (after === undefined || row.taskId > after) && (live ?? row.live) === row.live &&
        (owner ?? row.owner) === row.owner
      )
      const page: Array<Task.Stored> = []
      for (const row of found.toSorted((a, b) => a.taskId < b.taskId ? -1 : 1)) {
        if (page.length >= limit) break
        const decoded = yield* Effect.option(Effect.tapError(decode(row, "list"), Effect.logError))
        page.push(...Option.toArray(decoded))
      }
      return page
    })
  }
}

const make = Effect.fnUntraced(function*(path: string) {
  const { file, rows } = yield* open(path)
  const write = makeWriter(rows, file)
  const countLive = (owner: string) => [...rows.values()].filter((row) => row.live && row.owner === owner).length

  return TaskStore.TaskStore.of({
    ...makeReads(rows),
    create: (task, { maxLive }) =>
      write("create", task.taskId, Effect.fnUntraced(function*(held) {
        const record = TaskRecord.encode(task)
        if (held !== undefined) return yield* new TaskStore.TaskAlreadyExists({ taskId: task.taskId })
        if (countLive(task.owner) >= maxLive) return yield* new TaskStore.TooManyTasks({ limit: maxLive })
        return { row: { ...record, version: 1 }, answer: { task, version: 1 } }
      })),
    replace: (stored, next) => {
      const { task: { taskId }, version } = stored
      return write("replace", taskId, Effect.fnUntraced(function*(held) {
        const record = TaskRecord.encodeNext(stored, next)
        if (held?.version !== version) return yield* new TaskStore.VersionConflict({ taskId, version })
        return { row: { ...record, version: version + 1 }, answer: { task: next, version: version + 1 } }
      }))
    },
    remove: (taskId, version) =>
      write("remove", taskId, (held) =>
        Effect.succeed(held?.version === version ? { row: null, answer: true } : { answer: false }))
  })
})

/** Keeps tasks in a file of lines, which one process at a time may open. */
export const layer = (path: string) => Layer.effect(TaskStore.TaskStore, make(path))
