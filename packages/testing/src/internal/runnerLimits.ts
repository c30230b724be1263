/**
 * The limits that a process was given hold for every handler that it runs.
 *
 * @since 0.2.0
 */
import type { Task } from "@effect-mcp-tasks/core/Task"
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import type { Limits } from "@effect-mcp-tasks/engine/TaskLimits"
import { assert } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Fleet, start } from "../Fleet.ts"
import { accept, call, confirm, owner } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing()

const read = (taskId: string) =>
  Effect.flatMap(Fleet, ({ store }) => Effect.map(store.read(taskId), (stored) => Option.getOrThrow(stored).task))

type Handle = typeof CurrentTask.CurrentTask.Service

/** Something that a handler may do up to a limit, and how much of it there is in its task at the most. */
interface Bound {
  readonly name: keyof Limits
  readonly limits: Partial<Limits>
  /** Does so much of it. */
  readonly does: (task: Handle, amount: number) => Effect.Effect<unknown, CurrentTask.InputUnavailable>
  readonly amounts: { readonly within: number; readonly beyond: number }
  readonly most: (task: Task) => number
  readonly mostIs: number
}

const step = (task: Handle, name: string, value: Schema.Json) => task.step(name, Schema.Json, Effect.succeed(value))

const times = (count: number) => Array.from({ length: count }, (_, index) => String(index))

const nested = (depth: number): Schema.Json => depth === 0 ? 1 : [nested(depth - 1)]

const stepsOf = ({ steps }: Task) => steps.length

/** What ends the task of a handler that goes beyond it. */
const ending: ReadonlyArray<Bound> = [
  {
    name: "maxQuestions",
    limits: { maxQuestions: 2 },
    does: (task, count) =>
      Effect.forEach(times(count), (key) => task.elicit(key, confirm), { concurrency: "unbounded" }),
    amounts: { within: 2, beyond: 3 },
    most: ({ questions }) => questions.length,
    mostIs: 2
  },
  {
    name: "maxSteps",
    limits: { maxSteps: 3 },
    does: (task, count) => Effect.forEach(times(count), (name) => step(task, name, 1)),
    amounts: { within: 3, beyond: 4 },
    most: stepsOf,
    mostIs: 3
  },
  {
    name: "maxEntryLength",
    limits: { maxEntryLength: 400 },
    does: (task, length) => step(task, "long", "x".repeat(length)),
    amounts: { within: 300, beyond: 500 },
    most: stepsOf,
    mostIs: 1
  },
  {
    name: "maxJsonDepth",
    limits: { maxJsonDepth: 8 },
    does: (task, depth) => step(task, "deep", nested(depth)),
    amounts: { within: 6, beyond: 20 },
    most: stepsOf,
    mostIs: 1
  },
  {
    name: "maxJournalLength",
    limits: { maxJournalLength: 1_000 },
    does: (task, count) => Effect.forEach(times(count), (name) => step(task, name, "x".repeat(300))),
    amounts: { within: 2, beyond: 4 },
    most: stepsOf,
    mostIs: 3
  }
]

const answers = (questions: Task["questions"]) =>
  Object.fromEntries(questions.map(({ key }) => [key, accept.confirm] as const))

const ends: ReadonlyArray<RunnerCase> = ending.map(({ amounts, does, limits, most, mostIs, name }) =>
  test(`ends a handler that goes beyond ${name}, and none that keeps within it`, ({ becomes, until }) =>
    Effect.gen(function*() {
      const once = (amount: string) =>
        Effect.gen(function*() {
          yield* Effect.orDie(does(yield* CurrentTask.CurrentTask, Number(amount)))
          return "within"
        })
      const process = yield* start({ once }, { limits })
      const within = yield* call(process, "once", String(amounts.within))
      const isReady = Effect.map(read(within), ({ questions, status }) =>
        status === "completed" || questions.length === amounts.within)
      yield* until("it has done what it may", isReady)
      yield* process.engine.answer(owner, within, answers((yield* read(within)).questions))
      yield* becomes(process, within, "completed")
      const beyond = yield* call(process, "once", String(amounts.beyond))
      assert.strictEqual((yield* becomes(process, beyond, "failed")).error.code, -32603)
      assert.isAtMost(most(yield* read(beyond)), mostIs)
    }))
)

const cuts: ReadonlyArray<RunnerCase> = [
  test("cuts what a handler reports at maxMessageLength", ({ becomes }) =>
    Effect.gen(function*() {
      const once = (text: string) =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          yield* task.report(text)
          return yield* task.elicit("confirm", confirm)
        }).pipe(Effect.orDie)
      const process = yield* start({ once }, { limits: { maxMessageLength: 10 } })
      for (const [message, shown] of [["0123456789", "0123456789"], ["0123456789 and more", "0123456789"]] as const) {
        const taskId = yield* call(process, "once", message)
        assert.strictEqual((yield* becomes(process, taskId, "input_required")).statusMessage, shown)
      }
    })),

  test("lets no task live longer than maxTtl, though its handler asks for more", ({ becomes }) =>
    Effect.gen(function*() {
      const maxTtl = Duration.minutes(5)
      const once = (wanted: string) =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          // A life is counted from its beginning, and not from when something was last written of it.
          yield* Effect.sleep("1 second")
          yield* task.extend(Duration.minutes(Number(wanted)))
          return yield* task.elicit("confirm", confirm)
        }).pipe(Effect.orDie)
      const process = yield* start({ once }, { limits: { maxTtl } })
      const granted = yield* call(process, "once", "4")
      assert.isAtLeast((yield* becomes(process, granted, "input_required")).ttlMs, 4 * 60_000)
      const capped = yield* call(process, "once", "600")
      const { ttlMs } = yield* becomes(process, capped, "input_required")
      assert.isAtMost(ttlMs, Duration.toMillis(maxTtl))
      assert.isAtLeast(ttlMs, 4 * 60_000)
    }))
]

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [...ends, ...cuts]
