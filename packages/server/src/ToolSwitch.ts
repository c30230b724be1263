/**
 * Tools that are offered at some times and not at others.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"

/**
 * Tools that are offered at some times and not at others.
 *
 * **When to use**
 *
 * Provide its layer to `Dispatcher.layer` for a server whose list of tools changes while it runs: with a licence, with
 * what stands behind a tool. The server then says that it announces changes, and does to whoever listens
 * (MCP, "Tools": list changed notification). Without it the list is fixed.
 *
 * **Details**
 *
 * A tool that is off is not listed, and a call of it names no tool. Tasks that exist go on.
 *
 * **Gotchas**
 *
 * Of one process: with replicas, each turns its own switch. The list is the same for all clients, as it must be.
 *
 * @category services
 * @since 0.1.0
 */
export class ToolSwitch extends Context.Service<ToolSwitch, {
  /** Offers a tool or stops offering it. A tool that is as wanted already is no change. */
  readonly turn: (tool: string, state: "on" | "off") => Effect.Effect<void>
  readonly isOn: (tool: string) => boolean
  /** Hears that the list has changed; of changes that nobody has heard of yet, once. */
  readonly changes: Effect.Effect<PubSub.Subscription<void>, never, Scope.Scope>
}>()("@effect-mcp-tasks/server/ToolSwitch") {}

/**
 * Begins with every tool on.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ToolSwitch> = Layer.effect(
  ToolSwitch,
  Effect.gen(function*() {
    const off = new Set<string>()
    const hub = yield* Effect.acquireRelease(PubSub.sliding<void>(1), PubSub.shutdown)
    return ToolSwitch.of({
      isOn: (tool) => !off.has(tool),
      changes: PubSub.subscribe(hub),
      turn: (tool, state) =>
        Effect.suspend(() => {
          if (off.has(tool) === (state === "off")) return Effect.void
          if (state === "off") off.add(tool)
          else off.delete(tool)
          return Effect.asVoid(PubSub.publish(hub, undefined))
        })
    })
  })
)
