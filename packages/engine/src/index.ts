/**
 * Effect services that run and store MCP tasks.
 *
 * @since 0.1.0
 */
export {}
