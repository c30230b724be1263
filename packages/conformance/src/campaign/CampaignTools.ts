/**
 * The tools of a campaign. Each tells the world what it does, so that what was done twice shows.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as World from "./World.ts"

const policy = { ttl: "10 minutes", resultTtl: "10 minutes", pollInterval: "100 millis" } as const

/** However often its process dies, it goes on. */
const Work = Tool.make("work", { success: Schema.String })
  .annotate(TaskTool.Policy, { ...policy, recovery: "resume", maxLostAttempts: 10_000 })

/** Asks in the middle. */
const Ask = Tool.make("ask", { success: Schema.String })
  .annotate(TaskTool.Policy, { ...policy, recovery: "resume", maxLostAttempts: 10_000 })

/** Must not be run twice. */
const Once = Tool.make("once", { success: Schema.String }).annotate(TaskTool.Policy, { ...policy, recovery: "fail" })

/** Takes down each process that runs it. */
const Deadly = Tool.make("deadly", { success: Schema.String })
  .annotate(TaskTool.Policy, { ...policy, recovery: "resume", maxLostAttempts: 2 })

/** Takes longer than a process that ends will wait, outside a step and then in one. No attempt at it may be lost. */
const Long = Tool.make("long", { success: Schema.String })
  .annotate(TaskTool.Policy, { ...policy, recovery: "resume", maxLostAttempts: 0 })

/**
 * The tools of a campaign.
 *
 * @category data
 * @since 0.2.0
 */
export const toolkit = Toolkit.make(Work, Ask, Once, Deadly, Long)

/** In milliseconds: four times the grace period of a replica. */
const long = 2_000

const question = { message: "Go on?", schema: Schema.Struct({ answer: Schema.String }) }

/** The handlers, which tell the world in a file. */
const handlers = (file: string) => {
  const begin = Effect.gen(function*() {
    const task = yield* CurrentTask.CurrentTask
    const taskId = Option.getOrThrow(task.taskId)
    yield* World.note(file, { _tag: "Run", taskId, attempt: task.attempt })
    return { task, taskId }
  })

  /** Does something that takes a while, once, and gives back what only this doing of it gives. */
  const step = Effect.fnUntraced(function*(name: string, millis?: number) {
    const task = yield* CurrentTask.CurrentTask
    const named = { taskId: Option.getOrThrow(task.taskId), attempt: task.attempt, step: name }
    const done = yield* task.step(
      name,
      Schema.String,
      Effect.gen(function*() {
        yield* World.note(file, { _tag: "Begin", ...named })
        yield* Effect.sleep(millis ?? (yield* Random.nextIntBetween(10, 150)))
        return SecureRandom.uuidV4Unsafe()
      })
    )
    yield* World.note(file, { _tag: "Kept", ...named })
    return done
  })

  return {
    work: () =>
      Effect.gen(function*() {
        const { task } = yield* begin
        const done: Array<string> = []
        for (const name of ["1", "2", "3"]) {
          done.push(yield* step(name))
          yield* task.report(`${name} of 3`)
        }
        return done.join(" ")
      }),
    ask: () =>
      Effect.gen(function*() {
        const { task } = yield* begin
        yield* step("1")
        const heard = yield* Effect.orDie(task.elicit("question", question))
        yield* step("2")
        return heard.action === "accept" ? heard.content.answer : heard.action
      }),
    once: () =>
      Effect.gen(function*() {
        yield* begin
        yield* Effect.sleep(yield* Random.nextIntBetween(10, 400))
        return "once"
      }),
    long: () =>
      Effect.gen(function*() {
        yield* begin
        yield* Effect.sleep(long)
        yield* step("1", long)
        return "long"
      }),
    deadly: () => Effect.andThen(begin, Effect.as(Effect.sync(() => process.kill(process.pid, "SIGKILL")), "alive"))
  }
}

/**
 * The tools, acting on a world that is a file.
 *
 * @category layers
 * @since 0.2.0
 */
export const layer = (file: string) => toolkit.toLayer(handlers(file))
