/**
 * What has happened to a task, in the past tense. Events are facts: `TaskMachine.evolve` applies each without asking.
 *
 * `at` is the instant in epoch milliseconds that the fact is dated with: never before the task's `lastUpdatedAt`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { InputRequest, Instant, Millis, TaskError } from "./Task.ts"

const at = { at: Instant }
const ended = { at: Instant, ttlMs: Schema.NullOr(Millis) }

/**
 * A worker took the task under a new attempt number.
 *
 * @category models
 * @since 0.1.0
 */
export const Started = Schema.TaggedStruct("Started", {
  ...at,
  attempt: Schema.Natural,
  worker: Schema.optionalKey(Schema.NonEmptyString)
})

/**
 * The running attempt died without handing the task back.
 *
 * @category models
 * @since 0.1.0
 */
export const AttemptLost = Schema.TaggedStruct("AttemptLost", at)

/**
 * The running attempt was handed back in good order.
 *
 * @category models
 * @since 0.1.0
 */
export const Released = Schema.TaggedStruct("Released", at)

/**
 * The handler said how far it is.
 *
 * @category models
 * @since 0.1.0
 */
export const Reported = Schema.TaggedStruct("Reported", { ...at, message: Schema.String })

/**
 * The handler asked the client.
 *
 * @category models
 * @since 0.1.0
 */
export const InputRequested = Schema.TaggedStruct("InputRequested", {
  ...at,
  key: Schema.NonEmptyString,
  request: InputRequest
})

/**
 * The handler, run again since an attempt was lost, waits once more for the answer to a question that is still open.
 *
 * @category models
 * @since 0.2.0
 */
export const InputAwaited = Schema.TaggedStruct("InputAwaited", { ...at, key: Schema.NonEmptyString })

/**
 * The handler gave up a question.
 *
 * @category models
 * @since 0.1.0
 */
export const InputWithdrawn = Schema.TaggedStruct("InputWithdrawn", { ...at, key: Schema.NonEmptyString })

/**
 * The client answered one or more outstanding questions.
 *
 * @category models
 * @since 0.1.0
 */
export const InputAnswered = Schema.TaggedStruct("InputAnswered", {
  ...at,
  responses: Schema.NonEmptyArray(Schema.Struct({ key: Schema.NonEmptyString, response: Schema.Json }))
})

/**
 * The result of a named step was remembered.
 *
 * @category models
 * @since 0.1.0
 */
export const StepRecorded = Schema.TaggedStruct("StepRecorded", {
  ...at,
  name: Schema.NonEmptyString,
  value: Schema.Json
})

/**
 * The task was given a longer life.
 *
 * @category models
 * @since 0.1.0
 */
export const Extended = Schema.TaggedStruct("Extended", { ...at, ttlMs: Millis })

/**
 * The client asked a running task to stop.
 *
 * @category models
 * @since 0.1.0
 */
export const CancelRequested = Schema.TaggedStruct("CancelRequested", at)

/**
 * The task ended with a result.
 *
 * @category models
 * @since 0.1.0
 */
export const Completed = Schema.TaggedStruct("Completed", {
  ...ended,
  result: Schema.String,
  isError: Schema.Boolean
})

/**
 * The task ended with a JSON-RPC error.
 *
 * @category models
 * @since 0.1.0
 */
export const Failed = Schema.TaggedStruct("Failed", { ...ended, error: TaskError })

/**
 * The task ended as its client wished.
 *
 * @category models
 * @since 0.1.0
 */
export const Cancelled = Schema.TaggedStruct("Cancelled", ended)

/**
 * What has happened to a task.
 *
 * @category models
 * @since 0.1.0
 */
export const TaskEvent = Schema.Union([
  Started,
  AttemptLost,
  Released,
  Reported,
  InputRequested,
  InputAwaited,
  InputWithdrawn,
  InputAnswered,
  StepRecorded,
  Extended,
  CancelRequested,
  Completed,
  Failed,
  Cancelled
])

/**
 * What has happened to a task.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskEvent = typeof TaskEvent.Type
