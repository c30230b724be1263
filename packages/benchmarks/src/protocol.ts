/**
 * The constants of the wire that the load driver and the measured servers share (revision 2026-07-28).
 *
 * @since 0.1.0
 */

/** Is the protocol revision that every request names. */
export const protocolVersion = "2026-07-28"

/** Is the identifier of the tasks extension in capability maps. */
export const tasksExtension = "io.modelcontextprotocol/tasks"

/** Is the `_meta` that every request carries: the declared capabilities include tasks and elicitation. */
export const requestMeta = {
  "io.modelcontextprotocol/protocolVersion": protocolVersion,
  "io.modelcontextprotocol/clientInfo": { name: "benchmark", version: "0.1.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, extensions: { [tasksExtension]: {} } }
} as const

/** Is how long a measured server keeps a task, in milliseconds: longer than any run. */
export const ttlMs = 3_600_000

/** Is the poll interval that a measured server suggests, in milliseconds; the driver does not wait for it. */
export const pollIntervalMs = 1000
