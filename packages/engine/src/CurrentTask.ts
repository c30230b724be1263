/**
 * What a tool's handler sees of the task it runs as.
 *
 * A handler need not know whether it runs as a task: within a plain call the same operations are there. Its questions
 * are then put in rounds (MCP, "Multi Round-Trip Requests"): the call answers with them, and when the client calls
 * again with the answers, the handler runs again from the top over what it asked and did before.
 *
 * @since 0.1.0
 */
import type { CreateMessageParams, CreateMessageResult, Root } from "@effect-mcp-tasks/core/InputWire"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as CallProgress from "./CallProgress.ts"

/**
 * The client cannot be asked.
 *
 * **Details**
 *
 * - `NotDeclared`: the call did not declare that its client can be asked in this way (MRTR: a server MUST NOT ask for
 *   what was not declared).
 * - `NotRepeatable`: the handler runs within a plain call, and its tool's `recovery` forbids the second run that an
 *   answer takes. What `TaskTool.askFirst` asks is not concerned.
 * - `NotATask`: there is no call at all, as in a test without one.
 *
 * A handler that does not catch it ends its call with -32021 and `requiredCapabilities` (basic/index).
 *
 * @category errors
 * @since 0.1.0
 */
export class InputUnavailable extends Schema.TaggedError<InputUnavailable>()("InputUnavailable", {
  key: Schema.String,
  reason: Schema.Literals(["NotATask", "NotDeclared", "NotRepeatable"]),
  /** What a client would have to declare so that it could be asked. */
  requiredCapabilities: Schema.JsonObject
}) {
  override get message(): string {
    switch (this.reason) {
      case "NotATask":
        return "There is no call within which input could be asked for"
      case "NotDeclared":
        return "The client did not declare that it can be asked for input"
      case "NotRepeatable":
        return "Input can only be asked for while running as a task"
    }
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
 * A page to send the user to, for what must not pass through the client: credentials, payments, consent elsewhere.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  /** Why the user is sent there, for people to read. */
  readonly message: string
  /** An absolute `https:` address (`http:` for development) that holds no secret and nothing about the user. */
  readonly url: string
}

/**
 * What the user did with a link. `accept` is consent to open it; whether anything was done there, the page knows.
 *
 * @category models
 * @since 0.1.0
 */
export type Consent = "accept" | "decline" | "cancel"

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
  readonly report: (message: string, amount?: CallProgress.Amount) => Effect.Effect<void>

  /**
   * Puts a form before the user and waits for what becomes of it, for days if need be.
   *
   * **Details**
   *
   * The key names the question for the task's whole life (ext-tasks, "Task Update Requests"). When the handler runs
   * again after a restart, the question that it asks again under the same key is the same question: outstanding it
   * stays with the client, answered it is not asked a second time. Interrupting the wait withdraws the question; when
   * it is asked again, clients see it under another key, since they have seen the first. So they do when an answer
   * fits the form but not what the schema says beyond it.
   *
   * **Gotchas**
   *
   * Dies when the key was used for another question before, and when the schema cannot be a form.
   */
  readonly elicit: <A, I>(key: string, form: Form<A, I>) => Effect.Effect<Elicited<A>, InputUnavailable>

  /**
   * Asks the user to open a page (MCP, "URL Mode Elicitation Requests"), and waits for the consent.
   *
   * **Gotchas**
   *
   * Whoever opens the page need not be the user who was asked: the page must find out (MCP, "Phishing"). Dies when the
   * address cannot be shown to a client.
   */
  readonly elicitUrl: (key: string, link: Link) => Effect.Effect<Consent, InputUnavailable>

  /**
   * Asks the client's model.
   *
   * **Gotchas**
   *
   * MCP deprecates sampling since revision 2026-07-28. Dies on a conversation that no model may be given.
   */
  readonly sample: (key: string, request: CreateMessageParams) => Effect.Effect<CreateMessageResult, InputUnavailable>

  /**
   * Asks what directories and files the client works on.
   *
   * **Gotchas**
   *
   * MCP deprecates roots since revision 2026-07-28. They are guidance, and no protection.
   */
  readonly listRoots: (key: string) => Effect.Effect<ReadonlyArray<Root>, InputUnavailable>

  /**
   * Does something once, and remembers the result under a name: when the handler runs again, after a restart or for
   * the next round of a plain call, it gets the remembered result without doing it again.
   *
   * **Gotchas**
   *
   * Something whose process dies between doing and remembering is done again. Dies when the name was used for
   * another step before. Within a plain call it is the client that carries the result, sealed, to the next round.
   */
  readonly step: <A, I, E, R>(
    name: string,
    schema: Schema.Codec<A, I>,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>

  /** Asks for at least this much life from now on, within `TaskLimits.maxTtl`. */
  readonly extend: (ttl: Duration.Input) => Effect.Effect<void>
}

const unavailable = (key: string) =>
  Effect.fail(new InputUnavailable({ key, reason: "NotATask", requiredCapabilities: {} }))

/**
 * The task that the current fiber works for; where there is no call, a stand-in that asks and remembers nothing.
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
      report: CallProgress.report,
      elicit: unavailable,
      elicitUrl: unavailable,
      sample: unavailable,
      listRoots: unavailable,
      step: (_name, _schema, effect) => effect,
      extend: () => Effect.void
    })
  }
)
