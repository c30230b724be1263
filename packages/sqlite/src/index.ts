/**
 * An Effect `SqlClient` over Node's built-in SQLite: durable by default, and every failure a typed `SqlError`.
 *
 * @since 0.1.0
 */

/**
 * Opens one SQLite file as `SqlClient` and `SqliteClient`.
 *
 * @since 0.1.0
 */
export * as SqliteClient from "./SqliteClient.ts"
