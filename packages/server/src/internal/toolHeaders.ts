/**
 * Which arguments of which tool are mirrored in `Mcp-Param-*` headers, worked out once.
 *
 * @since 0.1.0
 */
import * as McpHeader from "@effect-mcp-tasks/core/McpHeader"
import type { TaskTools } from "@effect-mcp-tasks/engine/TaskTools"
import * as Result from "effect/Result"

/**
 * Makes the look-up over the tools of a server. A tool with invalid annotations was refused when it was registered.
 *
 * @since 0.1.0
 */
export const of = (tools: TaskTools["Service"]): (tool: string) => ReadonlyArray<McpHeader.ParamHeader> => {
  const headers = new Map(tools.all.map(({ definition, name }) => [
    name,
    Result.getOrElse(McpHeader.paramHeaders(definition["inputSchema"] ?? {}), () => [])
  ]))
  return (tool) => headers.get(tool) ?? []
}
