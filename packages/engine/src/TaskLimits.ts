/**
 * The bounds that keep one caller, one tool or one mistake from taking everything. Every one of them is checked
 * before anything is written.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"

/**
 * The limits that an engine enforces.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Tasks of one owner that have not ended. A call beyond is refused before a task exists. */
  readonly maxLiveTasks: number
  /** The longest life, counted from creation, that a task may have or be extended to. */
  readonly maxTtl: Duration.Duration
  /** Size of a result in UTF-16 code units of its JSON text. A larger one fails its task with -32603. */
  readonly maxResultLength: number
  /** Nesting of objects and arrays in results, steps and questions. Requests are bounded by admission, at 128. */
  readonly maxJsonDepth: number
  /** Distinct input keys that one task may issue in its life. */
  readonly maxQuestions: number
  /** Named steps that one task may record. */
  readonly maxSteps: number
  /** Length of the JSON text of one recorded step or one question, in UTF-16 code units. */
  readonly maxEntryLength: number
  /**
   * Length of the JSON text of all steps, questions and answers of one task together, in UTF-16 code units. The answers
   * may have half of it; a client is refused one beyond.
   */
  readonly maxJournalLength: number
  /** Length of a status message, in UTF-16 code units; a longer one is cut. */
  readonly maxMessageLength: number
  /** `subscriptions/listen` requests of one owner that one process serves at a time. */
  readonly maxListeners: number
  /** Tasks that one `subscriptions/listen` request may name. */
  readonly maxListenedTasks: number
  /** How long one `subscriptions/listen` request is served; then it ends in good order and is made again. */
  readonly maxListenTime: Duration.Duration
}

/**
 * The limits where nothing else is said.
 *
 * @category constructors
 * @since 0.1.0
 */
export const defaults: Limits = {
  maxLiveTasks: 1_000,
  maxTtl: Duration.days(30),
  maxResultLength: 8 * 1024 * 1024,
  maxJsonDepth: 64,
  maxQuestions: 100,
  maxSteps: 1_000,
  maxEntryLength: 256 * 1024,
  maxJournalLength: 2 * 1024 * 1024,
  maxMessageLength: 1_000,
  maxListeners: 100,
  maxListenedTasks: 1_000,
  maxListenTime: Duration.hours(1)
}

/**
 * The limits that an engine enforces; `defaults` unless provided.
 *
 * @category services
 * @since 0.1.0
 */
export const TaskLimits: Context.Reference<Limits> = Context.Reference<Limits>("@effect-mcp-tasks/engine/TaskLimits", {
  defaultValue: () => defaults
})

/**
 * Changes some of the limits.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (limits: Partial<Limits>): Layer.Layer<never> =>
  Layer.succeed(TaskLimits, { ...defaults, ...limits })
