/**
 * One run of a task's handler in this process, as long as it is the current one.
 *
 * @since 0.1.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import type { TaskCommand } from "@effect-mcp-tasks/core/TaskCommand"
import type { TaskRejected } from "@effect-mcp-tasks/core/TaskMachine"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { TaskEngine } from "../TaskEngine.ts"
import type { Patiently } from "./patience.ts"

type Asked = Result.Result<Task.Question, TaskRejected>

type ApplyError = Effect.Error<ReturnType<TaskEngine["Service"]["apply"]>>

type Unnumbered<Command> = Command extends { readonly attempt: number } ? Omit<Command, "at" | "attempt"> : never

/**
 * A command of this attempt, before it is dated and numbered.
 *
 * @since 0.1.0
 */
export type AttemptCommand = Unnumbered<TaskCommand>

/**
 * A command, or what makes it of the time at which it is given: after an outage that is later than one thought.
 *
 * @since 0.2.0
 */
export type Given = AttemptCommand | ((at: number) => AttemptCommand)

const commandOf = (given: Given, at: number): AttemptCommand => typeof given === "function" ? given(at) : given

/**
 * What has become of the right to write: `current`, `stopped` because the client wished it, `superseded` because the
 * task ended or somebody else has it, or `released` because this process goes away.
 *
 * @since 0.1.0
 */
export type Standing = "current" | "stopped" | "superseded" | "released"

const tooLarge: Task.TaskError = { code: -32603, message: "The task has become larger than the store can keep" }

/**
 * What an attempt works with.
 *
 * @since 0.2.0
 */
export interface Surroundings {
  readonly engine: Pick<TaskEngine["Service"], "apply" | "now">
  readonly patiently: Patiently
  /** Waits for an answer, in the way in which handlers of this process wait. */
  readonly park: <A>(answer: Effect.Effect<A>) => Effect.Effect<A>
}

/**
 * One run of a task's handler in this process.
 *
 * @since 0.1.0
 */
export class Attempt {
  standing: Standing = "current"
  /** Whether the handler has ended, and only saying so is left to be done. */
  hasEnded = false
  /** Whether a write has found no task any more, though nobody had ended it as far as is known here. */
  isLost = false
  /** Whether somebody else has taken the task up, though this attempt had not ended. */
  isReplaced = false
  /** One write after the other: a hundred at once would each lose its race against all that come before it. */
  private readonly turn = Semaphore.makeUnsafe(1)
  private readonly waits = new Map<string, { readonly answer: Deferred.Deferred<Task.Question>; waiting: number }>()
  private readonly surroundings: Surroundings
  private stored: Task.Stored

  constructor(surroundings: Surroundings, stored: Task.Stored) {
    this.surroundings = surroundings
    this.stored = stored
    this.number = stored.task.attempt
  }

  readonly number: number

  /** A task can always ask. */
  readonly mute = undefined

  get task(): Task.Task {
    return this.stored.task
  }

  get taskId(): Option.Option<string> {
    return Option.some(this.task.taskId)
  }

  /**
   * Gives a command to the task, for as long as it takes: a store that is away is tried again until it is back.
   * The machine's refusal is a value, since most are ordinary races.
   */
  give(given: Given): Effect.Effect<Result.Result<Task.Task, TaskRejected>> {
    return Effect.matchEffect(this.turn.withPermit(this.write(given)), {
      onSuccess: (task) => Effect.succeed(Result.succeed(task)),
      onFailure: (error) => this.failed(given, error)
    })
  }

  private write(given: Given): Effect.Effect<Task.Task, ApplyError> {
    const { engine, patiently } = this.surroundings
    return Effect.flatMap(engine.now, (at) => {
      const full = { ...commandOf(given, at), at, attempt: this.number } as TaskCommand
      return Effect.map(patiently(engine.apply(this.stored, full), () => this.standing !== "released"), (stored) => {
        this.see(stored)
        return stored.task
      })
    })
  }

