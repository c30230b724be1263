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
 * The member is ready-made text and stands first, so that a result is neither parsed nor serialised for it. Only what a
 * tool says of its result, which stands first too, is merged with it; who answers is the server's to say.
 *
 * **Gotchas**
 *
 * Takes the JSON text of an object that is not empty and has no `_meta` of its own but as its first member.
 *
 * @since 0.1.0
 */
export const make = ({ instructions: _, ...serverInfo }: ServerInfo): Identified => {
  const identity = { [McpProtocol.MetaKey.serverInfo]: serverInfo }
  const member = `"_meta":${JSON.stringify(identity)}`
  return (result, more) => {
    if (result.startsWith(ofTool)) {
      const { _meta, ...rest } = JSON.parse(result)
      return JSON.stringify({ _meta: { ..._meta, ...identity, ...more }, ...rest })
    }
    return `{${more === undefined ? member : `"_meta":${JSON.stringify({ ...identity, ...more })}`},${result.slice(1)}`
  }
}

const ofTool = `{"_meta":`
