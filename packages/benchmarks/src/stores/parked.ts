/**
 * What a handler costs while it waits for input: bytes of the heap beside the record of its task, and processor time.
 *
 * A program: `node --expose-gc parked.ts COUNT`, on the embedded engine over the store in memory. What the same number
 * of records costs without handlers is measured too and taken off, since it belongs to the store.
 *
 * @since 0.2.0
 */
import {
  CurrentTask,
  Embedded,
  TaskLimits,
  TaskOwner,
  TaskRunner,
  TaskStore,
  TaskTool,
  TaskTools
} from "@effect-mcp-tasks/engine"
import { Effect, Layer, ManagedRuntime, Option, Result, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const form = { message: "Go on?", schema: Schema.Struct({ go: Schema.Boolean }) }

const Ask = Tool.make("ask", { success: Schema.String }).annotate(TaskTool.Policy, { ttl: "1 day", recovery: "resume" })
const toolkit = Toolkit.make(Ask)
const handlers = toolkit.toLayer({
  ask: () =>
    Effect.gen(function*() {
      const task = yield* CurrentTask.CurrentTask
      const answer = yield* Effect.orDie(task.elicit("go", form))
      return answer.action
    })
})

const owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" })

/** An engine, and the store under it. */
const open = () =>
  ManagedRuntime.make(
    Embedded.layer.pipe(
      Layer.provideMerge(Layer.provide(TaskTools.layer(toolkit), handlers)),
      Layer.provideMerge(TaskStore.layerMemory),
      Layer.provide(TaskLimits.layer({ maxLiveTasks: Number.MAX_SAFE_INTEGER }))
    )
  )

const submit = Effect.gen(function*() {
  const tool = Option.getOrThrow((yield* TaskTools.TaskTools).get("ask"))
  const call = Result.getOrThrow(yield* tool.call({}))
  const capabilities = { elicitation: {} }
  const runner = yield* TaskRunner.TaskRunner
  yield* runner.submit({ owner, tool, call, arguments: {}, capabilities, traceparent: undefined })
})

const live = Effect.flatMap(TaskStore.TaskStore, (store) => store.list({ live: true, limit: Number.MAX_SAFE_INTEGER }))

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const heap = async (): Promise<number> => {
  if (globalThis.gc === undefined) throw new Error("It is called with --expose-gc")
  await pause(100)
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

/** How long processor time is measured: two heartbeats. */
const watched = 60_000

const measure = async (count: number) => {
  const engine = open()
  for (let n = 0; n < 20; n++) await engine.runPromise(submit)
  const before = await heap()
  for (let n = 0; n < count; n++) await engine.runPromise(submit)
  const all = await heap() - before
  const stored = await engine.runPromise(live)
  const parked = stored.filter(({ task }) => task.status === "input_required").length
  if (parked !== count + 20) throw new Error(`${parked} of ${count + 20} handlers wait`)

  const other = ManagedRuntime.make(TaskStore.layerMemory)
  const empty = await heap()
  await other.runPromise(
    Effect.flatMap(TaskStore.TaskStore, (store) =>
      Effect.forEach(
        stored,
        ({ task }) => store.create({ ...task, taskId: `${task.taskId}0` }, { maxLive: Number.MAX_SAFE_INTEGER }),
        { discard: true }
      ))
  )
  const records = (await heap() - empty) / stored.length * count
  return { handler: (all - records) / count, record: records / count }
}

const count = Number(process.argv[2])
const { handler, record } = await measure(count)
process.stdout.write(
  `parked: ${count} handlers, ${handler.toFixed(0)} bytes of heap each beside ${record.toFixed(0)} of its record\n`
)
const before = process.cpuUsage()
const seconds = Number(process.argv[3] ?? (count >= 1_000 ? watched / 1_000 : 0))
if (seconds > 0) {
  await pause(seconds * 1_000)
  const { system, user } = process.cpuUsage(before)
  const used = (user + system) / 1_000 / seconds
  process.stdout.write(`parked: ${used.toFixed(1)} ms of processor time a second, over ${seconds} s\n`)
}
process.exit(0)
