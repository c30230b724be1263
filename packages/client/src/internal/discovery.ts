/**
 * What the server says of itself (`server/discover`), read leniently.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { ProtocolError, type RequestError } from "../TaskClientError.ts"
import type { ServerDescription } from "../TaskClient.ts"
import * as kept from "./kept.ts"
import type { Rpc } from "./rpc.ts"

/**
 * Asks the server about itself, once.
 *
 * @since 0.1.0
 */
export const make = (rpc: Rpc): Effect.Effect<kept.Kept<ServerDescription, RequestError>> =>
  kept.make(Effect.flatMap(rpc.repeated({ method: "server/discover", params: {}, isPreliminary: true }), (result) => {
    const description = describe(result)
    const isSpoken = description.supportedVersions.length === 0 ||
      description.supportedVersions.includes(McpProtocol.ProtocolVersion)
    return isSpoken
      ? Effect.succeed({ value: description, ttlMs: result["ttlMs"] })
      : Effect.fail(unspoken(description.supportedVersions))
  }))

const unspoken = (supported: ReadonlyArray<string>) =>
  new ProtocolError({
    method: "server/discover",
    error: WireError.unsupportedProtocolVersion(supported, McpProtocol.ProtocolVersion)
  })

const object = (value: Schema.Json | undefined): Schema.JsonObject => JsonRpc.isJsonObject(value) ? value : {}

const describe = (result: Schema.JsonObject): ServerDescription => {
  const { instructions, supportedVersions } = result
  const capabilities = object(result["capabilities"])
  // Some servers say it in the body, as earlier revisions had it.
  const info = object(object(result["_meta"])[McpProtocol.MetaKey.serverInfo] ?? result["serverInfo"])
  return {
    name: typeof info["name"] === "string" ? info["name"] : undefined,
    version: typeof info["version"] === "string" ? info["version"] : undefined,
    instructions: typeof instructions === "string" ? instructions : undefined,
    supportedVersions: Array.isArray(supportedVersions)
      ? supportedVersions.filter((version) => typeof version === "string")
      : [],
    capabilities,
    offersTasks: McpRequest.declaresExtension(capabilities, McpProtocol.TasksExtension)
  }
}
