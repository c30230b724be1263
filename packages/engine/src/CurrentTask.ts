/**
 * What a tool's handler sees of the task it runs as.
 *
 * A handler need not know whether it runs as a task: within a plain call the same operations are there, only that
 * nobody can be asked and nothing is remembered.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Amount, CallProgress } from "./CallProgress.ts"

/**
 * The client cannot be asked.
 *
 * **Details**
 *
 * `NotATask`: the handler runs within a plain call. `NotDeclared`: the call that created the task did not declare
 * that its client can be asked in this way (MRTR: a server MUST NOT ask for what was not declared).
 *
 * @category errors
 * @since 0.1.0
 */
export class InputUnavailable extends Schema.TaggedError<InputUnavailable>()("InputUnavailable", {
  key: Schema.String,
  reason: Schema.Literals(["NotATask", "NotDeclared"])
}) {
  override get message(): string {
    return this.reason === "NotATask"
      ? "Input can only be asked for while running as a task"
      : "The client did not declare that it can be asked for input"
  }
}

/**
 * What the user did with a form.
 *
 * @category models
 * @since 0.1.0
 */
export type Elicited<A> =
  | { readonly action: "accept"; readonly content: A }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * A form to put before the user.
 *
 * @category models
 * @since 0.1.0
 */
export interface Form<A, I> {
  /** Why it is asked, for people to read. */
  readonly message: string
  /** A struct of strings, numbers, booleans and enums: what the answer must be like. */
  readonly schema: Schema.Codec<A, I>
}

/**
 * What a tool's handler sees of the task it runs as.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskHandle {
  /** The id of the task; none within a plain call. */
  readonly taskId: Option.Option<string>

  /** Which attempt this is: 1 at first, higher after a restart; 0 within a plain call. */
  readonly attempt: number

  /**
   * Says how far the work is: as the task's `statusMessage`; within a plain call as `notifications/progress`, if its
   * client asked for them with a `progressToken`.
   *
   * **Details**
   *
   * `amount` is for plain calls. Left out, each report counts as one more. A report that is not ahead of the last one
   * is not sent (MCP, "Progress": the value MUST increase). A plain call's reports never wait for the client: of many
   * that it has not read, the oldest are dropped.
   */
  readonly report: (message: string, amount?: Amount) => Effect.Effect<void>

  /**
   * Puts a form before the user and waits for what becomes of it, for days if need be.
   *
   * **Details**
   *
   * The key names the question for the task's whole life (ext-tasks, "Task Update Requests"). When the handler runs
   * again after a restart, the question that it asks again under the same key is the same question: outstanding it
   * stays with the client, answered it is not asked a second time. Interrupting the wait withdraws the question.
   *
   * **Gotchas**
   *
   * Dies when the key was used for another question before.
   */
  readonly elicit: <A, I>(key: string, form: Form<A, I>) => Effect.Effect<Elicited<A>, InputUnavailable>

  /**
   * Does something once, and remembers the result under a name: when the handler runs again after a restart, it gets
   * the remembered result without doing it again.
   *
   * **Gotchas**
   *
   * Something whose process dies between doing and remembering is done again. Dies when the name was used for
   * another step before.
   */
  readonly step: <A, I, E, R>(
    name: string,
    schema: Schema.Codec<A, I>,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>

  /** Asks for at least this much life from now on, within `TaskLimits.maxTtl`. */
  readonly extend: (ttl: Duration.Input) => Effect.Effect<void>
}

/**
 * The task that the current fiber works for; within a plain call, a stand-in that remembers nothing.
 *
 * @category services
 * @since 0.1.0
 */
export const CurrentTask: Context.Reference<TaskHandle> = Context.Reference<TaskHandle>(
  "@effect-mcp-tasks/engine/CurrentTask",
  {
    defaultValue: () => ({
      taskId: Option.none(),
      attempt: 0,
      report: (message, amount) => Effect.flatMap(CallProgress, (progress) => progress(message, amount)),
      elicit: (key) => Effect.fail(new InputUnavailable({ key, reason: "NotATask" })),
      step: (_name, _schema, effect) => effect,
      extend: () => Effect.void
    })
  }
)
