/**
 * One round of a call whose tool may ask before there is a task (MCP, "Multi Round-Trip Requests").
 *
 * A round runs what it is given over what earlier rounds have gathered. It ends with a value, or with the questions
 * that stand in the way: then whatever ran is interrupted, and the client is to call again with the answers. Between
 * rounds the server keeps nothing: the state travels with the client, and whoever hands it in here has made sure that
 * it is one that this server gave to the same owner for the same call.
 *
 * The rules for keys and steps are those of a task (`TaskMachine`, invariants 3 and 7).
 *
 * @since 0.1.0
 */
import type { InputRequest } from "@effect-mcp-tasks/core/Task"
import * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskJournal from "@effect-mcp-tasks/core/TaskJournal"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CallProgress from "./CallProgress.ts"
import { CurrentTask } from "./CurrentTask.ts"
import * as answers from "./internal/answers.ts"
import * as round from "./internal/round.ts"
import * as taskHandle from "./internal/taskHandle.ts"
import type { InvalidAnswer } from "./TaskEngineError.ts"
import { type Limits, TaskLimits } from "./TaskLimits.ts"
import type { RegisteredTool } from "./TaskTools.ts"

/**
 * What a call carries from one round to the next.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallState = Schema.Struct({
  ...TaskJournal.TaskJournal.fields,
  /** What was asked in the last round and has no answer yet. */
  outstanding: Schema.Array(Schema.Struct({ key: Schema.NonEmptyString, request: Task.InputRequest }))
})

/**
 * What a call carries from one round to the next.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallState extends Schema.Schema.Type<typeof CallState> {}

/**
 * The state of a call that comes for the first time.
 *
 * @category constants
 * @since 0.1.0
 */
export const initial: CallState = { ...TaskJournal.empty, outstanding: [] }

/**
 * A call, and what it brings from its earlier rounds.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallRoundOptions {
  readonly tool: RegisteredTool
  /** What this request declares: it decides what may be asked now. */
  readonly capabilities: Schema.JsonObject
  readonly state: CallState
  /** The client's `inputResponses`; keys that nobody asks for are ignored. */
  readonly responses: Schema.JsonObject
}

/**
 * How a round ended: with a value; with questions to be answered first, and the state to bring the answers with; or
 * because what ran interrupted itself.
 *
 * @category models
 * @since 0.1.0
 */
export type RoundEnd<A> =
  | { readonly _tag: "Ended"; readonly value: A }
  | {
    readonly _tag: "Asked"
    readonly questions: ReadonlyArray<{ readonly key: string; readonly request: InputRequest }>
    readonly state: CallState
  }
  | { readonly _tag: "Interrupted" }

/**
 * One round of a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallRound {
  /**
   * Runs something with a `CurrentTask` that asks in rounds. It is interrupted with whoever waits for it.
   *
   * **Details**
   *
   * An answer counts for the question as it is asked now: when the request has changed since the client saw it, it is
   * asked anew. Questions that are asked at the same time are put in one round.
   *
   * **Gotchas**
   *
   * A time limit around a question ends with the round, and begins anew with the next.
   */
  readonly run: <A>(
    effect: Effect.Effect<A>,
    options: {
      /** What a client would have to declare so that a question could be asked, where no new one may be. */
      readonly mute: Schema.JsonObject | undefined
    }
  ) => Effect.Effect<RoundEnd<A>, InvalidAnswer>
  /** What a task of this call begins with, now. */
  readonly journal: Effect.Effect<TaskJournal.TaskJournal>
}

/**
 * Begins a round, unless an answer does not fit its question: then nothing of it counts, and the client may bring the
 * same state with a better one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: CallRoundOptions): Effect.Effect<CallRound, InvalidAnswer> => {
  const given = answers.checkAll(options.state.outstanding, options.responses)
  return Result.isFailure(given)
    ? Effect.fail(given.failure)
    : Effect.map(TaskLimits, (limits) => begin(options, given.success, limits))
}

const begin = (
  { capabilities, responses, state, tool }: CallRoundOptions,
  given: ReadonlyArray<answers.Checked>,
  limits: Limits
): CallRound => {
  const answered = [...state.answers, ...given.map((answer) => ({ ...answer, state: "answered" as const }))]
  /** Made when something runs in it: most calls become tasks, which only need what was brought. */
  let made: round.Round | undefined
  const current = () =>
    made ??= new round.Round(round.begin(tool, capabilities, state.steps, limits), { answers: answered, responses })
  return {
    run: (effect, { mute }) =>
      Effect.suspend(() => {
        const now = current()
        now.mute = mute
        // Nobody can poll a call, so what it reports is its progress.
        const handle = { ...taskHandle.make(now, limits), report: CallProgress.report }
        return Effect.map(
          round.supervise(now, Effect.provideService(effect, CurrentTask, handle)),
          (ended): RoundEnd<Effect.Success<typeof effect>> =>
            ended._tag === "Asked"
              ? { _tag: "Asked", questions: now.outstanding, state: { ...now.journal, outstanding: now.outstanding } }
              : ended
        )
      }),
    journal: Effect.sync(() => made?.journal ?? { answers: answered, steps: state.steps })
  }
}
