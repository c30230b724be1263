/**
 * Which server answered: said in the `_meta` of every result (MCP, "General fields": `_meta`).
 *
 * @since 0.1.0
 */
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import type { ServerInfo } from "../Dispatcher.ts"

/** Says it in a result, beside what else its `_meta` shall say. */
type Identified = (result: string, more?: object) => string

/**
 * Makes the function that says it.
 *
 * **Details**
 *
 * The member is ready-made text and stands first, so that a result is neither parsed nor serialised for it.
 *
 * **Gotchas**
 *
 * Takes the JSON text of an object that is not empty and has no `_meta` of its own, as all of our results are.
 *
 * @since 0.1.0
 */
export const make = ({ instructions: _, ...serverInfo }: ServerInfo): Identified => {
  const identity = { [McpProtocol.MetaKey.serverInfo]: serverInfo }
  const member = `"_meta":${JSON.stringify(identity)}`
  return (result, more) =>
    `{${more === undefined ? member : `"_meta":${JSON.stringify({ ...identity, ...more })}`},${result.slice(1)}`
}
