/**
 * Database files that live as long as a test.
 */
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { Context, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Makes an empty directory and removes it with the scope. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-tasks-sqlite-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Names a database file that does not exist yet. */
export const file = Effect.map(directory, (path) => join(path, "test.sqlite"))

/** Opens a client on a new file, or on `config.filename`, for the life of the scope. */
export const client = (config: Partial<SqliteClient.SqliteClientConfig> = {}) =>
  Effect.gen(function*() {
    const filename = config.filename ?? (yield* file)
    const context = yield* Layer.build(Layer.fresh(SqliteClient.layer({ ...config, filename })))
    return Context.get(context, SqliteClient.SqliteClient)
  })
