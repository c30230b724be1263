/**
 * Where the reports of a handler go that runs within a plain call.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * How far work is, in a unit of the handler's choice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Amount {
  readonly done: number
  /** How much there is to do, where it is known. */
  readonly total?: number | undefined
}

/**
 * Takes the reports of a plain call to its client, if the client wants them; takes them nowhere unless provided.
 *
 * **When to use**
 *
 * A transport's dispatcher provides it for a request that carries a `progressToken`. Handlers use
 * `CurrentTask.report`, which knows whether they run as a task.
 *
 * **Details**
 *
 * Never fails and never waits for the client.
 *
 * @category services
 * @since 0.1.0
 */
export const CallProgress: Context.Reference<(message: string, amount?: Amount) => Effect.Effect<void>> = Context
  .Reference<(message: string, amount?: Amount) => Effect.Effect<void>>(
    "@effect-mcp-tasks/engine/CallProgress",
    { defaultValue: () => () => Effect.void }
  )

/**
 * Reports from within a plain call.
 *
 * @category reporting
 * @since 0.2.0
 */
export const report = (message: string, amount?: Amount): Effect.Effect<void> =>
  Effect.flatMap(CallProgress, (progress) => progress(message, amount))
