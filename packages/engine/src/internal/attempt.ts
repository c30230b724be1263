/**
 * One run of a task's handler in this process, as long as it is the current one.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { TaskRejected } from "@effect-mcp-tasks/core/TaskMachine"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { TaskEngine } from "../TaskEngine.ts"
import type { TaskStoreError } from "../TaskStore.ts"

type Unnumbered<Command> = Command extends { readonly attempt: number } ? Omit<Command, "at" | "attempt"> : never

/**
 * A command of this attempt, before it is dated and numbered.
 *
 * @since 0.1.0
 */
export type AttemptCommand = Unnumbered<TaskCommand>

/**
 * What has become of the right to write: `current`, `stopped` because the client wished it, `superseded` because the
 * task ended or somebody else has it, or `released` because this process goes away.
 *
 * @since 0.1.0
 */
export type Standing = "current" | "stopped" | "superseded" | "released"

/**
 * One run of a task's handler in this process.
 *
 * @since 0.1.0
 */
export class Attempt {
  standing: Standing = "current"
  /** Whether the handler has ended, and only saying so is left to be done. */
  hasEnded = false
  private readonly waits = new Map<string, { readonly answer: Deferred.Deferred<Task.Question>; waiting: number }>()
  private readonly engine: TaskEngine["Service"]
  private stored: Task.Stored

  constructor(engine: TaskEngine["Service"], stored: Task.Stored) {
    this.engine = engine
    this.stored = stored
    this.number = stored.task.attempt
  }

  readonly number: number

  get task(): Task.Task {
    return this.stored.task
  }

  /**
   * Gives a command to the task, for as long as it takes: a store that is away is tried again until it is back.
   * The machine's refusal is a value, since most are ordinary races.
   */
  readonly give = (command: AttemptCommand): Effect.Effect<Result.Result<Task.Task, TaskRejected>> =>
    Effect.gen({ self: this }, function*() {
      const at = yield* Clock.currentTimeMillis
      const full = { ...command, at, attempt: this.number } as TaskCommand
      const stored = yield* patiently(this.engine.apply(this.stored, full), () => this.standing !== "released")
      this.see(stored)
      return Result.succeed(stored.task)
    }).pipe(
      Effect.catchTag("TaskRejected", (rejected) => {
        if (rejected.reason === "Terminal" || rejected.reason === "StaleAttempt") this.standing = "superseded"
        return Effect.succeed(Result.fail(rejected))
      }),
      Effect.catchIf(isTooLarge, (error) =>
        command._tag === "Fail" ? Effect.fail(error) : this.give({ _tag: "Fail", error: outgrown })),
      // The task was removed: it ended long ago, or an operator did it. Or the store is away and so are we.
      Effect.catchTag(["TaskNotFound", "TaskStoreError"], () => {
        this.standing = "superseded"
        return Effect.interrupt
      })
    )

  /**
   * Asks a question and waits for its answer. When the last one who waits is interrupted, the question is withdrawn:
   * nobody wants to know any more. That is not so when the whole attempt ends.
   */
  readonly ask = (
    question: { readonly key: string; readonly request: Task.InputRequest },
    give: (command: AttemptCommand) => Effect.Effect<unknown>
  ): Effect.Effect<Task.Question> =>
    Effect.suspend(() => {
      const { key } = question
      const wait = this.waits.get(key) ?? { answer: Deferred.makeUnsafe<Task.Question>(), waiting: 0 }
      this.waits.set(key, wait)
      wait.waiting++
      const leave = Effect.suspend(() => {
        wait.waiting--
        if (wait.waiting > 0 || this.waits.get(key) !== wait) return Effect.void
        this.waits.delete(key)
        return this.standing === "current" ? this.give({ _tag: "Withdraw", key }) : Effect.void
      })
      return give({ _tag: "Ask", ...question }).pipe(
        Effect.andThen(Effect.suspend(() => {
          this.wake()
          return Deferred.await(wait.answer)
        })),
        Effect.onInterrupt(() => leave)
      )
    })

  private readonly wake = (): void => {
    for (const [key, { answer }] of this.waits) {
      const known = Task.findQuestion(this.task, key)
      if (known?.state !== "answered") continue
      this.waits.delete(key)
      Deferred.doneUnsafe(answer, Effect.succeed(known))
    }
  }

  /**
   * Takes note of the task as it is now: answers wake their questions, and the standing follows.
   */
  readonly see = (stored: Task.Stored): void => {
    if (stored.version <= this.stored.version) return
    this.stored = stored
    const { task } = stored
    this.wake()
    if (this.standing !== "current") return
    if (Task.isTerminal(task) || task.attempt !== this.number || !task.running) this.standing = "superseded"
    else if (task.status === "working" && task.cancelRequested) this.standing = "stopped"
  }
}

const backoff = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced(Duration.seconds(10))])

const isStoreError = (error: { readonly _tag: string }): error is TaskStoreError => error._tag === "TaskStoreError"

const isTooLarge = (error: { readonly _tag: string }): error is TaskStoreError =>
  isStoreError(error) && error.reason === "TooLarge"

const isPassing = (error: { readonly _tag: string }): error is TaskStoreError =>
  isStoreError(error) && !error.isPermanent

const outgrown = { code: -32603, message: "The task has grown larger than its store can keep" }

/**
 * Tries again while the store is away and for as long as `worthwhile`, and says so in the log once. What can never
 * succeed is not tried again.
 *
 * @since 0.1.0
 */
export const patiently = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>,
  worthwhile: () => boolean
): Effect.Effect<A, E, R> =>
  Effect.catchIf(effect, isPassing, (error) =>
    Effect.andThen(
      Effect.logError("The task store failed; trying until it works", error),
      Effect.retry(effect, { while: (error) => isPassing(error) && worthwhile(), schedule: backoff })
    ))
