/**
 * The MCP task lifecycle as a pure state machine, its wire schemas, and request admission.
 *
 * @since 0.1.0
 */
export {}
