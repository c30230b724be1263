/**
 * Runs a fixture as a real process, from source.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Runs `test/fixtures/<name>` to its end and answers with its exit code and everything it printed. */
export const runChild = (
  name: string,
  args: ReadonlyArray<string>,
  identity: { readonly uid?: number; readonly gid?: number } = {}
) =>
  Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
    const script = fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
    const child = spawn(process.execPath, ["--conditions=@effect-mcp-tasks/source", script, ...args], identity)
    let output = ""
    child.stdout.on("data", (chunk) => output += String(chunk))
    child.stderr.on("data", (chunk) => output += String(chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
    return Effect.sync(() => child.kill())
  })