  private failed(given: Given, error: ApplyError): Effect.Effect<Result.Result<Task.Task, TaskRejected>> {
    if (error._tag === "TaskRejected") {
      if (error.reason === "StaleAttempt" && this.standing === "current") this.isReplaced = true
      if (error.reason === "Terminal" || error.reason === "StaleAttempt") this.standing = "superseded"
      return Effect.succeed(Result.fail(error))
    }
    const isTold = "error" in given && given.error === tooLarge
    // A task that has outgrown its store ends, and its handler with it: trying again could not help.
    const end = error._tag === "TaskStoreError" && error.reason === "TooLarge" && !isTold
      ? this.give({ _tag: "Fail", error: tooLarge })
      // The task was removed: it ended long ago, or an operator did it. Or the store is away and so are we.
      : Effect.void
    return Effect.andThen(end, Effect.suspend(() => {
      if (error._tag === "TaskNotFound" && this.standing === "current") this.isLost = true
      this.standing = "superseded"
      return Effect.interrupt
    }))
  }

  /**
   * Asks a question and waits for its answer. When the last one who waits is interrupted, the question is withdrawn:
   * nobody wants to know any more. That is not so when the whole attempt ends.
   */
  ask(question: { readonly key: string; readonly request: Task.InputRequest }): Effect.Effect<Asked> {
    return Effect.suspend(() => {
      const { key } = question
      const wait = this.waits.get(key) ?? { answer: Deferred.makeUnsafe<Task.Question>(), waiting: 0 }
      this.waits.set(key, wait)
      wait.waiting++
      let isWaiting = true
      /** Gives the place up, and says whether nobody waits for this answer any more. */
      const isLast = () => {
        if (!isWaiting) return false
        isWaiting = false
        wait.waiting--
        return wait.waiting === 0 && this.waits.get(key) === wait && this.waits.delete(key)
      }
      const leave = Effect.suspend(() =>
        isLast() && this.standing === "current" ? this.give({ _tag: "Withdraw", key }) : Effect.void
      )
      const awaitAnswer: Effect.Effect<Asked> = Effect.suspend(() => {
        if (this.standing === "superseded") return Effect.interrupt
        this.wake()
        // Withdrawn at once, not when the handler gets its turn again.
        const answer = Effect.onInterrupt(Deferred.await(wait.answer), () => leave)
        const parked = Deferred.isDoneUnsafe(wait.answer) ? answer : this.surroundings.park(answer)
        return Effect.map(parked, (answered): Asked => Result.succeed(answered))
      })
      // Not cut off on its way: what the store gets after the withdrawal would stand for as long as the handler runs.
      return Effect.uninterruptibleMask((restore) =>
        this.give({ _tag: "Ask", ...question }).pipe(
          Effect.flatMap((asked) =>
            Result.isSuccess(asked) ? restore(awaitAnswer) : Effect.sync((): Asked => {
              isLast()
              return Result.fail(asked.failure)
            })),
          Effect.onInterrupt(() => leave)
        )
      )
    })
  }

  private wake(): void {
    for (const [key, { answer }] of this.waits) {
      const known = Task.findQuestion(this.task, key)
      if (known?.state !== "answered") continue
      this.waits.delete(key)
      Deferred.doneUnsafe(answer, Effect.succeed(known))
    }
  }

  /**
   * Ends every wait as if it were interrupted, for a handler that asks where it cannot be. Interrupt it first.
   */
  abandon(): void {
    for (const { answer } of this.waits.values()) Deferred.doneUnsafe(answer, Effect.interrupt)
    this.waits.clear()
  }

  /**
   * Takes note of the task as it is now: answers wake their questions, and the standing follows.
   */
  see(stored: Task.Stored): void {
    if (stored.version <= this.stored.version) return
    const { lostAttempts } = this.stored.task
    this.stored = stored
    const { task } = stored
    this.wake()
    if (this.standing !== "current") return
    this.isReplaced = task.attempt !== this.number || task.lostAttempts > lostAttempts
    if (Task.isTerminal(task) || task.attempt !== this.number || !task.running) this.standing = "superseded"
    else if (task.status === "working" && task.cancelRequested) this.standing = "stopped"
  }
}
