/** Where the tarballs go. What is in them, packing itself finds out. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const script = fileURLToPath(new URL("../pack.ts", import.meta.url))

describe("npm run pack", () => {
  it("takes an absolute directory as it is, and says at once when it cannot be made", () => {
    const directory = mkdtempSync(join(tmpdir(), "effect-mcp-tasks-pack-"))
    try {
      const file = join(directory, "file")
      writeFileSync(file, "")
      const { status, stderr } = spawnSync(process.execPath, [script, join(file, "out")], {
        encoding: "utf8",
        timeout: 120_000
      })
      assert.include(stderr, `mkdir '${file}`)
      assert.strictEqual(status, 1)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
