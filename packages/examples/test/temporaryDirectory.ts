/**
 * A place for the files of one test.
 */
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Makes an empty directory and removes it with the scope. */
export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-tasks-examples-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)
