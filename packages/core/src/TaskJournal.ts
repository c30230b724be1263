/**
 * What a task begins with: the answers and steps that its call has gathered before the task existed.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { InputRequest, Step } from "./Task.ts"

/**
 * A question with its answer, as a task keeps it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Answered = Schema.Struct({
  key: Schema.NonEmptyString,
  request: InputRequest,
  state: Schema.Literal("answered"),
  response: Schema.Json
})

/**
 * A question with its answer, as a task keeps it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answered extends Schema.Schema.Type<typeof Answered> {}

/**
 * Answers and steps (`TaskMachine`, invariant 7): whoever runs the handler reads them instead of asking or doing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskJournal = Schema.Struct({ answers: Schema.Array(Answered), steps: Schema.Array(Step) })

/**
 * Answers and steps: whoever runs the handler reads them instead of asking or doing.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskJournal extends Schema.Schema.Type<typeof TaskJournal> {}

/**
 * The journal of a call that has asked and done nothing yet.
 *
 * @category constants
 * @since 0.1.0
 */
export const empty: TaskJournal = { answers: [], steps: [] }
