/**
 * Whether this process can do its work: every background loop turns, and the storage behind them answers.
 *
 * The loops report here by themselves. Nothing is asked of the storage for a health check, so that a thousand checks
 * cost what one costs. `layer` is one value, which everything that has loops provides to itself: within one program
 * all of them share it, and whoever is given `layer` too sees all of them.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as healthBoard from "./internal/healthBoard.ts"

/**
 * How one background loop is doing.
 *
 * **Details**
 *
 * `turning`: its last round ended well, in time. `failing`: a round failed, and none has ended well since; it tries on.
 * `stuck`: its round has taken longer than a round may.
 *
 * @category models
 * @since 0.2.0
 */
export type LoopState = "turning" | "failing" | "stuck"

/**
 * Whether this process should get requests, with the state of each loop for an operator.
 *
 * @category models
 * @since 0.2.0
 */
export interface Readiness {
  readonly isReady: boolean
  /** Whether the process is going away: what runs is brought to its end, and nothing new is begun. */
  readonly isStopping: boolean
  readonly loops: Readonly<Record<string, LoopState>>
}

/**
 * Whether this process can do its work.
 *
 * @category services
 * @since 0.2.0
 */
export class Health extends Context.Service<Health, {
  /** Whether the process runs at all. */
  readonly live: Effect.Effect<boolean>
  /** False while the process starts or stops, and while any loop does not turn, as when storage is unreachable. */
  readonly ready: Effect.Effect<Readiness>
  /** Where loops report. */
  readonly board: healthBoard.HealthBoard
}>()("@effect-mcp-tasks/engine/Health") {}

/**
 * Takes the reports of the loops that are built with it.
 *
 * @category layers
 * @since 0.2.0
 */
export const layer: Layer.Layer<Health> = Layer.effect(
  Health,
  Effect.map(healthBoard.make, (board) => ({ live: Effect.succeed(true), ready: board.readiness, board }))
)
