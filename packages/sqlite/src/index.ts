/**
 * An Effect `SqlClient` over `node:sqlite`.
 *
 * @since 0.1.0
 */
export {}
