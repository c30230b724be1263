/**
 * A request that a simulated server serves.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"

/**
 * A request that a simulated server serves, and what became of it.
 *
 * @since 0.2.0
 */
export interface Served {
  /** When it arrived, in milliseconds of the world. */
  readonly sinceMs: number
  /** The task that was made for it. */
  taskId: string | undefined
}

/**
 * The request that a fiber of a server works for.
 *
 * @since 0.2.0
 */
export const CurrentRequest: Context.Reference<Served | undefined> = Context.Reference<Served | undefined>(
  "@effect-mcp-tasks/simulation/CurrentRequest",
  { defaultValue: () => undefined }
)
