/**
 * The names the protocol gives to its revision, its tasks extension and its `_meta` keys.
 *
 * Guarantee: each name is spelled once, exactly as the specification spells it, so no other module repeats a literal.
 *
 * @since 0.1.0
 */

/**
 * The protocol revision this package implements.
 *
 * @since 0.1.0
 */
export const ProtocolVersion = "2026-07-28"

/**
 * The identifier of the tasks extension under `capabilities.extensions`.
 *
 * Source: ext-tasks, Capability Negotiation.
 *
 * @since 0.1.0
 */
export const TasksExtension = "io.modelcontextprotocol/tasks"

/**
 * The reserved `_meta` keys of a request, a result and a subscription notification.
 *
 * Source: basic/index, Reserved keys. `traceparent` is the one key without the protocol's prefix besides
 * `progressToken`.
 *
 * @since 0.1.0
 */
export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  progressToken: "progressToken",
  traceparent: "traceparent"
} as const
