/**
 * One round of a call: a task's attempt in all but that its task is a value in memory, which ends with the round.
 *
 * @since 0.1.0
 */
import * as CanonicalJson from "@effect-mcp-tasks/core/CanonicalJson"
import * as Task from "@effect-mcp-tasks/core/Task"
import type { Named, TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { Answered, TaskJournal } from "@effect-mcp-tasks/core/TaskJournal"
import * as TaskMachine from "@effect-mcp-tasks/core/TaskMachine"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { InvalidAnswer } from "../TaskEngineError.ts"
import type { Limits } from "../TaskLimits.ts"
import type { RegisteredTool } from "../TaskTools.ts"
import * as answers from "./answers.ts"
import { Attempt, type Given } from "./attempt.ts"
import type { Put, Worker } from "./taskHandle.ts"

/**
 * What earlier rounds and the client bring to this one.
 *
 * @since 0.1.0
 */
export interface Brought {
  readonly answers: ReadonlyArray<Answered>
  /** Answers to what has not been asked yet; those to what has are among the others. */
  readonly responses: Schema.JsonObject
}

/**
 * The task that a call is for the time of a round: it was never stored, and nobody will ever poll it.
 *
 * @since 0.1.0
 */
export const begin = (
  tool: RegisteredTool,
  capabilities: Schema.JsonObject,
  steps: ReadonlyArray<Task.Step>,
  limits: Limits
): Task.Task => {
  const created = TaskMachine.create({
    taskId: "call",
    owner: "",
    tool: tool.name,
    arguments: {},
    capabilities,
    policy: {
      recovery: "resume",
      resultTtlMs: 0,
      maxLostAttempts: 0,
      maxQuestions: limits.maxQuestions,
      maxSteps: limits.maxSteps
    },
    ttlMs: null,
    pollIntervalMs: 0,
    at: 0,
    journal: { answers: [], steps }
  })
  return Result.getOrElse(TaskMachine.step(created, { _tag: "Start", at: 0 }), () => created)
}

/**
 * One round, for the handle of whatever runs in it.
 *
 * @since 0.1.0
 */
export class Round implements Worker {
  readonly taskId = Option.none<string>()
  readonly number = 0
  mute: Schema.JsonObject | undefined = undefined
  /** An answer that does not fit the question it was brought for. */
  fault: InvalidAnswer | undefined = undefined
  /** Opens whenever there may be something to look at. */
  readonly news = Latch.makeUnsafe(false)
  readonly attempt: Attempt
  private stored: Task.Stored
  private readonly brought: Brought

  constructor(task: Task.Task, brought: Brought) {
    this.brought = brought
    this.stored = { task, version: 1 }
    this.attempt = new Attempt({
      engine: { apply: (_target, command) => this.apply(command), now: Clock.currentTimeMillis },
      // Nothing is stored, and a call waits in its request.
      patiently: (effect) => effect,
      park: (answer) => answer
    }, this.stored)
  }

  get task(): Task.Task {
    return this.attempt.task
  }

  get standing() {
    return this.attempt.standing
  }

  give(given: Given) {
    return this.attempt.give(given)
  }

  ask(question: Put) {
    return this.attempt.ask(question)
  }

  /** What is asked and has no answer. */
  get outstanding(): ReadonlyArray<Put> {
    return Task.outstanding(this.task).map(({ key, request }) => ({ key, request }))
  }

  /** All answers and steps so far; what nobody has asked for in this round is kept for later. */
  get journal(): TaskJournal {
    const now = this.task.questions.filter((question) => question.state === "answered")
    const kept = this.brought.answers.filter(({ key }) => Task.findQuestion(this.task, key) === undefined)
    return { answers: [...now, ...kept], steps: this.task.steps }
  }

  private readonly apply = (command: TaskCommand): Effect.Effect<Task.Stored, TaskMachine.TaskRejected> => {
    const { task, version } = this.stored
    const next = TaskMachine.step(task, command)
    if (Result.isFailure(next)) return Effect.fail(next.failure)
    if (next.success === task) return Effect.succeed(this.stored)
    this.stored = {
      task: command._tag === "Ask" ? this.answered(next.success, command) : next.success,
      version: version + 1
    }
    return Effect.succeed(this.stored)
  }

  /** The task with the answer to what it has just asked, if there is one. */
  private readonly answered = (task: Task.Task, { at, key, request }: Named<"Ask">): Task.Task => {
    const response = this.responseTo({ key, request })
    if (response === undefined) {
      this.news.openUnsafe()
      return task
    }
    const answer: TaskCommand = { _tag: "Answer", at, responses: [{ key, response }] }
    return Result.getOrElse(TaskMachine.step(task, answer), () => task)
  }

  private readonly responseTo = (question: Put): Schema.Json | undefined => {
    const { answers: earlier, responses } = this.brought
    const answered = earlier.find(({ key }) => key === question.key)
    // What was answered is that request and no other.
    if (answered !== undefined) return isSame(answered.request, question.request) ? answered.response : undefined
    const checked = answers.checkAll([question], responses)
    if (Result.isSuccess(checked)) return checked.success[0]?.response
    this.fault = checked.failure
    return undefined
  }
}

const isSame = (self: Task.InputRequest, that: Task.InputRequest): boolean =>
  self.method === that.method && CanonicalJson.encode(self.params ?? null) === CanonicalJson.encode(that.params ?? null)

/** How a round ended. */
type End<A> =
  | { readonly _tag: "Ended"; readonly value: A }
  | { readonly _tag: "Asked" }
  | { readonly _tag: "Interrupted" }

/**
 * Runs something until it ends, or until it cannot go on without an answer.
 *
 * @since 0.1.0
 */
export const supervise = <A>(round: Round, effect: Effect.Effect<A>): Effect.Effect<End<A>, InvalidAnswer> =>
  Effect.flatMap(
    Effect.forkChild(effect),
    (fiber) => Effect.onInterrupt(watch(round, fiber), () => Fiber.interrupt(fiber))
  )

const watch = Effect.fnUntraced(function*<A>(
  round: Round,
  fiber: Fiber.Fiber<A>
): Effect.fn.Return<End<A>, InvalidAnswer> {
  fiber.addObserver(() => round.news.openUnsafe())
  while (round.outstanding.length === 0) {
    yield* round.news.await
    round.news.closeUnsafe()
    if (fiber.pollUnsafe() === undefined) yield* settled(round)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return yield* ended(exit, { _tag: "Interrupted" })
  }
  // What waits is not to withdraw its questions: they go to the client.
  round.attempt.standing = "released"
  fiber.interruptUnsafe()
  // Where it cannot be interrupted, it ends as if it had been: no answer comes in this round.
  round.attempt.abandon()
  const exit = yield* Fiber.await(fiber)
  if (round.fault !== undefined) return yield* round.fault
  return yield* ended(exit, { _tag: "Asked" })
})

/** A value counts even where an interruption came before it. */
const ended = <A>(exit: Exit.Exit<A>, interrupted: End<A>): Effect.Effect<End<A>> => {
  if (Exit.isSuccess(exit)) return Effect.succeed({ _tag: "Ended", value: exit.value })
  return Cause.hasInterruptsOnly(exit.cause) ? Effect.succeed(interrupted) : Effect.failCause(exit.cause)
}

/** How long nothing new may be asked before the round is over, in turns of the scheduler. */
const quietTurns = 3

/** Lets those ask who are about to, so that one round puts all questions that do not wait for each other. */
const settled = Effect.fnUntraced(function*(round: Round) {
  let seen = -1
  for (let quiet = 0; quiet < quietTurns;) {
    yield* Effect.yieldNow
    const count = round.task.questions.length
    quiet = count === seen ? quiet + 1 : 0
    seen = count
  }
})
