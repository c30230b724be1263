/**
 * What the client of the current call declared that it can do.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Schema from "effect/Schema"

/**
 * The `ClientCapabilities` that came with the call, as they came.
 *
 * **When to use**
 *
 * In a tool's handler, to choose what to do by what the client can do: plain call and task see the same, and a task
 * that is run again after a restart sees what its creating call declared.
 *
 * **Gotchas**
 *
 * It is the client's word, of any shape: read it with `Object.hasOwn`, and trust it with nothing. Nothing is declared
 * where there is no call.
 *
 * @category services
 * @since 0.1.0
 */
export const DeclaredCapabilities: Context.Reference<Schema.JsonObject> = Context.Reference<Schema.JsonObject>(
  "@effect-mcp-tasks/engine/DeclaredCapabilities",
  { defaultValue: () => ({}) }
)
