/**
 * How often one owner may call, so that one caller, or one loop gone wrong, does not take the server from the others.
 *
 * Guarantee: what one owner does never counts against another. A call beyond its rate is refused before anything is
 * done for it, and told when to come back; a poll beyond its rate is answered, only later.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"

/**
 * At most `limit` at once, and `limit` in each `window` on the whole: a bucket that refills evenly.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rate {
  readonly limit: number
  readonly window: Duration.Input
}

/**
 * The rates that a server enforces for each owner. What is not given is not limited.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rates {
  /** Of `tools/call` (MCP, "Tools": Security Considerations). */
  readonly calls?: Rate | undefined
  /** Of calls that become a task; each of them is one of the `calls` too. */
  readonly creates?: Rate | undefined
  /**
   * Of `tasks/get` (ext-tasks, "Task Polling").
   *
   * **Details**
   *
   * A poll too many is answered after a second, with what is so then: a client that polls in a loop is held to one poll
   * each second on each of its connections, and none learns of it by an error.
   */
  readonly polls?: Rate | undefined
}

/**
 * The rates that a server enforces; none, unless provided.
 *
 * **Details**
 *
 * They are counted in the `RateLimiterStore` of `effect/persistence/RateLimiter` that `Dispatcher.layer` is provided
 * with, such as one on Redis that all replicas share; where there is none, in this process. While such a store is away
 * nobody is limited, and the log says so.
 *
 * @category services
 * @since 0.1.0
 */
export const RateLimits: Context.Reference<Rates> = Context.Reference<Rates>("@effect-mcp-tasks/server/RateLimits", {
  defaultValue: () => ({})
})

/**
 * Sets the rates.
 *
 * **Example**
 *
 * ```ts
 * Dispatcher.layer({ name: "reports", version: "1.0.0" }).pipe(
 *   Layer.provide(RateLimits.layer({
 *     calls: { limit: 300, window: "1 minute" },
 *     creates: { limit: 20, window: "1 minute" },
 *     polls: { limit: 1_000, window: "10 seconds" }
 *   }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (rates: Rates): Layer.Layer<never> => Layer.succeed(RateLimits, rates)
