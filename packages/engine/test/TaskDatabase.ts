/** Task stores on database files that live as long as a test. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Names a database file that does not exist yet; its directory goes with the scope. */
export const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-tasks-store-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  ),
  (path) => join(path, "tasks.sqlite")
)

/** A store, and the client under it, on a file. */
export const open = (filename: string, store = TaskStore.layerSql) =>
  Layer.fresh(Layer.provideMerge(store, SqliteClient.layer({ filename, synchronous: "NORMAL" })))

/** A store, and the client under it, on a new file. */
export const layer = Layer.unwrap(Effect.map(file, (filename) => open(filename)))
